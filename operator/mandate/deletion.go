package mandate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
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
	case r.facts.id == 0 && (r.facts.record.sent || r.facts.unknown):
		r.givenUp("The operator releases the Mandate, but its application may exist: its id was never known. Look for it " +
			"at the service by the reference in the operator's log.")
		logger.Error(nil, "Releasing the Mandate, but its application may exist: its id was never known",
			"reference", r.mandate.Status.Reference)
	case r.facts.id != 0 && r.facts.outcome == "" && !d.done && !a.missing && !a.archived:
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

// delete deletes the application. Where the answer is that it does not exist, another read has to say so as well: the
// last one has just shown it, so the answer may be about something else.
func (r *reconciliation) delete(ctx context.Context) {
	d := &r.facts.deletion
	change, err := r.client.DeleteApplication(ctx, r.facts.id)
	r.settle(stepDelete, change, err)
	switch {
	case err == nil && change.Accepted:
		log.FromContext(ctx).Info("The service deletes the application later", "applicationID", r.facts.id)
	case err == nil:
		log.FromContext(ctx).Info("Deleted the application", "applicationID", r.facts.id)
		d.done = true
	case idv.IsRefusal(err):
		d.refused, r.facts.application.read = true, !idv.IsNotFound(err)
		log.FromContext(ctx).Info("The service refused to delete the application", "error", err.Error())
	default:
		r.requestFailed(ctx, err, v1alpha1.ReasonReadFailed)
	}
}
