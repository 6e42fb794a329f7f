package operator_test

import (
	"strings"
	"testing"

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

// reviews is a spec that decides checks as a status shows them.
func reviews(m *v1alpha1.Mandate, decision v1alpha1.CheckDecision, checks ...string) string {
	var all []string
	for _, check := range checks {
		all = append(all, review(m, check, decision))
	}
	return "checkReviews: [" + strings.Join(all, ", ") + "]"
}

// The spec decides each check in review once, and then the application: one commit asks for both.
func TestCheckReviews(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultReview)
	m := w.inReview("acme")
	w.mandate("acme", "{"+decision(m, v1alpha1.DecisionComplete)+", "+
		reviews(m, v1alpha1.CheckDecisionAccept, "document", "liveness", "address")+"}")
	m = w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	for _, check := range []string{"document", "liveness", "address"} {
		if state, reviewed := checkState(m, check); state != "manually_accepted" || reviewed != v1alpha1.CheckDecisionAccept {
			t.Errorf("the check %s is %q, reviewed %q", check, state, reviewed)
		}
	}
	w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionTrue, v1alpha1.ReasonDecided)
	w.ready("acme")
	if got := w.requests(control.AcceptCheck); got != 3 {
		t.Errorf("%d checks were accepted, want 3", got)
	}
	if got := w.requests(control.RejectCheck); got != 0 {
		t.Errorf("%d checks were rejected, want none", got)
	}
}

// A review is not repeated after a reset of the check. Another decision on the same check is carried out.
func TestCheckReviewedOnce(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	w.mandate("acme", "{"+reviews(w.inReview("acme"), v1alpha1.CheckDecisionAccept, "document")+"}")
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_accepted" && reviewed == v1alpha1.CheckDecisionAccept
	})
	_, err := w.client(w.url).ResetIndividual(t.Context(), m.Status.Individuals[0].ID)
	w.check(err)
	w.kill()
	w.start()
	m = w.until("acme", "the check is pending again", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "pending"
	})
	w.waitPolls(2)
	if got := w.requests(control.AcceptCheck); got != 1 {
		t.Errorf("the check was accepted %d times, want once", got)
	}
	w.mandate("acme", "{"+reviews(m, v1alpha1.CheckDecisionReject, "document")+"}")
	w.until("acme", "the check is rejected", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_rejected" && reviewed == v1alpha1.CheckDecisionReject
	})
}

// A refused review needs a person, does not stop polls, and is sent again on request only.
func TestReviewRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "decidableChecks", "in_review"))
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.mandate("acme", "{"+reviews(m, v1alpha1.CheckDecisionReject, "document")+"}")
	w.stalled("acme", v1alpha1.ReasonReviewRefused)
	w.waitPolls(2)
	if got := w.requests(control.RejectCheck); got != 1 {
		t.Errorf("the refused review was sent %d times, want once", got)
	}
	w.play(m, control.ResultReview)
	w.stalled("acme", v1alpha1.ReasonReviewOutdated)
	w.mandate("acme", "{"+reviews(w.inReview("acme"), v1alpha1.CheckDecisionReject, "document")+"}")
	w.until("acme", "the check is rejected", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "manually_rejected"
	})
	w.ready("acme")
}

// A reset makes checks with new ids. A review that was carried out does not decide them; one with their evidence does.
func TestReviewsDoNotOutliveReset(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "resetCheckIDs", "new"))
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	w.mandate("acme", "{"+reviews(w.inReview("acme"), v1alpha1.CheckDecisionAccept, "document")+"}")
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		return checkNamed(m, "document").State.Name == "manually_accepted"
	})
	before := checkNamed(w.get("acme"), "document")
	w.apply("{kind: MandateAction, metadata: {name: reset}, " +
		"spec: {mandateRef: {name: acme}, type: ResetIndividual, individual: jane}}")
	reset := func(m *v1alpha1.Mandate) bool {
		now := checkNamed(m, "document")
		return now.ID != before.ID && now.State.Name == "pending" && now.Evidence != before.Evidence
	}
	w.until("acme", "reset", reset)
	w.play(m, control.ResultReview)
	w.kill()
	w.start()
	w.waitPolls(2)
	if got := w.requests(control.AcceptCheck); got != 1 {
		t.Fatalf("the check was accepted %d times, want once", got)
	}
	w.mandate("acme", "{"+reviews(w.inReview("acme"), v1alpha1.CheckDecisionAccept, "document")+"}")
	w.until("acme", "reviewed again", func(m *v1alpha1.Mandate) bool {
		state, reviewed := checkState(m, "document")
		return state == "manually_accepted" && reviewed == v1alpha1.CheckDecisionAccept
	})
	if got := w.requests(control.AcceptCheck); got != 2 {
		t.Errorf("the new review was sent %d times, want once", got-1)
	}
}

// An individual is reset at the service after somebody has written a review, and comes to the same results. Nobody has
// seen that round, whatever it looks like.
func TestReviewOfAnotherRound(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.play(m, control.ResultReview)
	seen := w.inReview("acme")
	w.resetUnseen(seen, "{"+reviews(seen, v1alpha1.CheckDecisionAccept, "document")+"}")
	w.stalled("acme", v1alpha1.ReasonReviewOutdated)
	w.play(m, control.ResultReview)
	again := w.inReview("acme")
	w.waitPolls(3)
	w.stalled("acme", v1alpha1.ReasonReviewOutdated)
	if got := w.acts(); got != "[]" {
		t.Errorf("the operator sent %s", got)
	}
	w.mandate("acme", "{"+reviews(again, v1alpha1.CheckDecisionAccept, "document")+"}")
	w.until("acme", "the check is accepted", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "manually_accepted"
	})
}

// A reset leaves ids and states as they were, and nothing is to be decided. The status shows other evidence with the
// next read: what its author copies from it is not outdated.
func TestResetIsShown(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	before := w.ready("acme")
	w.action("reset", reset)
	w.actionCompletes("reset")
	w.waitPolls(2)
	m := w.get("acme")
	seen, now := checkNamed(before, "document"), checkNamed(m, "document")
	if seen.ID != now.ID || *seen.State != *now.State {
		t.Fatalf("the reset shows in %+v, before %+v", now, seen)
	}
	if now.Evidence == seen.Evidence || m.Status.Evidence == before.Status.Evidence {
		t.Errorf("the evidence is %s and %s, as before the reset", m.Status.Evidence, now.Evidence)
	}
	w.mandate("acme", "{"+reviews(m, v1alpha1.CheckDecisionReject, "document")+"}")
	w.until("acme", "the check is rejected", func(m *v1alpha1.Mandate) bool {
		state, _ := checkState(m, "document")
		return state == "manually_rejected"
	})
	w.ready("acme")
}

// A Mandate that is applied again finds its application, and nothing is decided that has changed since.
func TestDecisionsOfARecreatedMandate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	created := w.ready("acme")
	manifest := "{" + decision(created, v1alpha1.DecisionReject) + ", " +
		reviews(created, v1alpha1.CheckDecisionAccept, "document") + "}"
	w.play(created, control.ResultReview)
	w.inReview("acme")
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", manifest)
	m := w.stalled("acme", v1alpha1.ReasonReviewOutdated)
	w.waitPolls(2)
	if got := w.acts(); got != "[]" {
		t.Fatalf("the operator sent %s", got)
	}
	w.mandate("acme", "{"+decision(m, v1alpha1.DecisionReject)+", "+
		reviews(m, v1alpha1.CheckDecisionAccept, "document")+"}")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeRejected))
	if got := w.acts(); got != "[reject_application: 1 accept_check: 1]" {
		t.Errorf("the operator sent %s", got)
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
