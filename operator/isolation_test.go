package operator_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A broken service delays its own Mandates only, and soon receives no more creates: of twenty Mandates, few send a
// request that is never answered.
func TestBrokenServiceDelaysNoOther(t *testing.T) {
	t.Parallel()
	cases := map[string]control.Fault{
		"it does not answer":    {Kind: control.Slow, DelayMillis: time.Hour.Milliseconds()},
		"it closes connections": {Kind: control.Close},
	}
	const mandates, workers = 20, 2
	for name, fault := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, broken := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
			w.connect()
			w.newService("broken", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100", broken.url))
			w.start(fmt.Sprintf("--max-concurrent-reconciles=%d", workers), "--settle-delay=10m")
			w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
			w.serviceIs("broken", metav1.ConditionTrue, v1alpha1.ReasonConnected)

			fault.Operation, fault.Times = control.AnyOperation, control.Always
			broken.fault(fault)
			for i := range mandates {
				w.mandate(fmt.Sprintf("stuck-%d", i), "{serviceRef: {name: broken}}")
			}
			w.eventually(func() (bool, string) {
				n := broken.requests(control.CreateApplication)
				return n >= workers, fmt.Sprintf("%d requests to the broken service", n)
			})
			w.mandate("acme", "{}")
			w.ready("acme")
			if got := broken.requests(control.CreateApplication); fault.Kind == control.Slow && got != workers {
				t.Errorf("the broken service had %d create requests, want %d: the other Mandate had to wait for them", got, workers)
			}

			w.serviceIs("broken", metav1.ConditionFalse, "")
			// Two at once, and then one at a time until the circuit breaker opens.
			if got := broken.requests(control.CreateApplication); got > workers+3 {
				t.Errorf("%d create requests were sent to a broken service", got)
			}
			before := broken.allRequests()
			w.mandate("globex", "{}")
			w.ready("globex")
			watched := w.sleep(5 * time.Second)
			if got := broken.allRequests() - before; float64(got) > 8*watched.Seconds()/5 {
				t.Errorf("with an open circuit breaker, the service had %d requests in %s", got, watched)
			}

			broken.check(broken.sandbox.ClearFaults(t.Context()))
			w.serviceIs("broken", metav1.ConditionTrue, v1alpha1.ReasonConnected)
			w.eventually(func() (bool, string) {
				n := w.count(func(m *v1alpha1.Mandate) bool {
					return m.Spec.ServiceRef.Name == "broken" &&
						meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady)
				})
				return n >= mandates-workers-3, fmt.Sprintf("%d Mandates of the repaired service are Ready", n)
			})
			w.emails(2)
		})
	}
}

// The operator honors Retry-After. The Mandates of that service wait without delaying others, and continue when it is
// over.
func TestBusyServiceDelaysNoOther(t *testing.T) {
	t.Parallel()
	const mandates, workers = 20, 2
	w, busy := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
	w.connect()
	w.newService("busy", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100", busy.url))
	w.start(fmt.Sprintf("--max-concurrent-reconciles=%d", workers))
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.serviceIs("busy", metav1.ConditionTrue, v1alpha1.ReasonConnected)
	busy.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Answer, Status: 429, RetryAfter: "15"})
	earliest := time.Now().Add(15 * time.Second)
	w.mandate("first", "{serviceRef: {name: busy}}")
	w.eventually(func() (bool, string) { return busy.requests(control.CreateApplication) > 0, "no create" })
	for i := range mandates {
		w.mandate(fmt.Sprintf("waits-%d", i), "{serviceRef: {name: busy}}")
	}
	applied := time.Now()
	w.mandate("acme", "{}")
	w.ready("acme")
	w.ready("first")
	for i := range mandates {
		w.ready(fmt.Sprintf("waits-%d", i))
	}
	for _, email := range busy.emails(mandates + 1) {
		if email.Time.Before(earliest) {
			t.Errorf("a create was sent %s before Retry-After was over", earliest.Sub(email.Time))
		}
	}
	// A machine that takes ten seconds for what comes before proves nothing here.
	if created := w.emails(1)[0].Time; applied.Add(5*time.Second).Before(earliest) && created.After(earliest) {
		t.Errorf("the Mandate of another service waited for %s", created.Sub(applied))
	}
}

// sleep waits for a time in which requests are counted: nothing else shows that none arrive. It returns how long it
// took, which is more on a busy machine.
func (w *world) sleep(d time.Duration) time.Duration {
	w.Helper()
	began := time.Now()
	select {
	case <-w.Context().Done():
	case <-time.After(d):
	}
	return time.Since(began)
}

func (w *world) allRequests() (n int64) {
	w.Helper()
	stats, err := w.sandbox.Stats(w.Context())
	w.check(err)
	for _, operation := range stats.Operations {
		n += operation.Requests
	}
	return n
}

func (w *world) count(which func(*v1alpha1.Mandate) bool) (n int) {
	w.Helper()
	var mandates v1alpha1.MandateList
	w.check(w.List(w.Context(), &mandates, client.InNamespace(w.namespace)))
	for i := range mandates.Items {
		if which(&mandates.Items[i]) {
			n++
		}
	}
	return n
}
