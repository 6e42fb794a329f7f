package operator_test

import (
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// byRule is a decision that a manifest can have from the beginning.
const byRule = "decision: {outcome: Complete, when: AllChecksPassed}"

// inReview waits until a status shows that the application is in review, and on which evidence.
func (w *world) inReview(name string) *v1alpha1.Mandate {
	w.Helper()
	return w.until(name, "in review", func(m *v1alpha1.Mandate) bool {
		return m.Status.State == "in review" && m.Status.Evidence != ""
	})
}

// decision is one about what a status shows.
func decision(m *v1alpha1.Mandate, outcome v1alpha1.DecisionOutcome) string {
	return fmt.Sprintf("decision: {outcome: %s, evidence: %s}", outcome, m.Status.Evidence)
}

// decide adds a decision about what the status shows, once the application is in review.
func (w *world) decide(name string, outcome v1alpha1.DecisionOutcome) {
	w.Helper()
	patch := fmt.Sprintf(`{"spec":{"decision":{"outcome":%q,"evidence":%q,"when":null}}}`, outcome,
		w.inReview(name).Status.Evidence)
	w.kubectl("patch", "mandate", name, "--type=merge", "-p", patch)
}

// complete plays the individuals of a Mandate, who pass, and completes it.
func (w *world) complete(m *v1alpha1.Mandate) {
	w.Helper()
	w.play(m, control.ResultPass)
	w.decide(m.Name, v1alpha1.DecisionComplete)
}

// resetUnseen resets jane at the service after a manifest was applied, which the operator learns of first.
func (w *world) resetUnseen(seen *v1alpha1.Mandate, spec string) {
	w.Helper()
	w.fault(alwaysAnswers(control.RetrieveApplication, 403))
	w.mandate(seen.Name, spec)
	_, err := w.client(w.url).ResetIndividual(w.Context(), seen.Status.Individuals[0].ID)
	w.check(err)
	w.check(w.sandbox.ClearFaults(w.Context()))
}

// review is one of a check of jane as a status shows it.
func review(m *v1alpha1.Mandate, check string, decision v1alpha1.CheckDecision) string {
	return fmt.Sprintf("{individual: jane, check: %s, evidence: %s, decision: %s}", check,
		checkNamed(m, check).Evidence, decision)
}
