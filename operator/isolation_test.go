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

// A service that does not work holds up nobody but its own Mandates, and is soon left alone: of twenty Mandates, few have
// a request sent that nobody answers.
func TestBrokenServiceHoldsUpNobody(t *testing.T) {
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
			w.apply(fmt.Sprintf(`{kind: IdentityService, metadata: {name: broken}, spec: {baseURL: %q, credentialsSecretRef: {name: idv}, requestsPerSecond: 100}}`, broken.url))
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
				t.Errorf("the broken service had %d create requests, want %d: the other Mandate has waited for the first ones to end", got, workers)
			}

			w.serviceIs("broken", metav1.ConditionFalse, "")
			// Two at once, and one after the other until it is clear that it does not work.
			if got := broken.requests(control.CreateApplication); got > workers+3 {
				t.Errorf("%d create requests were sent to a broken service", got)
			}
			before := broken.allRequests()
			w.mandate("globex", "{}")
			w.ready("globex")
			w.sleep(5 * time.Second)
			if got := broken.allRequests() - before; got > 8 {
				t.Errorf("a service that is known to be broken had %d requests in five seconds", got)
			}

			broken.check(broken.sandbox.ClearFaults(t.Context()))
			w.serviceIs("broken", metav1.ConditionTrue, v1alpha1.ReasonConnected)
			w.eventually(func() (bool, string) {
				n := w.count(func(m *v1alpha1.Mandate) bool {
					return m.Spec.ServiceRef.Name == "broken" && meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady)
				})
				return n >= mandates-workers-3, fmt.Sprintf("%d Mandates of the service that works again are Ready", n)
			})
			w.emails(2)
		})
	}
}

// A service that asks to be left alone is: its Mandates wait without holding up others, and go on when the time has come.
func TestBusyServiceHoldsUpNobody(t *testing.T) {
	t.Parallel()
	const mandates, workers = 20, 2
	w, busy := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
	w.connect()
	w.apply(fmt.Sprintf(`{kind: IdentityService, metadata: {name: busy}, spec: {baseURL: %q, credentialsSecretRef: {name: idv}, requestsPerSecond: 100}}`, busy.url))
	w.start(fmt.Sprintf("--max-concurrent-reconciles=%d", workers))
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.serviceIs("busy", metav1.ConditionTrue, v1alpha1.ReasonConnected)
	busy.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Answer, Status: 429, RetryAfter: "15", Times: 1})
	w.mandate("first", "{serviceRef: {name: busy}}")
	w.condition("first", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonRetrying)
	asked := busy.requests(control.CreateApplication)
	for i := range mandates {
		w.mandate(fmt.Sprintf("waits-%d", i), "{serviceRef: {name: busy}}")
	}
	w.mandate("acme", "{}")
	w.ready("acme")
	if got := busy.requests(control.CreateApplication); got != asked {
		t.Errorf("%d create requests came before the time was up", got-asked)
	}
	w.ready("first")
	for i := range mandates {
		w.ready(fmt.Sprintf("waits-%d", i))
	}
	busy.emails(mandates + 1)
}

// quiet lets time pass in which something is counted: that nothing comes cannot be waited for otherwise.
func (w *world) sleep(d time.Duration) {
	w.Helper()
	select {
	case <-w.Context().Done():
	case <-time.After(d):
	}
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
