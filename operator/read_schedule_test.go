package operator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/connection"
)

// rarelyPolled is a world with a Mandate that was read, and is not read again during the test unless it has to be.
func rarelyPolled(t *testing.T) (*world, *manualReconciler) {
	t.Helper()
	w := connected(t)
	r := w.newManualReconciler()
	r.minPoll, r.maxPoll = 10*time.Minute, time.Hour
	r.connect()
	w.mandate("acme", "{}")
	r.reconcile("acme")
	w.ready("acme")
	return w, r
}

// What reconciles every Mandate of a connection reads none of their applications before it is due.
func TestReconciliationsReadOnlyWhatIsDue(t *testing.T) {
	t.Parallel()
	w, r := rarelyPolled(t)
	read := w.requests(control.RetrieveApplication)
	for _, event := range []struct {
		what string
		do   func()
	}{
		{"nothing", func() {}},
		{"the end of an outage", func() {
			r.connectAs(func(c *connection.Connection) { c.Ready = false })
			r.reconcile("acme")
			r.connect()
		}},
		{"an edit of the IdentityService", func() {
			w.patchService("{requestsPerSecond: 50}")
			r.connect()
		}},
		{"mandate types in another order", func() {
			r.connectAs(func(c *connection.Connection) { slices.Reverse(c.References.MandateTypes) })
		}},
		{"a restart", func() { r.setSettleDelay(r.SettleDelay) }},
	} {
		event.do()
		result := r.reconcile("acme")
		if n := w.requests(control.RetrieveApplication); n != read {
			t.Errorf("after %s, the application was read", event.what)
			read = n
		}
		if result.RequeueAfter <= 0 || result.RequeueAfter > r.maxPoll {
			t.Errorf("after %s, the Mandate is reconciled again in %s", event.what, result.RequeueAfter)
		}
	}
}

// A request to reconcile reads the application at once. Only a person's request costs a write of its own.
func TestReconcileRequestsAreHandled(t *testing.T) {
	t.Parallel()
	w, r := rarelyPolled(t)
	m := w.ready("acme")
	long := strings.Repeat("é", 300)
	for _, request := range []struct {
		value  string
		before func()
		writes int
		shown  string
	}{
		{value: "2026-06-01T12:00:00Z", writes: 1, shown: "2026-06-01T12:00:00Z"},
		{value: "notification/1", shown: "2026-06-01T12:00:00Z"},
		{value: "notification/2", before: func() { w.play(m, control.ResultReview) }, writes: 1, shown: "notification/2"},
		{value: long, writes: 1, shown: long[:512]},
	} {
		if request.before != nil {
			request.before()
		}
		w.request("mandate/acme", request.value)
		reads, writes := w.requests(control.RetrieveApplication), 0
		r.before = func(made string) {
			if made == "patch status of Mandate" {
				writes++
			}
		}
		for range 2 { // the second time, nothing is left to do
			r.reconcile("acme")
		}
		if n := w.requests(control.RetrieveApplication) - reads; n != 1 || writes != request.writes {
			t.Errorf("%.30q: %d reads and %d writes, want 1 and %d", request.value, n, writes, request.writes)
		}
		if shown := w.get("acme").Status.LastHandledReconcileAt; shown != request.shown {
			t.Errorf("%.30q: the status has %.30q, want %.30q", request.value, shown, request.shown)
		}
	}
}

// request asks for a reconciliation, as a person with kubectl does.
func (w *world) request(object, value string) {
	w.Helper()
	w.kubectl("annotate", "--overwrite", object, v1alpha1.ReconcileRequestAnnotation+"="+value)
}

// The operator notices a request to reconcile a Mandate or its IdentityService.
func TestReconcileRequests(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.patchService("{polling: {minIntervalSeconds: 600, maxIntervalSeconds: 3600}}")
	w.mandate("acme", "{}")
	w.ready("acme")
	w.kubectl("annotate", "mandate/acme", "example.com/note=1") // that is none
	reads, probes := w.requests(control.RetrieveApplication), w.requests(control.References)
	w.request("mandate/acme", "now")
	w.until("acme", "reconciled as requested", func(m *v1alpha1.Mandate) bool {
		return m.Status.LastHandledReconcileAt == "now"
	})
	w.request("identityservice/default", "now")
	w.eventually(func() (bool, string) {
		service := &v1alpha1.IdentityService{}
		w.check(w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, service))
		return service.Status.LastHandledReconcileAt == "now", "the IdentityService is not probed as requested"
	})
	if n := w.requests(control.RetrieveApplication) - reads; n != 1 {
		t.Errorf("the application was read %d times, want once", n)
	}
	if n := w.requests(control.References) - probes; n != 1 {
		t.Errorf("the service was probed %d times, want once", n)
	}
}
