package mandate

import (
	"context"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A service whose answers change all the time does not make the operator write all the time: the API server and the
// ledger are those of all namespaces. What people ask for, and other namespaces, are not delayed.
func TestPollsYieldToOtherNamespaces(t *testing.T) {
	t.Parallel()
	writer := &countingWriter{}
	owner := &Reconciler{config: Config{Status: writer}}
	poll := func(change func(*v1alpha1.Mandate)) *reconciliation {
		r := idleReconciliation("uid", now, change)
		r.Reconciler = owner
		r.facts.id = 1
		return r
	}
	delayed := func(change func(*v1alpha1.Mandate)) time.Duration {
		r := poll(change)
		r.yieldToOtherNamespaces()
		if r.facts.observe.readAt.IsZero() {
			return 0
		}
		return r.facts.observe.readAt.Sub(now)
	}
	requests := 0
	requested := func(m *v1alpha1.Mandate) {
		requests++ // each is another one
		m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: strconv.Itoa(requests)}
	}
	write := func(change func(*v1alpha1.Mandate), times int) {
		for range times {
			r := poll(change)
			r.mandate.ResourceVersion = "1"
			if err := r.writeStatus(t.Context(), v1alpha1.ReasonAccepted, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(requested, 1000)
	if d := delayed(nil); d != 0 {
		t.Errorf("what people asked for delays a poll by %v", d)
	}
	write(nil, 1000)
	if writer.writes != 2000 {
		t.Fatalf("%d of 2000 statuses were written", writer.writes)
	}
	if d := delayed(nil); d < 10*time.Second || d > time.Minute {
		t.Errorf("after a thousand writes of polls, the next one waits for %v", d)
	}
	if d := delayed(requested); d != 0 {
		t.Errorf("a person's request waits for %v", d)
	}
	if d := delayed(func(m *v1alpha1.Mandate) { m.Namespace = otherNamespace }); d != 0 {
		t.Errorf("a poll in another namespace waits for %v", d)
	}
}

// countingWriter takes every status.
type countingWriter struct {
	client.SubResourceWriter
	writes int
}

func (w *countingWriter) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	w.writes++
	return nil
}
