package operator_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/connection"
)

// A service that fails reads, and answers everything else: its IdentityService says so all the time, and one read at a
// time tests it, less and less often.
func TestServiceThatFailsReads(t *testing.T) {
	t.Parallel()
	w := running(t)
	const mandates = 10
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	for i := range mandates {
		w.ready(fmt.Sprintf("acme-%d", i))
	}
	w.fault(alwaysAnswers(control.RetrieveApplication, 500))
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonReadsFailing)
	since := w.serviceCondition().LastTransitionTime
	before := w.allRequests()
	watched := w.sleep(25 * time.Second)
	limit := int64(1)
	for pause, next := 5*time.Second, 5*time.Second; next < watched; next += pause { // pauses of 5, 10, 20 seconds
		limit++
		pause *= 2
	}
	if got := w.allRequests() - before; got > limit {
		t.Errorf("the service had %d requests in %s, want at most %d", got, watched, limit)
	}
	if ready := w.serviceCondition(); ready.Reason != v1alpha1.ReasonReadsFailing || ready.LastTransitionTime != since {
		t.Errorf("Ready changed since %s: %+v", since, ready)
	}
	w.mandate("globex", "{}")
	w.condition("globex", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)
	w.emails(mandates)

	w.check(w.sandbox.ClearFaults(t.Context()))
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.ready("globex")
	w.waitPolls(2 * mandates)
	w.emails(mandates + 1)
}

// Logins fail, for another reason than the credentials.
func TestServiceThatFailsLogins(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fault(alwaysAnswers(control.Token, 500))
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonLoginFailing)
}

// A service fails writes only. What it answers may have had an effect, so each Mandate is sent once.
func TestServiceThatFailsWrites(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(alwaysAnswers(control.CreateApplication, 500))
	for i := range 5 {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonWritesFailing)
}

// A Mandate that waits for its service is deleted. It waits no more: that would keep the client of the service.
func TestDeletedWhileItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	r := w.newManualReconciler()
	key := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: w.namespace, Name: "default"}
	r.Services.Connections.Breaker(key).Observe(idv.OperationResult{
		Operation: idv.OpRetrieveReferences, Started: time.Now(), Err: &idv.Error{Kind: idv.KindServer},
	})
	wants := func(waiting int) {
		t.Helper()
		if used := r.Services.Connections.Usage(); len(used) != 1 || used[0].Mandates.Waiting != waiting {
			t.Errorf("want %d Mandates that wait: %+v", waiting, used)
		}
	}
	w.mandate("acme", "{}")
	r.reconcile("acme")
	wants(1)
	w.deleteMandate("acme")
	w.waitGone("acme")
	r.reconcile("acme")
	wants(0)
}

// serviceCondition is Ready of the IdentityService "default".
func (w *world) serviceCondition() metav1.Condition {
	w.Helper()
	s := &v1alpha1.IdentityService{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, s))
	ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		w.Fatalf("no condition Ready: %+v", s.Status)
	}
	return *ready
}
