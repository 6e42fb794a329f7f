package operator_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// A manifest that decides by a rule completes its application once all checks have passed for some time. Polls go on
// meanwhile. An application of which a check failed is never completed.
func TestDecisionByRule(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{"+byRule+"}")
	w.mandate("globex", "{"+byRule+"}")
	acme, globex := w.ready("acme"), w.ready("globex")
	w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionFalse, v1alpha1.ReasonDecisionWaiting)
	w.play(globex, control.ResultFail)
	w.play(acme, control.ResultPass)
	w.inReview("acme")
	passed, reads := time.Now(), w.requests(control.RetrieveApplication)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionTrue, v1alpha1.ReasonDecided)
	if waited := time.Since(passed); waited < ruleDelay-time.Second { // the operator has seen it before
		t.Errorf("completed %s after the checks had passed", waited)
	}
	if n := w.requests(control.RetrieveApplication) - reads; n < 4 { // every two seconds, of two applications
		t.Errorf("%d reads in %s", n, ruleDelay)
	}
	if m := w.ready("globex"); m.Status.State != "in review" {
		t.Errorf("checks have failed, and the application is %s", m.Status.State)
	}
	w.condition("globex", v1alpha1.ConditionDecided, metav1.ConditionFalse, v1alpha1.ReasonDecisionWaiting)
	if got := w.acts(); got != "[complete_application: 1]" {
		t.Errorf("the operator sent %s", got)
	}
}

// A service that wants another method gets a second request, after another look at what orders it.
func TestDecisionByAnotherMethod(t *testing.T) {
	t.Parallel()
	w := runningAs(t, dialect.Dialect{CompleteMethod: dialect.MethodPut})
	w.mandate("acme", "{"+byRule+"}")
	w.play(w.ready("acme"), control.ResultPass)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

// An individual is reset after somebody has decided, and passes again: nobody has seen these checks.
func TestDecisionOutdated(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultPass)
	seen := w.inReview("acme")
	w.resetUnseen(seen, "{"+decision(seen, v1alpha1.DecisionComplete)+"}")
	w.stalled("acme", v1alpha1.ReasonDecisionOutdated)
	w.play(m, control.ResultPass)
	again := w.inReview("acme")
	if again.Status.Evidence == seen.Status.Evidence {
		t.Errorf("the evidence %s is that of the round before", seen.Status.Evidence)
	}
	w.waitPolls(3)
	w.stalled("acme", v1alpha1.ReasonDecisionOutdated)
	if got := w.acts(); got != "[]" {
		t.Errorf("the operator sent %s", got)
	}
	w.decide("acme", v1alpha1.DecisionComplete)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

// A tool replaces a Mandate whose decision is outdated. The new object has seen nothing, so it is outdated there, too.
func TestDecisionOfAReplacedMandate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultPass)
	seen := w.inReview("acme")
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{"+decision(seen, v1alpha1.DecisionComplete)+"}")
	w.stalled("acme", v1alpha1.ReasonDecisionOutdated)
	w.waitPolls(2)
	if got := w.acts(); got != "[]" {
		t.Errorf("the operator sent %s", got)
	}
	w.decide("acme", v1alpha1.DecisionComplete)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

// Somebody rejects an application at the service, of which the spec asks for something else.
func TestDecidedOtherwise(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{"+byRule+"}")
	m := w.ready("acme")
	w.play(m, control.ResultFail)
	m = w.inReview("acme")
	_, err := w.client(w.url).RejectApplication(t.Context(), *m.Status.ApplicationID, idv.State{Name: m.Status.State})
	w.check(err)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeRejected))
	w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionFalse, v1alpha1.ReasonDecidedOtherwise)
	w.ready("acme")
}

// The service has a name of its own for the state in review. The status says so within a poll or two, and the decision
// is sent as soon as spec.states says what the name means.
func TestStateUnknown(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "stateNames", "other"))
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultPass)
	m := w.until("acme", "shown with all checks", func(m *v1alpha1.Mandate) bool {
		return m.Status.State == "under review" && m.Status.Progress == "3/3"
	})
	reads := w.requests(control.RetrieveApplication)
	w.mandate("acme", "{"+decision(m, v1alpha1.DecisionComplete)+"}")
	w.stalled("acme", v1alpha1.ReasonStateUnknown)
	if n := w.requests(control.RetrieveApplication) - reads; n > 4 {
		t.Errorf("%d reads showed the state before the status did", n)
	}
	if got := w.acts(); got != "[]" {
		t.Errorf("the operator sent %s", got)
	}
	w.patchService(`{states: {inReview: [under review], completed: [closed]}}`)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}
