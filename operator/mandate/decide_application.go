package mandate

import (
	"cmp"
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// decideApplication looks after an application whose id is known. Nothing here leads back to a create.
func decideApplication(f facts) decision {
	a, unusable := f.application, f.service.UnusableReason()
	deleted := f.outcome == v1alpha1.OutcomeDeleted // which can be taken back
	switch {
	case f.outcome != "" && !deleted && !f.archive && !f.openCall && (!f.unmatched || a.missing()) && !looksAgain(f):
		return wait(acceptedReason(f))
	case deleted && (unusable != "" || a.missing() || a.read() && (!a.sameReference || f.otherAccount())):
		return wait(reasonVanished)
	case unusable != "" && (!a.read() || !f.service.MayRecover()):
		return wait(unusable)
	case a.missing():
		return decideMissing(f)
	case !a.read() && f.now.Before(f.readAt):
		return waitFor(reasonNotDue, f.readAt.Sub(f.now))
	case !f.record.read() && (!f.ownAccount || f.openCall): // only the account that has it can answer
		return decision{Step: stepReadRecord}
	case !a.read():
		return decision{Step: stepRead}
	case f.otherAccount() && (a.sameReference || !f.record.otherURL):
		return wait(f.accountReason())
	case !a.sameReference:
		return wait(v1alpha1.ReasonIdentityServiceMismatch)
	case a.differs:
		return wait(v1alpha1.ReasonSpecDiffers)
	case !f.bound && f.adopt != 0 && f.adopt != f.id:
		return wait(v1alpha1.ReasonAdoptionRefused) // the ledger knows better which one is this Mandate's
	}
	switch {
	case deleted:
		return decideFound(f)
	case a.evidence.checks == checksUnknown:
		return decision{Step: stepReadRecord}
	}
	if lost := decideLost(f, acceptedReason(f)); lost.Step != "" {
		return lost
	}
	return decideOrder(f)
}

// looksAgain: an application is read rarely after its outcome, and on request. What contradicts the outcome is said,
// and decides nothing.
func looksAgain(f facts) bool {
	a := f.application
	return f.decided() && !a.read() && !a.missing() && !f.now.Before(f.readAt) && f.service.UnusableReason() == "" &&
		!overdue(f.now, f.createdTime)
}

// decideOrder begins the next call that the spec asks for.
func decideOrder(f facts) decision {
	switch order := nextOrder(f); {
	case order == nil:
		return waitFor(acceptedReason(f), ruleRemains(f))
	case !f.record.read():
		return decision{Step: stepReadRecord}
	case !f.service.Ready: // it was found again while writes fail
		return wait(v1alpha1.ReasonIdentityServiceNotReady)
	case !f.application.referenceMatched && f.record.otherURL:
		return wait(v1alpha1.ReasonIdentityServiceMismatch) // this service shows no references
	case f.record.full:
		return wait(v1alpha1.ReasonLogFull)
	default:
		return decision{Step: stepBegin}
	}
}

// decideFound is for an application that the status calls Deleted, and that the service shows again. It takes the
// outcome back before anything else is done. An application without a reference may be another service's.
func decideFound(f facts) decision {
	switch {
	case !f.application.referenceMatched && !f.record.read():
		return decision{Step: stepReadRecord}
	case !f.application.referenceMatched && f.record.otherURL:
		return wait(reasonVanished)
	default:
		return waitFor(v1alpha1.ReasonAccepted, time.Second)
	}
}

// acceptedReason is why nothing is to be done now for an application that exists.
func acceptedReason(f facts) string {
	reason := unblockedReason(f)
	if reason == v1alpha1.ReasonAccepted && f.application.read() && !f.final() {
		return cmp.Or(blockedReason(f), reason)
	}
	return reason
}

func unblockedReason(f facts) string {
	a := f.application
	mayLag := a.individuals == individualsFewer && f.now.Sub(f.createdTime) < lagAllowance // they may not be visible yet
	switch {
	case a.read() && a.unmatched() && !mayLag:
		return v1alpha1.ReasonIndividualsUnmatched
	case f.archive && a.read() && !a.archived:
		return v1alpha1.ReasonNotArchived
	default:
		return v1alpha1.ReasonAccepted
	}
}

// decideMissing is for a 404 on a known id: it is believed after a second one, only from the account that has, or had,
// the application, and only while the service is healthy otherwise. It may also be a read that lags behind the create,
// another service, or a proxy.
func decideMissing(f facts) decision {
	missing := f.now.Sub(f.missingSince)
	switch {
	case lags(f):
		return waitFor(v1alpha1.ReasonConfirming, lagRequeue)
	case !f.record.read():
		return decision{Step: stepReadRecord}
	case f.record.otherURL && !overdue(f.now, f.createdTime):
		return wait(v1alpha1.ReasonIdentityServiceMismatch)
	case f.otherAccount() && !overdue(f.now, f.createdTime):
		return wait(f.accountReason())
	case wasDeleted(f):
		return wait(reasonVanished)
	case f.missingSince.IsZero():
		return waitFor(v1alpha1.ReasonConfirming, f.confirmDelay)
	case missing < f.confirmDelay:
		return waitFor(v1alpha1.ReasonConfirming, f.confirmDelay-missing)
	case f.record.accepted() && !f.seen && f.now.Sub(f.createdTime) < acceptedPeriod:
		return waitFor(v1alpha1.ReasonConfirming, min(max(f.confirmDelay, missing/4), time.Hour))
	case f.application.unproven() && missing < missingGracePeriod && !overdue(f.now, f.createdTime):
		return waitFor(v1alpha1.ReasonConfirming, min(max(f.confirmDelay, missing/4), time.Hour, missingGracePeriod-missing))
	case f.application.lookup == applicationUnproven && !overdue(f.now, f.createdTime):
		return waitFor(v1alpha1.ReasonApplicationMissing, time.Hour)
	case f.application.lookup != applicationGone:
		return decision{Step: stepProbe}
	default:
		return wait(reasonVanished)
	}
}

// wasDeleted: the log says that the service deleted the application for the operator.
func wasDeleted(f facts) bool {
	entry := f.record.made(&v1alpha1.Call{Kind: v1alpha1.CallDelete})
	return entry != nil && entry.Result == v1alpha1.CallDone
}

// lags: a new application that was never seen may not be visible yet.
func lags(f facts) bool { return !f.seen && f.now.Sub(f.createdTime) < lagAllowance }

// overdue: the service has deleted the application, or is about to, wherever it is.
func overdue(now, created time.Time) bool {
	return !created.IsZero() && now.Sub(created) >= retention-24*time.Hour
}

// vanishedOutcome says what became of an application that the service no longer has.
func vanishedOutcome(now, created time.Time) v1alpha1.Outcome {
	if overdue(now, created) {
		return v1alpha1.OutcomeExpired
	}
	return v1alpha1.OutcomeDeleted
}

// decideAdoption binds an application that a person says is this Mandate's, if it has the reference and nobody else has
// it. Nothing is created, right or wrong.
func decideAdoption(f facts) decision {
	r, a := f.record, f.application
	switch {
	case f.service.UnusableReason() != "":
		return wait(f.service.UnusableReason())
	case !r.read():
		return decision{Step: stepReadRecord}
	case r.mayExist() && r.otherReference, r.id != 0 && r.id != f.adopt:
		return wait(cmp.Or(mismatch(&r), v1alpha1.ReasonAdoptionRefused))
	case f.referenceNotAllowed:
		return wait(v1alpha1.ReasonReferenceNotAllowed)
	case f.adoptedByOther:
		return wait(v1alpha1.ReasonAdoptionRefused)
	case r.id == 0 && r.isOpen() && f.mayBeUnderWay():
		// An attempt may still be under way; its answer, if it comes, is the better proof.
		return waitFor(v1alpha1.ReasonSettling, r.observed.Add(f.settleDelay).Sub(f.now))
	case a.missing(), a.read() && !a.sameReference:
		return wait(cmp.Or(mismatch(&r), v1alpha1.ReasonAdoptionRefused))
	case !a.read():
		return decision{Step: stepRead}
	default:
		// A service that has merely moved shows the reference, whatever URL the record has.
		return decision{Step: stepAdopt}
	}
}

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
