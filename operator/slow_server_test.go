package operator_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// The API server takes longer to record a decision than what a look is good for. So the operator looks again at what
// the decision is about, and sends it only if that is what its author has seen.
func TestDecisionThatIsRecordedSlowly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(*world, *v1alpha1.Mandate)
		acts      string
		reads     int64
	}{
		"nothing changes": {func(*world, *v1alpha1.Mandate) {}, "[complete_application: 1]", 3},
		"an individual is reset": {func(w *world, m *v1alpha1.Mandate) {
			_, err := w.client(w.url).ResetIndividual(t.Context(), m.Status.Individuals[0].ID)
			w.check(err)
		}, "[]", 2},
		"the application cannot be read": {func(w *world, _ *v1alpha1.Mandate) {
			w.fault(alwaysAnswers(control.RetrieveApplication, 503))
		}, "[]", 4}, // the client tries three times
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			r.reconcile("acme")
			w.play(w.get("acme"), control.ResultPass)
			w.eventually(func() (bool, string) {
				r.reconcile("acme")
				state := w.get("acme").Status.State
				return state == "in review", fmt.Sprintf("the state is %q", state)
			})
			seen := w.get("acme")
			w.mandate("acme", "{"+decision(seen, v1alpha1.DecisionComplete)+"}")
			r.before = func(request string) {
				if request == "patch ApplicationRecord" {
					r.before = func(string) {}
					test.meanwhile(w, seen)
					<-time.After(engine.MaxLookAge + time.Millisecond) // the API server is as slow as that
				}
			}
			reads := w.requests(control.RetrieveApplication)
			r.reconcile("acme")
			if got := w.acts(); got != test.acts {
				t.Errorf("the operator sent %s, want %s", got, test.acts)
			}
			if n := w.requests(control.RetrieveApplication) - reads; n != test.reads {
				t.Errorf("it read the application %d times, want %d", n, test.reads)
			}
			w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
		})
	}
}

// Somebody corrects the address of an individual in a Secret while the API server is slow to record the create. The
// address of before is not e-mailed.
func TestSecretCorrectedBeforeTheCreate(t *testing.T) {
	t.Parallel()
	w := connected(t)
	details := func(email string) {
		w.secret("jane", map[string]string{"first_name": "Jane", "email": email})
	}
	details("wrong@example.com")
	w.mandate("acme", "{individuals: [{name: jane, detailsSecretRef: {name: jane}}]}")
	r := w.newManualReconciler()
	r.beforeFirst("create ApplicationRecord", func() {
		details("jane@example.com")
		<-time.After(engine.MaxLookAge + time.Millisecond) // the API server is as slow as that
	})
	r.reconcileUntilCreated("acme")
	if sent := w.emails(1); sent[0].Address != "jane@example.com" {
		t.Errorf("the service e-mailed %s", sent[0].Address)
	}
}

// The API server stores a record and its answers are lost, twice. The operator finds its own create there: it was not
// sent, and nothing has to settle.
func TestClaimsWithoutAnswers(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.losing = "create ApplicationRecord"
	r.reconcile("acme")
	r.losing, r.failing = "", "create ApplicationRecord"
	r.reconcile("acme")
	r.failing = ""
	r.reconcileUntilCreated("acme")
	w.emails(1)
	if create := ledger.CreateOf(w.record("acme")); create.Sends != 1 || create.Result != v1alpha1.CallDone {
		t.Errorf("the record says %+v", create)
	}
}

// Somebody deletes the record while the create is under way. The new record has the application and the create, which
// is over: later calls do not wait for it.
func TestRecordDeletedDuringTheCreate(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.beforeFirst("patch ApplicationRecord", func() {
		w.check(w.Delete(t.Context(), w.record("acme")))
	})
	r.reconcileUntilCreated("acme")
	w.emails(1)
	record := w.record("acme")
	if create := ledger.CreateOf(record); record.Spec.ApplicationID == nil || create.Result != v1alpha1.CallDone {
		t.Errorf("the record has the application %v and the create %+v", record.Spec.ApplicationID, create)
	}
}
