package mandate

import (
	"slices"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// An account is confirmed by the application that its record names, and by no other one: an application that a person
// adopts may be another account's, whatever reference it has.
func TestProvesAccount(t *testing.T) {
	t.Parallel()
	key := connection.Key{Name: "default"}
	record := func(id int64) *v1alpha1.ApplicationRecord {
		r := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Account: "before"}}
		if id != 0 {
			r.Spec.ApplicationID = &id
		}
		return r
	}
	for name, c := range map[string]struct {
		record *v1alpha1.ApplicationRecord
		change func(*facts)
		want   []v1alpha1.SameAccount
	}{
		"the application of the record": {
			record: record(7), want: []v1alpha1.SameAccount{{Account: "before", SameAs: "now"}},
		},
		"it does not show that it is the same": {
			record: record(7), change: func(f *facts) { f.application.sameAccount = false },
		},
		"a lost create, and an application that a person adopts": {
			record: record(0), change: func(f *facts) { f.id = 0 },
		},
		"another application than the record's": {record: record(8)},
		"no record, and one that is adopted":    {change: func(f *facts) { f.service.Account = connection.AccountSought }},
		"no record was read, and the account is known": {
			change: func(f *facts) { f.observe.ownAccount, f.service.Account = true, connection.AccountSought },
			want:   []v1alpha1.SameAccount{{Account: "now", SameAs: "now"}},
		},
		"nobody asks": {change: func(f *facts) { f.observe.ownAccount = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewReconciler(Config{})
			r.config.Services.Connections = connection.NewRegistry(0)
			p := connected(r, scope{record: c.record}, nil)
			p.session.Key, p.session.Connection.Account = key, "now"
			p.facts.id, p.facts.application.sameAccount = 7, true
			if c.record != nil {
				p.facts.record.account = accountOther
				if id := c.record.Spec.ApplicationID; id != nil {
					p.facts.record.id = *id
				}
			}
			if c.change != nil {
				c.change(&p.facts)
			}
			p.observer.provesAccount()
			if got := r.config.Services.Connections.Proofs(key); !slices.Equal(got, c.want) {
				t.Errorf("the proofs are %v, want %v", got, c.want)
			}
		})
	}
}

// connected is a reconciliation whose sub-reconcilers have what they work with.
func connected(of *Reconciler, shared scope, service ServiceClient) *reconciliation {
	r := &reconciliation{Reconciler: of, scope: shared}
	r.connect(service)
	return r
}
