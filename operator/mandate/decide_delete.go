package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// deletionFacts is what the end of the Mandate means for the application.
type deletionFacts struct {
	policy     v1alpha1.DeletionPolicy
	finalizer  bool      // ours is on the Mandate, which cannot go before it is taken off
	requested  bool      // the Mandate is being deleted
	giveUpTime time.Time // when it is let go, whatever the service says
}

// wantsFinalizer: without one, the deletion would be over before anything can be done.
func (d deletionFacts) wantsFinalizer() bool {
	return d.policy == v1alpha1.DeletionPolicyArchive || d.policy == v1alpha1.DeletionPolicyDelete
}

// decide switches the finalizer, and carries out deletionPolicy once the Mandate is being deleted.
func (d deletionFacts) decide(f facts) decision {
	switch {
	case d.requested:
		return d.decideRequested(f)
	case f.failureReason == "" && d.wantsFinalizer() != d.finalizer:
		return decision{Step: stepFinalizer}
	default:
		return decision{}
	}
}

// decideRequested does what deletionPolicy says before the Mandate goes. A Mandate without the finalizer is as good as
// gone. The IdentityService may have been pointed at another service since, where the id is nothing, or another
// application: the ledger says which service it was, and the application is read before anything is done to it. A
// service that has just moved shows the reference.
func (d deletionFacts) decideRequested(f facts) decision {
	a, r := f.application, f.record
	deleted := f.outcome == v1alpha1.OutcomeDeleted // nothing is asked of the service any more
	switch {
	case !d.finalizer:
		return wait(reasonDeleting)
	case f.failureReason == reasonStaleCache: // the API server would refuse to remove the finalizer
		return wait(reasonStaleCache)
	case !d.wantsFinalizer(), f.observe.vanished, deleted, !f.now.Before(d.giveUpTime):
		return decision{Step: stepFinalizer}
	case f.failureReason != "":
		return waitFor(v1alpha1.ReasonDeletionWaiting, f.retryAfter)
	case !r.read():
		return decision{Step: stepReadRecord}
	case f.id == 0 && r.id == 0:
		return decision{Step: stepFinalizer} // there is no application, or none that can be named
	case a.missing():
		return decideDeletedMissing(f)
	case f.service.UnusableReason() != "":
		return wait(v1alpha1.ReasonDeletionWaiting)
	case f.id == 0:
		return wait(v1alpha1.ReasonDeletionRefused)
	case !a.read():
		return decision{Step: stepRead}
	case f.otherAccount() && (a.sameReference || !r.otherURL):
		return wait(f.accountReason())
	case !a.sameReference, a.differs, r.otherURL && !a.referenceMatched:
		return wait(v1alpha1.ReasonDeletionRefused)
	}
	if lost := decideLost(f, v1alpha1.ReasonDeletionWaiting); lost.Step != "" {
		return lost
	}
	return d.decideOrder(f)
}

// decideDeletedMissing is for a Mandate in deletion whose application the service does not show. That is believed if
// the service has said that it deletes it, or by the service's own word.
func decideDeletedMissing(f facts) decision {
	if lost := decideLost(f, v1alpha1.ReasonDeletionWaiting); lost.Step != "" {
		return lost // the log says what became of it before the Mandate goes
	}
	switch a, r := f.application, f.record; {
	case wasDeleted(f):
		return decision{Step: stepFinalizer}
	case lags(f):
		return waitFor(v1alpha1.ReasonDeletionWaiting, lagRequeue)
	case a.unproven():
		return wait(v1alpha1.ReasonDeletionWaiting)
	case r.otherURL:
		return wait(v1alpha1.ReasonDeletionRefused)
	case f.otherAccount():
		return wait(f.accountReason())
	default:
		return decision{Step: stepFinalizer}
	}
}

// decideOrder sends what deletionPolicy says, and waits until the service shows it: what an answer says may
// never come true.
func (d deletionFacts) decideOrder(f facts) decision {
	order := d.order()
	switch state := stateOf(f, order); {
	case isShown(f, order):
		return decision{Step: stepFinalizer}
	case f.record.full:
		return wait(v1alpha1.ReasonDeletionRefused)
	case state == orderReady:
		return decision{Step: stepBegin}
	case state == orderRefused || state == orderForbidden:
		return wait(v1alpha1.ReasonDeletionRefused)
	default:
		return wait(v1alpha1.ReasonDeletionWaiting)
	}
}

// order is what deletionPolicy asks for.
func (d deletionFacts) order() *v1alpha1.Call {
	if d.policy == v1alpha1.DeletionPolicyArchive {
		return archiveOrder()
	}
	return &v1alpha1.Call{Kind: v1alpha1.CallDelete}
}
