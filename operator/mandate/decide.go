package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

const (
	// retention after which the service deletes applications (interface: eight weeks).
	retention = 56 * 24 * time.Hour
	// createWindow is how long a create whose outcome is unknown is sent again. Later, somebody may have deleted the
	// application at the service, or the service may have forgotten the reference with it, and would create again.
	createWindow = time.Hour
	// lagAllowance is how long a new application that was never read is taken for one that is not visible yet, and
	// lagRequeue how soon it is looked for again.
	lagAllowance = 30 * time.Second
	lagRequeue   = 2 * time.Second
	// nextCallDelay is how soon a reconciliation follows one that left something to do, because it had acted on people:
	// when the cache has what that one wrote.
	nextCallDelay = 100 * time.Millisecond
	// acceptedPeriod is how long the operator looks for what the service has accepted, and does not show: an application,
	// or what a call changes.
	acceptedPeriod = 24 * time.Hour
	// missingGracePeriod is how long a 404 is not believed that is not the service's own word.
	missingGracePeriod = 24 * time.Hour
)

// decide is the whole protocol, and the only place that decides. It is pure: the same facts give the same step.
//
// What it promises, whatever the facts: stepSend only for a call that this process has just begun and verified; no call
// while another one may be under way; no create after one whose outcome cannot be known any more; a missing application
// never leads to a create. What acts on people comes directly after a live read of the Mandate, and is all of that kind
// that a reconciliation does.
func decide(f facts, subscription subscriptionFacts) decision {
	next := decideCall(f)
	if next.Step == stepWait {
		if s := subscription.decide(f, next.Reason); s != "" {
			return decision{Step: s}
		}
	}
	return next
}

func decideCall(f facts) decision {
	next := decideNext(f)
	switch {
	case readRemains(f):
		return waitFor(reasonWhileCallsRemain(f), engine.MaxRequeue) // a slot wakes it up
	case actsRemain(f):
		return waitFor(reasonWhileCallsRemain(f), nextCallDelay)
	default:
		return next
	}
}

// callsRemain reports whether the next reconciliation has a call on people to make, because this one has made one, or
// the read that follows such a call.
func callsRemain(f facts) bool { return actsRemain(f) || readRemains(f) }

func actsRemain(f facts) bool {
	return f.acts != actsNone && slices.Contains(begins, decideNext(f).Step)
}

func readRemains(f facts) bool { return f.acts == actsReadWaits && decideNext(f).Step == stepRead }

// reasonWhileCallsRemain is what the status says while something is left to do.
func reasonWhileCallsRemain(f facts) string {
	switch {
	case f.deletion.requested:
		return v1alpha1.ReasonDeletionWaiting
	case f.id != 0:
		return unblockedReason(f) // that one call was refused must not keep the others from being sent
	default:
		return v1alpha1.ReasonRetrying
	}
}

func decideNext(f facts) decision {
	switch {
	case f.attempt.phase != attemptNone:
		return decideAttempt(f) // a call is concluded even if the Mandate is being deleted
	case f.deletion.requested:
		return f.deletion.decide(f)
	case f.failureReason != "":
		return waitFor(f.failureReason, f.retryAfter)
	case f.deletion.wantsFinalizer() != f.deletion.finalizer:
		return decision{Step: stepFinalizer}
	case f.suspended:
		return wait(v1alpha1.ReasonSuspended)
	case f.vanished:
		return wait(reasonVanished)
	case f.id != 0:
		return decideApplication(f)
	case f.adopt != 0:
		return decideAdoption(f)
	default:
		return decideCreate(f)
	}
}

func decideCreate(f facts) decision {
	r := f.record
	switch {
	case f.service.UnknownReason() != "":
		return wait(f.service.UnknownReason())
	case !r.read():
		return decideUnread(f)
	case f.outcome != "": // the status tells of an application whose id is nowhere
		return wait(v1alpha1.ReasonOutcomeUnknown)
	case f.unknown && !r.exists() && searchesCandidates(f):
		return decideCandidate(f)
	case f.unknown && !r.exists():
		return wait(v1alpha1.ReasonOutcomeUnknown) // the ledger was lost: somebody deleted it, or its namespace
	case mismatch(&r) != "":
		return wait(mismatch(&r))
	case r.mayExist():
		return decideUnknown(f)
	}
	if blocked := blockedPost(f); blocked.Step != "" {
		return blocked
	}
	// What another account refused, this one may create, unless it said that the reference exists: that can be an earlier
	// application of this Mandate.
	anew := f.otherAccount() && r.answer != v1alpha1.AnswerDuplicate
	refused := !anew && r.inputs == f.inputs.digest && !r.otherReference && !r.otherURL
	if later := retryLater(f); refused && later.Step != "" {
		return later
	}
	switch {
	case !r.exists():
		return decision{Step: stepClaim}
	case refused && r.answer == v1alpha1.AnswerRefused:
		return wait(v1alpha1.ReasonRefused)
	case refused && r.answer == v1alpha1.AnswerDuplicate:
		return wait(v1alpha1.ReasonReferenceConflict)
	default:
		return decision{Step: stepBegin}
	}
}

// retryReasons are those of attempts that created nothing and may succeed later, though the spec stays as it is.
var retryReasons = map[v1alpha1.CallAnswer]string{
	v1alpha1.AnswerForbidden: v1alpha1.ReasonForbidden, v1alpha1.AnswerRetryable: v1alpha1.ReasonRefusedForNow,
}

// retryLater waits for the time at which such an attempt is made again, or for a person who asks for it; no step if it
// is made now.
func retryLater(f facts) decision {
	reason := retryReasons[f.record.answer]
	if reason == "" || f.requested || !f.now.Before(f.record.retryAt) {
		return decision{}
	}
	return waitFor(reason, f.record.retryAt.Sub(f.now))
}

// mismatch is the reason of a Mandate whose name has, or may have, an application at another service or under another
// reference than it has now; "" if that is not so. Nothing is sent then: a name has one application, ever.
func mismatch(r *recordFacts) string {
	switch {
	case r.mayExist() && r.otherURL:
		return v1alpha1.ReasonIdentityServiceMismatch
	case r.mayExist() && r.otherReference:
		return v1alpha1.ReasonApplicationExists
	default:
		return ""
	}
}

// decideUnread is for a Mandate whose record was not read yet. Creating the record shows, too, whether there is one:
// for a Mandate that was never reconciled, to read it first would only cost a request. If something keeps the
// application from being created, the record is read, because the Mandate may be one that was applied again.
func decideUnread(f facts) decision {
	if f.neverReconciled && f.outcome == "" {
		switch blocked := blockedPost(f); blocked.Step {
		case "":
			return decision{Step: stepClaim}
		case stepResolve:
			return blocked
		}
	}
	return decision{Step: stepReadRecord}
}

// decideUnknown is for an attempt that may have created the application and whose answer nobody has. The same reference
// is sent again: the service can only create it, if the first request never arrived, or call it a duplicate. A refusal
// for another reason leaves that open, until the spec or a Secret changes.
func decideUnknown(f facts) decision {
	r := f.record
	switch {
	case f.now.Sub(r.firstStarted) >= retention:
		return wait(reasonVanished) // whatever there was, the service has deleted it
	case searchesCandidates(f):
		return decideCandidate(f)
	case r.answer == v1alpha1.AnswerIDTooLarge:
		return wait(v1alpha1.ReasonApplicationIDTooLarge)
	case r.accepted() && f.now.Sub(r.firstStarted) < acceptedPeriod:
		return waitFor(v1alpha1.ReasonCreateAccepted, time.Hour)
	case r.answer == v1alpha1.AnswerDuplicate, r.sends >= ledger.MaxSends(v1alpha1.CallCreate),
		!withinCreateWindow(r.firstStarted, f.now), deadlinePassed(f):
		return wait(v1alpha1.ReasonOutcomeUnknown)
	case f.otherAccount():
		return wait(f.accountReason())
	case r.account != accountSame: // in which the reference may be free, whatever proves that the account is the same
		return wait(v1alpha1.ReasonOutcomeUnknown)
	case r.isOpen() && f.mayBeUnderWay():
		return waitFor(v1alpha1.ReasonSettling, r.observed.Add(f.settleDelay).Sub(f.now))
	case f.candidatePending: // it may be this Mandate's, and then nothing has to be sent
		return waitFor(v1alpha1.ReasonSettling, candidateRetryInterval)
	}
	if blocked := blockedPost(f); blocked.Step != "" {
		return blocked
	}
	if r.answer == v1alpha1.AnswerRefused && r.inputs == f.inputs.digest {
		return wait(v1alpha1.ReasonRefused)
	}
	if later := retryLater(f); later.Step != "" {
		return waitFor(v1alpha1.ReasonSettling, later.RequeueAfter)
	}
	return decision{Step: stepBegin}
}

// withinCreateWindow reports whether a create may be sent again. A time from the future is by another clock, and says
// nothing of how long ago that was.
func withinCreateWindow(firstStarted, now time.Time) bool {
	return now.Sub(firstStarted).Abs() < createWindow
}

// searchesCandidates reports whether there is an application to read. Only for a Mandate whose create had no answer
// does anybody ask.
func searchesCandidates(f facts) bool {
	return (f.found != 0 || len(f.candidates) > 0) && f.service.MayRecover() && !f.referenceNotAllowed
}

// decideCandidate reads one candidate after another. That an id was named is a hint and never a fact. The application
// is read, and bound if it is this Mandate's by the rules for adoptions, and if it shows what the spec asks for: no
// person says that it is. Whatever is named, nothing is created from it.
func decideCandidate(f facts) decision {
	if f.found != 0 {
		return decision{Step: stepBind}
	}
	return decision{Step: stepReadCandidate}
}

// blockedPost is what comes before any attempt; no step if nothing does.
func blockedPost(f facts) decision {
	switch {
	case deadlinePassed(f):
		return wait(v1alpha1.ReasonCreateDeadlinePassed)
	case f.referenceNotAllowed:
		return wait(v1alpha1.ReasonReferenceNotAllowed)
	case !f.service.Ready, f.service.Deleting: // nothing new is sent by way of a service that is being deleted
		return wait(v1alpha1.ReasonIdentityServiceNotReady)
	case f.record.restored: // what it says of the create may be of long ago
		return wait(v1alpha1.ReasonRecordRestored)
	case !f.record.sent() && !f.service.AccountConfirmed(): // it could become another account's
		return wait(f.accountReason())
	case f.tooManyUnrecorded:
		return wait(v1alpha1.ReasonLedgerUnavailable)
	case !f.inputs.resolved():
		return decision{Step: stepResolve}
	case f.inputs.problem != "":
		return wait(f.inputs.problem)
	default:
		return decision{}
	}
}

func deadlinePassed(f facts) bool {
	return !f.createBefore.IsZero() && !f.now.Before(f.createBefore)
}

// decideAttempt brings a call of this process to its end.
func decideAttempt(f facts) decision {
	a := f.attempt
	create := a.kind == v1alpha1.CallCreate
	switch {
	case a.end == endRefused && create:
		return decision{Step: stepShowPending}
	case a.phase == attemptAnswered && a.id != 0:
		return decision{Step: stepDeposit}
	case a.phase == attemptAnswered && a.outcome == client.Unknown:
		// The record says so already: it was written before the request went out.
		return waitFor(v1alpha1.ReasonSettling, f.settleDelay)
	case a.phase == attemptAnswered, a.phase == attemptWithdrawn, a.phase == attemptUnsent, create && deadlinePassed(f),
		f.now.Sub(a.started) > f.settleDelay/2:
		// Too late is when another operator may soon take this call for a lost one.
		return decision{Step: stepConclude}
	case a.phase == attemptVerified && f.now.Sub(a.looked) <= engine.MaxLookAge:
		return decision{Step: stepSend}
	case a.looks >= engine.MaxLooks:
		return decision{Step: stepConclude}
	default:
		return decision{Step: stepVerify}
	}
}
