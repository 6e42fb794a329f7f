package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// decide has an application read whose id is known, and says what keeps the operator from going on with it. Nothing
// here leads back to a create.
func (o observeFacts) decide(f facts) decision {
	a, unusable := f.application, f.service.UnusableReason()
	deleted := f.outcome == v1alpha1.OutcomeDeleted // which can be taken back
	switch {
	case f.outcome != "" && !deleted && !f.act.archive && !o.openCall && (!o.unmatched || a.missing()) && !looksAgain(f):
		return wait(acceptedReason(f))
	case deleted && (unusable != "" || a.missing() || a.read() && (a.reference == referenceOther || f.otherAccount())):
		return wait(reasonVanished)
	case unusable != "" && (!a.read() || !f.service.MayRecover()):
		return wait(unusable)
	case a.missing():
		return decideMissing(f)
	case !a.read() && f.now.Before(o.readAt):
		return waitFor(reasonNotDue, o.readAt.Sub(f.now))
	case !f.record.read() && (!o.ownAccount || o.openCall): // only the account that has it can answer
		return decision{Step: stepReadRecord}
	case !a.read():
		return decision{Step: stepRead}
	case f.otherAccount() && (a.reference != referenceOther || !f.record.otherURL):
		return wait(f.accountReason())
	case a.reference == referenceOther:
		return wait(v1alpha1.ReasonIdentityServiceMismatch)
	case a.differs:
		return wait(v1alpha1.ReasonSpecDiffers)
	case !f.bound && f.create.adopt != 0 && f.create.adopt != f.id:
		return wait(v1alpha1.ReasonAdoptionRefused) // the ledger knows better which one is this Mandate's
	case deleted:
		return decideFound(f)
	case a.evidence.checks == checksUnknown:
		return decision{Step: stepReadRecord}
	default:
		return decision{}
	}
}

// looksAgain: an application is read rarely after its outcome, and on request. What contradicts the outcome is said,
// and decides nothing.
func looksAgain(f facts) bool {
	a := f.application
	return f.decided() && !a.read() && !a.missing() && !f.now.Before(f.observe.readAt) &&
		f.service.UnusableReason() == "" && !overdue(f.now, f.createdTime)
}

// decideFound is for an application that the status calls Deleted, and that the service shows again. It takes the
// outcome back before anything else is done. An application without a reference may be another service's.
func decideFound(f facts) decision {
	switch {
	case f.application.reference != referenceMatched && !f.record.read():
		return decision{Step: stepReadRecord}
	case f.application.reference != referenceMatched && f.record.otherURL:
		return wait(reasonVanished)
	default:
		return waitFor(v1alpha1.ReasonAccepted, time.Second)
	}
}

// decideMissing is for a 404 on a known id: it is believed after a second one, only from the account that has, or had,
// the application, and only while the service is healthy otherwise. It may also be a read that lags behind the create,
// another service, or a proxy.
func decideMissing(f facts) decision {
	o, missing := f.observe, f.now.Sub(f.observe.missingSince)
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
	case o.missingSince.IsZero():
		return waitFor(v1alpha1.ReasonConfirming, o.confirmDelay)
	case missing < o.confirmDelay:
		return waitFor(v1alpha1.ReasonConfirming, o.confirmDelay-missing)
	case mayCome(f):
		return waitFor(v1alpha1.ReasonConfirming, min(max(o.confirmDelay, missing/4), time.Hour))
	case f.application.unproven() && missing < missingGracePeriod && !overdue(f.now, f.createdTime):
		return waitFor(v1alpha1.ReasonConfirming, min(max(o.confirmDelay, missing/4), time.Hour, missingGracePeriod-missing))
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

// mayCome: the service has accepted the create, and nobody has seen the application. It may still come.
func mayCome(f facts) bool { return f.record.isAwaited(f.now) && !f.observe.seen }

// lags: a new application that was never seen may not be visible yet.
func lags(f facts) bool { return !f.observe.seen && ledger.Within(lagAllowance, f.createdTime, f.now) }

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

// erasureFacts is what is known of inline personal data that is to be erased after the outcome.
type erasureFacts int

const (
	erasureNone    erasureFacts = iota
	erasureDue                  // there is some
	erasureTried                // in this reconciliation: what is left of it, another field manager applies
	erasureRefused              // by the API server: later, once more
)

// decide reports whether to erase it now. The API server allows that once the status has the outcome. The outcome
// Deleted can be taken back until the service would have deleted the application anyway.
func (e erasureFacts) decide(f facts, reason string) bool {
	lasts := f.outcome != "" && (f.outcome != v1alpha1.OutcomeDeleted || f.observe.vanished)
	return e == erasureDue && lasts && f.failureReason == "" && !f.suspended && !f.deletion.requested &&
		reason != reasonNotDue && reason != reasonStaleCache
}
