package action

import (
	"cmp"
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
		return cmp.Or(
			when(f.call.end == endRefused, perform(stepShowPending)),
			when(!f.record.read, perform(stepReadRecord)), // somebody has written it since
			perform(stepEnd),
		)
	}
	noIndividual := f.call.result == v1alpha1.CallRefused && f.call.notFound
	return cmp.Or(
		when(f.call.result == v1alpha1.CallNotSent, waitFor(v1alpha1.ReasonRetrying, f.retryAfter)),
		when(noIndividual, wait(v1alpha1.ReasonIndividualNotFound)),
		wait(reasonOf(f.call.result)),
	)
}

// decideSend is for a call that was not sent. It goes out in the first half of the handover, after which another
// operator may end it, and a person order another one. What it was looked at for may have changed since an older look.
func decideSend(f facts) decision {
	c := f.call
	return cmp.Or(
		when(engine.Elapsed(c.started, f.now) > f.handover/2, perform(stepEnd)),
		when(c.phase == verified && engine.Elapsed(c.looked, f.now) <= engine.MaxLookAge, perform(stepSend)),
		when(c.looks >= engine.MaxLooks, perform(stepEnd)),
		perform(stepVerify),
	)
}

// decideName is for a name that cannot be used, whatever becomes of the Mandate. An action ends as the entry of its
// name says, also if it is another object of that name.
func decideName(f facts) decision {
	r := f.record
	unused, done := r.name == ledger.Unused, r.result == v1alpha1.CallDone || r.result == v1alpha1.CallAccepted
	return cmp.Or(
		when(r.name == ledger.UsedForOtherAction, wait(v1alpha1.ReasonNameUsed)),
		when(!unused && r.result == "", decideOpen(f)),
		when(unused && r.full, wait(v1alpha1.ReasonTooManyActions)),
		when(r.name == ledger.UsedForSameAction && done, wait(v1alpha1.ReasonAlreadyDone)),
		when(!unused && r.result != v1alpha1.CallNotSent, wait(reasonOf(r.result))),
	)
}

// decideOpen is for a call that this reconciliation has not begun, and that may be under way. Its process may have
// ended, and its MandateAction may be gone. So that it is in nobody's way for ever, it is ended after the handover. One
// that the Mandate orders may stay open for days: then the status says so.
func decideOpen(f facts) decision {
	lasts := !f.now.Before(f.record.seen.Add(f.handover))
	handedOver := f.record.open != otherCall && lasts
	return cmp.Or(
		when(f.record.open == unsentCall || handedOver, perform(stepEnd)),
		when(lasts, waitFor(v1alpha1.ReasonMandateNotReady, f.handover)),
		waitFor(reasonAwaiting, openInterval),
	)
}

// reasonOf says what the result of its call means for an action that ends with it.
func reasonOf(result v1alpha1.CallResult) string {
	return cmp.Or(map[v1alpha1.CallResult]string{
		v1alpha1.CallDone:      v1alpha1.ReasonCarriedOut,
		v1alpha1.CallAccepted:  v1alpha1.ReasonRequestAccepted,
		v1alpha1.CallRefused:   v1alpha1.ReasonRefused,
		v1alpha1.CallForbidden: v1alpha1.ReasonForbidden,
	}[result], v1alpha1.ReasonOutcomeUnknown)
}
