package operator_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// checkState is the state of a check as the status of a Mandate has it, and the review of it that was carried out.
func checkState(m *v1alpha1.Mandate, check string) (state string, reviewed v1alpha1.CheckDecision) {
	for _, r := range m.Status.Reviews {
		if r.Check == check {
			reviewed = r.Decision
		}
	}
	return checkNamed(m, check).State.Name, reviewed
}

// The spec decides each check in review once.
func TestCheckReviews(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{decision: Complete}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	w.mandate("acme", `{decision: Complete, checkReviews: [
		{individual: jane, check: document, decision: Accept, comment: canary of a comment, commentFor: IndividualCheck},
		{individual: jane, check: liveness, decision: Accept},
		{individual: jane, check: address, decision: Accept},
		{individual: jane, check: nothing of the kind, decision: Reject}]}`)
	m = w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	for _, check := range []string{"document", "liveness", "address"} {
		if state, reviewed := checkState(m, check); state != "manually_accepted" || reviewed != v1alpha1.CheckDecisionAccept {
			t.Errorf("the check %s is %q, reviewed %q", check, state, reviewed)
		}
	}
	w.ready("acme")
	if got := w.requests(control.AcceptCheck); got != 3 {
		t.Errorf("%d checks were accepted, want 3", got)
	}
	if got := w.requests(control.RejectCheck); got != 0 {
		t.Errorf("%d checks were rejected, want none", got)
	}
}

// A decision is not repeated after a reset of the check. Another decision on the same check is carried out.
func TestCheckReviewedOnce(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	w.mandate("acme", "{checkReviews: [{individual: jane, check: document, decision: Accept}]}")
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_accepted" && reviewed == v1alpha1.CheckDecisionAccept
	})
	_, err := w.client(w.url).ResetIndividual(t.Context(), m.Status.Individuals[0].ID)
	w.check(err)
	w.kill()
	w.start()
	w.until("acme", "the check is pending again", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "pending"
	})
	w.waitPolls(2)
	if got := w.requests(control.AcceptCheck); got != 1 {
		t.Errorf("the check was accepted %d times, want once", got)
	}
	w.mandate("acme", "{checkReviews: [{individual: jane, check: document, decision: Reject}]}")
	w.until("acme", "the check is rejected", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_rejected" && reviewed == v1alpha1.CheckDecisionReject
	})
}

// A refused review is reported, does not stop polls, and is retried only when something changes.
func TestReviewRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "decidableChecks", "in_review"))
	w.mandate("acme", "{checkReviews: [{individual: jane, check: document, decision: Reject}]}")
	m := w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonReviewRefused)
	if !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) {
		t.Errorf("the Mandate is not Ready although the application is in progress: %+v", m.Status.Conditions)
	}
	w.waitPolls(2)
	if got := w.requests(control.RejectCheck); got != 1 {
		t.Errorf("the refused review was sent %d times, want once", got)
	}
	w.play(m, control.ResultReview)
	w.until("acme", "the check is rejected", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "manually_rejected"
	})
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonInProgress)
}

// A reset makes checks with new ids. A review that was carried out does not decide them, until it is
// removed from the spec and added again.
func TestReviewsDoNotOutliveReset(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "resetCheckIDs", "new"))
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	const reviews = "{checkReviews: [{individual: jane, check: document, decision: Accept}]}"
	w.mandate("acme", reviews)
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		return checkNamed(m, "document").State.Name == "manually_accepted"
	})
	before := checkNamed(m, "document").ID
	w.apply("{kind: MandateAction, metadata: {name: reset}, " +
		"spec: {mandateRef: {name: acme}, type: ResetIndividual, individual: jane}}")
	reset := func(m *v1alpha1.Mandate) bool {
		return checkNamed(m, "document").ID != before && checkNamed(m, "document").State.Name == "pending"
	}
	w.until("acme", "reset", reset)
	w.play(m, control.ResultReview)
	w.kill()
	w.start()
	w.waitPolls(2)
	if got := w.requests(control.AcceptCheck); got != 1 {
		t.Fatalf("the check was accepted %d times, want once", got)
	}
	w.mandate("acme", "{}")
	w.until("acme", "without a review", func(m *v1alpha1.Mandate) bool { return len(m.Status.Reviews) == 0 })
	w.mandate("acme", reviews)
	w.until("acme", "reviewed again", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_accepted" && reviewed == v1alpha1.CheckDecisionAccept
	})
	if got := w.requests(control.AcceptCheck); got != 2 {
		t.Errorf("the new review was sent %d times, want once", got-1)
	}
}

// A Mandate that is applied again without its status may have had its checks reset meanwhile. Its reviews wait until
// they are removed from the spec and added again.
func TestReviewsOfARecreatedMandate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultReview)
	w.kubectl("delete", "mandate", "acme")
	const reviews = "{checkReviews: [{individual: jane, check: document, decision: Accept}]}"
	w.mandate("acme", reviews)
	m := w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonReviewOutdated)
	if !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) || len(m.Status.PendingReviews) != 1 {
		t.Errorf("want Ready, and the review pending: %+v", m.Status)
	}
	w.waitPolls(2)
	if got := w.requests(control.AcceptCheck); got != 0 {
		t.Fatalf("the check was accepted %d times, want never", got)
	}
	w.mandate("acme", "{}")
	w.until("acme", "without a review", func(m *v1alpha1.Mandate) bool { return len(m.Status.PendingReviews) == 0 })
	w.mandate("acme", reviews)
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_accepted" && reviewed == v1alpha1.CheckDecisionAccept
	})
	if got := w.requests(control.AcceptCheck); got != 1 {
		t.Errorf("the new review was sent %d times, want once", got)
	}
	w.emails(1)
}

func checkNamed(m *v1alpha1.Mandate, name string) v1alpha1.CheckStatus {
	for _, individual := range m.Status.Individuals {
		for _, c := range individual.Checks {
			if c.Name == name && c.State != nil {
				return c
			}
		}
	}
	return v1alpha1.CheckStatus{State: &v1alpha1.ServiceState{}}
}
