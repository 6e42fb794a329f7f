package mandate

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// depositInMandate is for an id that the ledger cannot take because its namespace is being deleted. If the Mandate
// still exists, the reconciliation goes on with it as it is now: its deletionPolicy is carried out, or the status shows
// the id.
func (r *reconciliation) depositInMandate(ctx context.Context) error {
	id, live := r.facts.attempt.id, &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(r.live.Get(ctx, r.name(), live)); err != nil {
		return err
	}
	if live.UID != r.mandate.UID { // another one, or none
		r.facts.attempt = attemptFacts{}
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	r.mandate = r.mandate.DeepCopy() // which, unlike the live one, holds no personal data
	r.mandate.ResourceVersion = live.ResourceVersion
	r.mandate.Status = live.Status
	updated := live.Status.DeepCopy()
	r.showApplication(updated, id)
	version, err := r.patchStatus(ctx, updated)
	if err != nil {
		return err
	}
	r.mandate.ResourceVersion = version
	r.mandate.Status = *updated
	if live.DeletionTimestamp != nil { // the deletion made another generation, whose policy is carried out
		r.mandate.Generation = live.Generation
		r.mandate.DeletionTimestamp = live.DeletionTimestamp
		r.mandate.Spec.DeletionPolicy = live.Spec.DeletionPolicy
	}
	r.mandate.Finalizers = live.Finalizers
	r.facts.attempt = attemptFacts{}
	r.facts.id = id
	r.facts.bound = true
	r.facts.deletion = r.newDeletionFacts(r.mandate)
	r.facts.acts = actsNone // the service goes with the namespace, so what deletionPolicy says cannot wait
	return nil
}
