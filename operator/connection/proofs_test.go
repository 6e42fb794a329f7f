package connection

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The controller of services hears of each proof once.
func TestProve(t *testing.T) {
	t.Parallel()
	r, key := NewRegistry(0), Key{Name: "default"}
	told := 0
	r.ServiceChanged = func(Key) { told++ }
	for range 3 {
		r.Prove(key, "before", "now")
	}
	r.Prove(Key{Name: "other"}, "x", "y")
	want := []v1alpha1.SameAccount{{Account: "before", SameAs: "now"}}
	if got := r.Proofs(key); told != 2 || !slices.Equal(got, want) {
		t.Errorf("told %d times of %v", told, got)
	}
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	r.Remove(nobodyListens, Key{Name: "other"})
	if got := r.Proofs(key); !slices.Equal(got, want) {
		t.Errorf("after another connection was removed: %v", got)
	}
	r.Remove(nobodyListens, key)
	if len(r.Proofs(key)) != 0 {
		t.Error("the proofs of a connection that was removed are kept")
	}
}

// Proofs hold in both directions, and one after the other.
func TestSameAccounts(t *testing.T) {
	t.Parallel()
	proofs := []v1alpha1.SameAccount{
		{Account: "a", SameAs: "b"}, {Account: "c", SameAs: "b"}, {Account: "x", SameAs: "y"}, {Account: "d", SameAs: "c"},
	}
	for account, want := range map[Account][]Account{
		"a": {"a", "b", "c", "d"}, "d": {"a", "b", "c", "d"}, "y": {"x", "y"}, "z": {"z"},
	} {
		got := SameAccounts(account, proofs)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is the same as %v, want %v", account, got, want)
		}
	}
}

// The status holds the newest.
func TestWithProofs(t *testing.T) {
	t.Parallel()
	var proofs []v1alpha1.SameAccount
	for i := range maxProofs + 5 {
		proof := []v1alpha1.SameAccount{{Account: fmt.Sprint(i), SameAs: "now"}}
		proofs = WithProofs(WithProofs(proofs, proof), proof)
	}
	if len(proofs) != maxProofs || proofs[0].Account != "5" || proofs[maxProofs-1].Account != "24" {
		t.Errorf("%d proofs: %v", len(proofs), proofs)
	}
}

// Whom a record is about.
func TestIsOther(t *testing.T) {
	t.Parallel()
	record := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Account: "created"}}
	for name, c := range map[string]struct {
		connection       Connection
		other, otherName bool
	}{
		"the same":              {Connection{Account: "created"}, false, false},
		"another one":           {Connection{Account: "now"}, true, true},
		"confirmed to be same":  {Connection{Account: "now", SameAccounts: []Account{"now", "created"}}, false, true},
		"confirmed for another": {Connection{Account: "now", SameAccounts: []Account{"now", "x"}}, true, true},
		"vouched for":           {Connection{Account: "now", Vouched: true}, false, true},
		"not known":             {Connection{}, false, false},
	} {
		if other, byName := c.connection.IsOther(record), c.connection.HasOtherName(record); other != c.other ||
			byName != c.otherName {
			t.Errorf("%s: other %t, by name %t", name, other, byName)
		}
	}
}
