package action

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// entry is how the ledger remembers the action.
func (r *reconciliation) entry() v1alpha1.RecordedAction {
	spec := &r.action.Spec
	return v1alpha1.RecordedAction{
		Name: r.action.Name, UID: r.action.UID, Type: spec.Type, Individual: spec.Individual,
		Evidence: r.evidence, StartedTime: metav1.NewTime(r.facts.now),
	}
}

// readRecord sees in the ledger, past any cache, whether the name was used.
func (r *reconciliation) readRecord(ctx context.Context) error {
	mandate := types.NamespacedName{Namespace: r.action.Namespace, Name: r.action.Spec.MandateRef.Name}
	record, err := r.ledger.Get(ctx, mandate)
	if err != nil {
		return err
	}
	r.setRecord(record)
	return nil
}

// setRecord takes over what the ledger says; nil is no record.
func (r *reconciliation) setRecord(record *v1alpha1.ApplicationRecord) {
	r.record, r.facts.record = record, recordFacts{read: true}
	if record != nil {
		entry := r.entry()
		use := ledger.UseOf(record, &entry)
		r.facts.record = recordFacts{
			read: true, application: ptr.Deref(record.Spec.ApplicationID, 0), full: ledger.IsFull(record),
			otherAccount: r.session.Connection.IsOther(record),
			used:         use != ledger.Unused, mine: use == ledger.UsedByThisObject, alike: use == ledger.UsedForSameAction,
		}
	}
	r.localState.Update(r.action, func(s *localState) { s.nameFree = !r.facts.record.used && !r.facts.record.full })
}

// recordStart records the name in the ledger, if nobody has written there since it was read.
func (r *reconciliation) recordStart(ctx context.Context) error {
	account := r.session.Connection.Account.Digest(r.record.Spec.Salt)
	record, err := r.ledger.StartAction(ctx, r.record, r.entry(), account)
	return r.recorded(record, err)
}

// cancel takes the name out of the ledger again.
func (r *reconciliation) cancel(ctx context.Context) error {
	record, err := r.ledger.CancelAction(ctx, r.record, r.entry())
	return r.recorded(record, err)
}

// recorded takes over what a write to the ledger gave. A record that has changed meanwhile is read again.
func (r *reconciliation) recorded(record *v1alpha1.ApplicationRecord, err error) error {
	switch {
	case err == nil:
		r.setRecord(record)
	case errors.Is(err, ledger.ErrLost):
		r.facts.record = recordFacts{}
	default:
		return err
	}
	return nil
}

// tellOfReset is before the action ends: who waits for that looks at the evidence of the Mandate next.
func (r *reconciliation) tellOfReset() {
	if r.resetEnded != nil && r.action.Spec.Type == v1alpha1.MandateActionResetIndividual {
		r.resetEnded(types.NamespacedName{Namespace: r.action.Namespace, Name: r.action.Spec.MandateRef.Name})
	}
}

// verify sees, right before the request, whether the action, its Mandate and the service are still as they were read:
// nobody has deleted, replaced, suspended or redirected them, and no other operator has ended the action.
func (r *reconciliation) verify(ctx context.Context) error {
	same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)
	if same && err == nil {
		same, err = r.objectsAreCurrent(ctx)
	}
	if err != nil {
		return err
	}
	r.facts.attempt.verified, r.facts.attempt.canceled = same, !same
	return nil
}

// objectsAreCurrent reports whether the action and its Mandate are as they were read.
func (r *reconciliation) objectsAreCurrent(ctx context.Context) (bool, error) {
	for _, read := range []struct {
		kind string
		as   *metav1.ObjectMeta
	}{{"Mandate", &r.mandate}, {"MandateAction", &r.action.ObjectMeta}} {
		name := types.NamespacedName{Namespace: read.as.Namespace, Name: read.as.Name}
		live, err := r.liveMetadata.Get(ctx, read.kind, name)
		if err != nil || live == nil ||
			live.UID != read.as.UID || live.ResourceVersion != read.as.ResourceVersion {
			return false, err
		}
	}
	return true, nil
}

// performForAttempt performs a step of an attempt that is recorded and has to be brought to an end. If the API server
// fails, nothing is sent.
func (r *reconciliation) performForAttempt(ctx context.Context, s step) error {
	if err := r.perform(context.WithoutCancel(ctx), s); err != nil {
		return r.cancelAttempt(err)
	}
	return nil
}

// cancelAttempt brings an attempt to its end that was not sent, as soon as the API server records that.
func (r *reconciliation) cancelAttempt(err error) error {
	r.facts.record = recordFacts{} // it may have been written
	r.facts.attempt.canceled = true
	return &engine.UnrecordedError{Err: err}
}
