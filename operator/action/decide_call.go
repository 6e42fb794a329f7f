package action

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// openInterval is how soon the record is read again in which a call is open. Most end within seconds.
const openInterval = 5 * time.Second

// decideCall is for the call that this reconciliation has begun.
func decideCall(f facts) decision {
	switch f.call.phase {
	case begun, verified:
		return decideSend(f)
	case over:
		if !f.record.read { // somebody has written it since
			return decision{Step: stepReadRecord}
		}
		return decision{Step: stepEnd}
	}
	switch {
	case f.call.result == v1alpha1.CallNotSent:
		return waitFor(v1alpha1.ReasonRetrying, f.retryAfter)
	case f.call.result == v1alpha1.CallRefused && f.call.notFound:
		return wait(v1alpha1.ReasonIndividualNotFound)
	default:
		return wait(reasonOf(f.call.result))
	}
}

// decideSend is for a call that was not sent. It goes out in the first half of the handover, after which another
// operator may end it, and a person order another one. What it was looked at for may have changed since an older look.
func decideSend(f facts) decision {
	switch c := f.call; {
	case f.now.Sub(c.started) > f.handover/2:
		return decision{Step: stepEnd}
	case c.phase == verified && f.now.Sub(c.looked) <= engine.MaxLookAge:
		return decision{Step: stepSend}
	case c.looks >= engine.MaxLooks:
		return decision{Step: stepEnd}
	default:
		return decision{Step: stepVerify}
	}
}

// decideName is for a name that cannot be used, whatever becomes of the Mandate; no step if it can. An action ends as
// the entry of its name says, also if it is another object of that name.
func decideName(f facts) decision {
	switch r := f.record; {
	case r.name == ledger.UsedForOtherAction:
		return wait(v1alpha1.ReasonNameUsed)
	case r.name != ledger.Unused && r.result == "":
		return decideOpen(f)
	case r.name == ledger.Unused && r.full:
		return wait(v1alpha1.ReasonTooManyActions)
	case r.name == ledger.Unused, r.result == v1alpha1.CallNotSent:
		return decision{}
	case r.name == ledger.UsedForSameAction && (r.result == v1alpha1.CallDone || r.result == v1alpha1.CallAccepted):
		return wait(v1alpha1.ReasonAlreadyDone)
	default:
		return wait(reasonOf(r.result))
	}
}

// decideOpen is for a call that this reconciliation has not begun, and that may be under way. Its process may have
// ended, and its MandateAction may be gone. So that it is in nobody's way for ever, it is ended after the handover.
func decideOpen(f facts) decision {
	handedOver := f.record.open != otherCall && !f.now.Before(f.record.seen.Add(f.handover))
	if f.record.open == unsentCall || handedOver {
		return decision{Step: stepEnd}
	}
	return waitFor(reasonAwaiting, openInterval)
}

// reasonOf says what the result of its call means for an action that ends with it.
func reasonOf(result v1alpha1.CallResult) string {
	switch result {
	case v1alpha1.CallDone:
		return v1alpha1.ReasonCarriedOut
	case v1alpha1.CallAccepted:
		return v1alpha1.ReasonRequestAccepted
	case v1alpha1.CallRefused:
		return v1alpha1.ReasonRefused
	case v1alpha1.CallForbidden:
		return v1alpha1.ReasonForbidden
	default:
		return v1alpha1.ReasonOutcomeUnknown
	}
}
