package mandate

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/explore"
)

// A subscription starts with the first try to record the id. The answer to that one may have been lost, and another
// operator have started a subscription since.
func TestFirstSubscription(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*reconciliation)
		want   bool
	}{
		"the first try":         {func(*reconciliation) {}, true},
		"another try":           {func(r *reconciliation) { r.facts.attempt.unrecorded = true }, false},
		"the Mandate goes":      {func(r *reconciliation) { r.facts.deletion.requested = true }, false},
		"somebody else does it": {func(r *reconciliation) { r.session.Connection.Subscriptions = nil }, false},
	} {
		r := &reconciliation{Reconciler: &Reconciler{clock: explore.Clock{Time: now}}, mandate: &v1alpha1.Mandate{}}
		r.session.Connection.Subscriptions = &connection.Subscriptions{}
		test.change(r)
		if got := r.firstSubscription(); (got != nil) != test.want {
			t.Errorf("%s: a subscription starts: %+v", name, got)
		}
	}
}

// A service may mask URLs, in whatever way.
func TestSameHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"https://hooks.example.com/notifications/team/default/****": true,
		"https://HOOKS.example.com:443/****":                        true,
		"https://hooks.example.com":                                 true,
		"****":                                                      true,
		"":                                                          true,
		"https://other.example.com/notifications/team/default/****": false,
	} {
		if got := sameHost(text, receiverURL); got != want {
			t.Errorf("%q may be ours: %t, want %t", text, got, want)
		}
	}
}
