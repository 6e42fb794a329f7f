package action

import (
	"context"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// readRecord sees in the ledger, past any cache, whether the name was used.
func (r *reconciliation) readRecord(ctx context.Context) error {
	record, err := r.config.Ledger.Get(ctx, r.mandateName())
	if err != nil {
		return err
	}
	r.setRecord(record)
	return nil
}

// setRecord takes over what the ledger says; nil is no record.
func (r *reconciliation) setRecord(record *v1alpha1.ApplicationRecord) {
	r.record = record
	r.entry, r.open = nil, nil
	f := recordFacts{read: true}
	if record != nil {
		f.application, f.full = ptr.Deref(record.Spec.ApplicationID, 0), ledger.IsFull(record)
	}
	if record != nil && r.facts.emails {
		wanted := r.order(v1alpha1.Call{})
		f.name, r.entry = ledger.UseOf(record, &wanted)
		f.result = v1alpha1.CallDone
		if r.entry != nil {
			f.result = r.entry.Result
		}
		f.open = r.findOpen()
	}
	if r.open != nil {
		see := func(s *localState) { s.open.See(r.open.Nonce, r.clock.Now()) }
		f.seen = r.localState.Update(r.action, see).open.Time
	}
	r.facts.record = f
	r.compareRecord()
}

// compareRecord is after the record was read, and after the Mandate and its connection were: either may come later.
func (r *reconciliation) compareRecord() {
	f, read := &r.facts.record, r.record != nil
	f.otherAccount = read && r.session.Connection.IsOther(r.record)
	f.restored = read && ledger.IsRestored(r.record, engine.CompleteRecord(&r.mandate))
}

// findOpen finds the call that may be under way, first of all one under the name of the action, and says what it is.
func (r *reconciliation) findOpen() openCall {
	r.open = ledger.Open(r.record)
	if r.entry != nil && r.entry.Result == "" {
		r.open = r.entry
	}
	switch {
	case r.open == nil:
		return noCall
	case r.open.Nonce == r.localState.Get(r.action).unsent:
		return unsentCall
	case ledger.RemedyOf(r.open.Kind) == ledger.AskPerson:
		return emailingCall
	default:
		return otherCall
	}
}

// tellOfReset is before the action ends: who waits for that looks at the evidence of the Mandate next.
func (r *reconciliation) tellOfReset() {
	if r.config.ResetEnded != nil && r.action.Spec.Type == v1alpha1.MandateActionResetIndividual {
		r.config.ResetEnded(r.mandateName())
	}
}
