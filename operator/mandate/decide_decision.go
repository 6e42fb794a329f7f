package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// decisionBlocked are the reasons for which spec.decision waits for a person.
var decisionBlocked = []string{
	v1alpha1.ReasonDecisionOutdated, v1alpha1.ReasonDecisionRefused, v1alpha1.ReasonDecisionForbidden,
	v1alpha1.ReasonDecisionUnknown, v1alpha1.ReasonStateUnknown,
}

// decisionReason is why spec.decision is not sent now; "" if it is. It is sent only about evidence that its author has
// named, or by its rule, and never while a review of the same spec is not done.
func decisionReason(f facts) string {
	a := f.application
	switch {
	case f.decision.Outcome == "":
		return v1alpha1.ReasonNoDecision
	case f.final(), a.unmatched(), len(a.reviews) > 0, a.reviewOutdated:
		return v1alpha1.ReasonDecisionWaiting
	case f.decision.When == "" && !a.evidence.holds(f.decision.Evidence):
		return v1alpha1.ReasonDecisionOutdated
	}
	switch stateOf(f, decisionOrder(f)) {
	case orderRefused:
		return v1alpha1.ReasonDecisionRefused
	case orderForbidden:
		return v1alpha1.ReasonDecisionForbidden
	case orderUnknown:
		return v1alpha1.ReasonDecisionUnknown
	case orderUnderWay, orderEnded:
		return v1alpha1.ReasonDecisionWaiting
	}
	switch {
	case f.decision.When != "" && !ruleHolds(f):
		return v1alpha1.ReasonDecisionWaiting
	case a.stage == client.StageOpen && a.evidence.checks >= checksSettled && f.now.Sub(a.evidence.since) >= f.ruleDelay:
		return v1alpha1.ReasonStateUnknown
	case a.stage != client.StageInReview:
		return v1alpha1.ReasonDecisionWaiting
	default:
		return ""
	}
}

// ruleHolds reports whether spec.decision.when is so, and was when the application was read some time before: checks
// may come one after the other.
func ruleHolds(f facts) bool {
	e := f.application.evidence
	return e.checks == checksPassed && f.now.Sub(e.since) >= f.ruleDelay
}

// ruleRemains is for how long the evidence still has to stay as it is; 0 if nothing waits for that.
func ruleRemains(f facts) time.Duration {
	e := f.application.evidence
	if f.decision.Outcome == "" || f.final() || !f.application.read() || e.checks < checksSettled {
		return 0
	}
	return max(0, f.ruleDelay-f.now.Sub(e.since))
}

// blockedReason is why the spec is not carried out before a person acts; "" if it is, or waits for others.
func blockedReason(f facts) string {
	switch {
	case reviewRefused(f):
		return v1alpha1.ReasonReviewRefused
	case f.application.reviewOutdated:
		return v1alpha1.ReasonReviewOutdated
	}
	if reason := decisionReason(f); slices.Contains(decisionBlocked, reason) {
		return reason
	}
	return ""
}
