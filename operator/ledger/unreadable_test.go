package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/ledger"
)

// A record of which a part cannot be decoded is no record without that part, nor is it none. What can be decoded still
// keeps its application from another Mandate.
func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	spec := specFor(reference)
	spec.ApplicationID = ptr.To[int64](4711)
	_, err := f.Claim(t.Context(), f.key("acme"), spec)
	f.check(err)
	f.check(env.EditStored(t.Context(), v1alpha1.SchemeGroupVersion.Group+"/applicationrecords", f.namespace, "acme",
		func(record map[string]any) {
			calls := record["spec"].(map[string]any)["calls"].([]any)
			calls[0].(map[string]any)["startedTime"] = "canary"
		}))
	if record, err := f.Get(t.Context(), f.key("acme")); !apierror.IsUnreadable(err) || record != nil {
		t.Errorf("reading the record: %+v, %v, want only an error that says that it cannot be decoded", record, err)
	}
	if other, err := f.HeldByOther(t.Context(), f.key("globex"), spec); err != nil || !other {
		t.Errorf("another Mandate may have its application: %t, %v", !other, err)
	}
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found := make(chan map[types.NamespacedName][]string)
	f.Namespaces = []string{f.namespace}
	sweep := &ledger.Retention{
		Ledger: f.Ledger, Mandates: f.client, Keep: time.Millisecond, Clock: time.Now,
		Unreadable: func(unreadable map[types.NamespacedName][]string) {
			select {
			case found <- unreadable:
			case <-ctx.Done():
			}
		},
	}
	sweeping.Go(func() { _ = sweep.Start(ctx) })
	for range 3 { // of a record without a Mandate, the second deletes it
		if diff := cmp.Diff(map[types.NamespacedName][]string{f.key("acme"): {"spec.calls"}}, <-found); diff != "" {
			t.Errorf("unreadable records (-want +got):\n%s", diff)
		}
	}
	f.check(f.client.Get(t.Context(), f.key("acme"), &v1alpha1.ApplicationRecord{}))
}
