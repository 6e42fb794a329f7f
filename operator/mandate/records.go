package mandate

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/ledger"
)

func (r *reconciliation) readRecord(ctx context.Context) error {
	record, err := r.ledger.ByReference(ctx, r.mandate.Namespace, r.session.Connection.URL, r.reference)
	if err != nil {
		return err
	}
	r.setRecord(record)
	r.facts.records.read = true
	if record == nil || r.facts.records.mine {
		return nil
	}
	r.facts.records.abandoned, err = r.abandoned(ctx, record)
	return err
}

// abandoned reports whether the Mandate of a record has no use for its reference any more. Two Mandates that want the
// same one would otherwise take the record from each other, and send, for ever.
func (r *reconciliation) abandoned(ctx context.Context, record *v1alpha1.ApplicationRecord) (bool, error) {
	owner := &v1alpha1.Mandate{}
	err := r.cache.Get(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.MandateRef.Name}, owner)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	wanted := owner.Status.Reference
	return wanted != "" && wanted != record.Spec.Reference, err
}

// listRecords looks for an attempt, or an application, under a reference or at a service that the Mandate had before an
// edit. What may have been created by it is the Mandate's, whatever the spec says now.
func (r *reconciliation) listRecords(ctx context.Context) error {
	records, err := r.ledger.OfMandate(ctx, r.mandate.Namespace, r.mandate.Name)
	if err != nil {
		return err
	}
	r.facts.records.listed = true
	var best *v1alpha1.ApplicationRecord
	for i := range records {
		if best == nil && r.weight(&records[i]) > 0 || best != nil && r.weight(&records[i]) > r.weight(best) {
			best = &records[i]
		}
	}
	if best != nil {
		r.reference = best.Spec.Reference
		r.facts.inputs = inputsFacts{} // they were for the other reference
		r.setRecord(best)
	}
	return nil
}

// weight of a record for this Mandate: 0 if it says nothing about it. An application counts more than an attempt, and
// what is at the service that is used now more than what is at another one.
func (r *reconciliation) weight(record *v1alpha1.ApplicationRecord) int {
	spec, here := &record.Spec, 0
	if spec.ServiceURL == r.session.Connection.URL {
		here = 1
	}
	switch id := spec.ApplicationID; {
	case !r.owns(spec):
		return 0
	case r.facts.id != 0 && (id == nil || *id != r.facts.id):
		return 0
	case id != nil:
		return 3 + here
	case spec.Attempt != nil && spec.Attempt.Sent:
		return 1 + here
	default:
		return 0
	}
}

// owns reports whether a record of this name is this Mandate's. That of an earlier Mandate is, if it asked for the
// same: for the same reference, or both for the default one, which another referencePrefix changes.
func (r *reconciliation) owns(spec *v1alpha1.ApplicationRecordSpec) bool {
	wanted := r.mandate.Spec.Reference
	switch {
	case spec.MandateRef.Name != r.mandate.Name: // a hash in the label could be of two names, and people can edit it
		return false
	case spec.MandateRef.UID == r.mandate.UID:
		return true
	case r.session.Connection.URL != "" && spec.ServiceURL != r.session.Connection.URL:
		return false
	default:
		return wanted == spec.Reference ||
			wanted == "" && reference.IsMandate(spec.Reference, r.mandate.Namespace, r.mandate.Name)
	}
}

// releaseRecord frees the reference for this Mandate where another one provably left nothing at the service.
func (r *reconciliation) releaseRecord(ctx context.Context) error {
	if err := r.ledger.Release(ctx, r.record); err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.setRecord(nil)
	return nil
}

// setRecord takes over what a record says.
func (r *reconciliation) setRecord(record *v1alpha1.ApplicationRecord) {
	r.record = record
	found := recordsFacts{read: r.facts.records.read || record != nil, listed: r.facts.records.listed}
	if record != nil {
		found.exists = true
		found.mine = record.Spec.MandateRef.Name == r.mandate.Name
		found.recordedAtOtherURL = record.Spec.ServiceURL != r.session.Connection.URL
		if id := record.Spec.ApplicationID; id != nil {
			found.id = *id
		}
		if a := record.Spec.Attempt; a != nil {
			found.sent = a.Sent
			found.ordinal = a.Ordinal
			found.verdict = a.Verdict
			found.inputs = a.Inputs
			found.firstStarted = a.FirstStartedTime.Time
			if found.mine && found.sent { // the only kind that is waited for: one attempt is remembered
				found.observed = r.firstSeen(a.Nonce)
			}
		}
		switch created := record.Spec.CreatedTime; {
		case !r.facts.createdTime.IsZero():
		case created != nil:
			r.facts.createdTime = created.Time
		case found.id != 0: // adopted after its own create had no answer
			r.facts.createdTime = found.firstStarted
		}
	}
	r.facts.records = found
	if found.mine && !found.recordedAtOtherURL && found.id != 0 && r.facts.id == 0 {
		r.facts.id = found.id
	}
}

// firstSeen is when this process first saw an attempt.
func (r *reconciliation) firstSeen(nonce string) time.Time {
	return r.localState.Update(r.mandate, func(s *localState) { s.attempt.See(nonce, r.clock.Now()) }).attempt.Time
}

// reloadIfLost has the ledger read again after a lost race: it says who won.
func (r *reconciliation) reloadIfLost(ctx context.Context, err error) error {
	if !errors.Is(err, ledger.ErrLost) {
		return err
	}
	log.FromContext(ctx).V(1).Info("ApplicationRecord changed meanwhile, reading it again")
	r.facts.records, r.facts.neverReconciled = recordsFacts{}, false
	r.record = nil
	return nil
}
