package mandate

import (
	"cmp"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// decide brings a Mandate to its application: one that a person names, one that the ledger or a notification knows, or
// a new one.
func (c createFacts) decide(f facts) decision {
	switch {
	case f.id != 0:
		return decision{}
	case c.adopt != 0:
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
	case !r.read() && f.create.awaitsBudget && f.create.budgetWait > 0 && !f.create.unknown:
		return waitFor(v1alpha1.ReasonCreationBudgetReached, f.create.budgetWait)
	case !r.read():
		return decideUnread(f)
	case f.outcome != "": // the status tells of an application whose id is nowhere
		return wait(v1alpha1.ReasonOutcomeUnknown)
	case f.create.unknown && !r.exists() && searchesCandidates(f):
		return decideCandidate(f)
	case f.create.unknown && !r.exists():
		return wait(v1alpha1.ReasonOutcomeUnknown) // the ledger was lost: somebody deleted it, or its namespace
	case mismatch(&r) != "":
		return decideDoubt(f, mismatch(&r))
	case r.mayExist():
		return decideUnknown(f)
	}
	if blocked := blockedPost(f); blocked.Step != "" {
		return blocked
	}
	// What another account refused, this one may create, unless it said that the reference exists: that can be an earlier
	// application of this Mandate.
	anew := f.otherAccount() && r.answer != v1alpha1.AnswerDuplicate
	refused := !anew && r.inputs == f.create.inputs.digest && !r.otherReference && !r.otherURL
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
	if f.create.neverReconciled && f.outcome == "" {
		switch blocked := blockedPost(f); blocked.Step {
		case "":
			return decision{Step: stepClaim}
		case stepResolve:
			return blocked
		}
	}
	return decision{Step: stepReadRecord}
}

// decideDoubt is for a create whose outcome is not known, and that is not sent again as things are: the record says so,
// once no request can be under way. Only of a create that has ended like that can a person say that it created nothing.
func decideDoubt(f facts, reason string) decision {
	r := &f.record
	open := r.sent() && r.id == 0 && r.result == ""
	switch {
	case open && f.mayBeUnderWay():
		return waitFor(reason, f.settleDelay-f.now.Sub(r.observed))
	case open, r.notCreated && r.id == 0 && !f.create.candidatePending:
		return decision{Step: stepSettle}
	default:
		return wait(reason)
	}
}

// decideUnknown is for an attempt that may have created the application and whose answer nobody has. The same reference
// is sent again: the service can only create it, if the first request never arrived, or call it a duplicate. A refusal
// for another reason leaves that open, until the spec or a Secret changes.
func decideUnknown(f facts) decision {
	r := f.record
	switch {
	case f.now.Sub(r.firstStarted) >= retention:
		return decideDoubt(f, reasonVanished) // whatever there was, the service has deleted it
	case searchesCandidates(f):
		return decideCandidate(f)
	case r.answer == v1alpha1.AnswerIDTooLarge:
		return wait(v1alpha1.ReasonApplicationIDTooLarge)
	case r.isAwaited(f.now):
		return waitFor(v1alpha1.ReasonCreateAccepted, time.Hour)
	case r.accepted(), r.answer == v1alpha1.AnswerDuplicate, r.sends >= ledger.MaxSends(v1alpha1.CallCreate),
		!withinCreateWindow(r.firstStarted, f.now), deadlinePassed(f):
		return decideDoubt(f, v1alpha1.ReasonOutcomeUnknown)
	case f.otherAccount() && f.service.AccountSought():
		return wait(v1alpha1.ReasonAccountChanged)
	case f.otherAccount():
		return decideDoubt(f, reasonOtherAccount)
	case r.account != accountSame: // in which the reference may be free, whatever proves that the account is the same
		return decideDoubt(f, v1alpha1.ReasonOutcomeUnknown)
	case r.isOpen() && f.mayBeUnderWay():
		return waitFor(v1alpha1.ReasonSettling, r.observed.Add(f.settleDelay).Sub(f.now))
	case f.create.candidatePending: // it may be this Mandate's, and then nothing has to be sent
		return waitFor(v1alpha1.ReasonSettling, candidateRetryInterval)
	}
	if blocked := blockedPost(f); blocked.Step != "" {
		return blocked
	}
	if r.answer == v1alpha1.AnswerRefused && r.inputs == f.create.inputs.digest {
		return decideDoubt(f, v1alpha1.ReasonRefused)
	}
	if later := retryLater(f); later.Step != "" {
		return waitFor(v1alpha1.ReasonSettling, later.RequeueAfter)
	}
	if passed := f.now.Sub(r.started).Abs(); r.answer == v1alpha1.AnswerRetryable && passed < f.settleDelay {
		return waitFor(v1alpha1.ReasonSettling, f.settleDelay-passed) // on request, too: it may be under way at the service
	}
	return decision{Step: stepBegin}
}

// withinCreateWindow reports whether a create may be sent again. A time from the future is by a clock that is fast. By
// less than the window, it says that the create began since.
func withinCreateWindow(firstStarted, now time.Time) bool {
	return now.Sub(firstStarted).Abs() < createWindow
}

// searchesCandidates reports whether there is an application to read. Only for a Mandate whose create had no answer
// does anybody ask.
func searchesCandidates(f facts) bool {
	return (f.create.found != 0 || len(f.create.candidates) > 0) && f.service.MayRecover() && !f.create.referenceNotAllowed
}

// decideCandidate reads one candidate after another. That an id was named is a hint and never a fact. The application
// is read, and bound if it is this Mandate's by the rules for adoptions, and if it shows what the spec asks for: no
// person says that it is. Whatever is named, nothing is created from it.
func decideCandidate(f facts) decision {
	if f.create.found != 0 {
		return decision{Step: stepBind}
	}
	return decision{Step: stepReadCandidate}
}

// blockedPost is what comes before any attempt; no step if nothing does.
func blockedPost(f facts) decision {
	switch {
	case f.create.erased:
		return wait(v1alpha1.ReasonErased)
	case deadlinePassed(f):
		return wait(v1alpha1.ReasonCreateDeadlinePassed)
	case f.create.referenceNotAllowed:
		return wait(v1alpha1.ReasonReferenceNotAllowed)
	case f.service.CreationSuspended:
		return wait(v1alpha1.ReasonCreationSuspended)
	case !f.service.Ready, f.service.Deleting: // nothing new is sent by way of a service that is being deleted
		return wait(v1alpha1.ReasonIdentityServiceNotReady)
	case f.record.restored: // what it says of the create may be of long ago
		return wait(v1alpha1.ReasonRecordRestored)
	case !f.record.sent() && !f.service.AccountConfirmed(): // it could become another account's
		return wait(f.accountReason())
	case f.create.tooManyUnrecorded:
		return wait(v1alpha1.ReasonLedgerUnavailable)
	case !f.create.inputs.resolved():
		return decision{Step: stepResolve}
	case f.create.inputs.problem != "":
		return wait(f.create.inputs.problem)
	case f.create.budgetWait > 0:
		return waitFor(v1alpha1.ReasonCreationBudgetReached, f.create.budgetWait)
	default:
		return decision{}
	}
}

func deadlinePassed(f facts) bool {
	return !f.create.createBefore.IsZero() && !f.now.Before(f.create.createBefore)
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
	case r.mayExist() && r.otherReference, r.id != 0 && r.id != f.create.adopt:
		return wait(cmp.Or(mismatch(&r), v1alpha1.ReasonAdoptionRefused))
	case f.create.referenceNotAllowed:
		return wait(v1alpha1.ReasonReferenceNotAllowed)
	case f.create.adoptedByOther:
		return wait(v1alpha1.ReasonAdoptionRefused)
	case r.id == 0 && r.isOpen() && f.mayBeUnderWay():
		// An attempt may still be under way; its answer, if it comes, is the better proof.
		return waitFor(v1alpha1.ReasonSettling, r.observed.Add(f.settleDelay).Sub(f.now))
	case a.missing(), a.read() && a.reference == referenceOther:
		return wait(cmp.Or(mismatch(&r), v1alpha1.ReasonAdoptionRefused))
	case !a.read():
		return decision{Step: stepRead}
	case a.differs:
		return wait(v1alpha1.ReasonSpecDiffers)
	default:
		// A service that has merely moved shows the reference, whatever URL the record has.
		return decision{Step: stepAdopt}
	}
}
