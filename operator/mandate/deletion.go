package mandate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

func (r *Reconciler) newDeletionFacts(mandate *v1alpha1.Mandate) deletionFacts {
	d := deletionFacts{
		policy:    mandate.Spec.DeletionPolicy,
		finalizer: controllerutil.ContainsFinalizer(mandate, v1alpha1.ApplicationFinalizer),
		requested: !mandate.DeletionTimestamp.IsZero(),
	}
	if d.requested {
		d.giveUpTime = mandate.DeletionTimestamp.Add(r.giveUpAfter)
	}
	return d
}

// setFinalizer puts the finalizer on a Mandate whose deletionPolicy needs it, and takes it off one that may go. Only
// the metadata is sent and returned, because a whole Mandate has personal data.
func (r *reconciliation) setFinalizer(ctx context.Context) error {
	d := &r.facts.deletion
	before := engine.MetadataOf("Mandate", r.name())
	before.ResourceVersion, before.Finalizers = r.mandate.ResourceVersion, r.mandate.Finalizers
	after := before.DeepCopy()
	if d.finalizer {
		r.reportDeletion(ctx)
		controllerutil.RemoveFinalizer(after, v1alpha1.ApplicationFinalizer)
	} else {
		controllerutil.AddFinalizer(after, v1alpha1.ApplicationFinalizer)
	}
	err := r.metadata.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.facts.failureReason = reasonStaleCache
		return nil
	case err != nil:
		return err
	}
	r.mandate = r.mandate.DeepCopy()
	r.mandate.ResourceVersion, r.mandate.Finalizers = after.ResourceVersion, after.Finalizers
	d.finalizer = !d.finalizer
	return nil
}

// reportDeletion says what becomes of the application when the Mandate goes. It comes before the patch: afterwards the
// Mandate is gone, and a process that ends in between would have said nothing.
func (r *reconciliation) reportDeletion(ctx context.Context) {
	d, a := r.facts.deletion, r.facts.application
	logger := log.FromContext(ctx).WithValues("deletionPolicy", d.policy, "applicationID", r.facts.id)
	switch {
	case !d.requested || !d.wantsFinalizer():
	case r.facts.id == 0 && (r.facts.record.sent() || r.facts.unknown):
		r.givenUp("The operator releases the Mandate, but its application may exist: its id was never known. Look for it " +
			"at the service by the reference in the operator's log.")
		logger.Error(nil, "Releasing the Mandate, but its application may exist: its id was never known",
			"reference", r.mandate.Status.Reference)
	case r.facts.id != 0 && r.facts.outcome == "" && !a.missing() && !isShown(r.facts, deletionOrder(r.facts)):
		r.givenUp("The operator releases the Mandate, but its application may remain: the service did not answer in time, " +
			"or refused. Check it at the service, and archive or delete it there.")
		logger.Error(nil,
			"Releasing the Mandate, but its application may remain: the service did not answer in time, or refused")
	default:
		logger.Info("Releasing the Mandate, its deletionPolicy is carried out")
	}
}

func (r *reconciliation) givenUp(message string) {
	r.events.Eventf(
		r.mandate, nil, corev1.EventTypeWarning, engine.EventDeletionGivenUp, engine.ActionDelete, "%s", message)
}
