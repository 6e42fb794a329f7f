package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// reconcileUntilUnknown reconciles until the record says that the outcome of the create is not known.
func (w *world) reconcileUntilUnknown() {
	w.Helper()
	r := w.newManualReconciler()
	r.setSettleDelay(2 * time.Second)
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		create := ledger.CreateOf(w.record("acme"))
		stalled := meta.FindStatusCondition(w.get("acme").Status.Conditions, v1alpha1.ConditionStalled)
		said := stalled != nil && stalled.Reason == v1alpha1.ReasonOutcomeUnknown
		return said && create.Result == v1alpha1.CallUnknown, fmt.Sprintf("the create is %+v, Stalled %+v", create, stalled)
	})
}

// sayNotCreated has a person say that the last create of a Mandate created nothing.
func (w *world) sayNotCreated(name string) {
	w.Helper()
	ended := ledger.EndOf(ledger.CreateOf(w.record(name)))
	w.kubectl("annotate", "--overwrite", "mandate/"+name, v1alpha1.NotCreatedAnnotation+"="+ended)
}

// lostRequests has no request of a create arrive, until the operator gives up.
func (w *world) lostRequests() {
	w.Helper()
	lost := requestLost
	lost.Times = int(ledger.MaxSends(v1alpha1.CallCreate))
	w.fault(lost)
}

// No request of a create arrived, and nobody can know. Once a person says so, the operator creates the application: of
// the Mandate as it is now, and once.
func TestCreateThatCreatedNothing(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]string{
		"unchanged": "{}", "another reference": "{reference: another}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			w.lostRequests()
			w.reconcileUntilUnknown()
			w.mandate("acme", edit)
			w.emails(0)
			w.sayNotCreated("acme")
			r := w.newManualReconciler()
			r.reconcileUntilCreated("acme")
			w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
			w.emails(1)
			if event := <-r.Events.(*events.FakeRecorder).Events; !strings.Contains(event, "NotCreated A person says") {
				t.Errorf("the event is %q", event)
			}
			if create := ledger.CreateOf(w.record("acme")); create.Sends != 1 {
				t.Errorf("the create is %+v", create)
			}
		})
	}
}

// What a person said of one create says nothing of the next one.
func TestCreateAfterOneThatCreatedNothing(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	w.lostRequests()
	w.reconcileUntilUnknown()
	w.sayNotCreated("acme")
	w.fault(answerLost)
	r := w.newManualReconciler()
	w.eventually(func() (bool, string) { // a busy machine may be too slow for the first attempts
		r.reconcile("acme")
		create := ledger.CreateOf(w.record("acme"))
		return create.Sends == 1, fmt.Sprintf("the create is %+v", create)
	})
	w.emails(1)
	w.reconcileUntilUnknown()
	w.newManualReconciler().reconcile("acme")
	w.emails(1)
	if create := ledger.CreateOf(w.record("acme")); create.Answer != v1alpha1.AnswerDuplicate || create.Sends != 2 {
		t.Errorf("the create is %+v", create)
	}
}
