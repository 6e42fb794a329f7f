package mandate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// deleter keeps a Mandate with its finalizer until deletionPolicy is carried out, or given up.
type deleter struct {
	metadata client.Writer
	events   events.EventRecorder
	mandate  *v1alpha1.Mandate
}

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

// setFinalizer puts the finalizer on a Mandate whose deletionPolicy needs it, and takes it off one that may go.
func (r *reconciliation) setFinalizer(ctx context.Context) error {
	d := deleter{metadata: r.metadata, events: r.events, mandate: r.mandate}
	if r.facts.deletion.finalizer {
		d.report(ctx, r.facts)
	}
	mandate, err := d.switchFinalizer(ctx, r.facts.deletion)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.facts.failureReason = reasonStaleCache
		return nil
	case err != nil:
		return err
	}
	r.mandate = mandate
	r.facts.deletion.finalizer = !r.facts.deletion.finalizer
	return nil
}

// switchFinalizer gives the Mandate as it is then. Only the metadata is sent and returned, because a whole Mandate has
// personal data.
func (d *deleter) switchFinalizer(ctx context.Context, f deletionFacts) (*v1alpha1.Mandate, error) {
	before := engine.MetadataOf("Mandate", client.ObjectKeyFromObject(d.mandate))
	before.ResourceVersion, before.Finalizers = d.mandate.ResourceVersion, d.mandate.Finalizers
	after := before.DeepCopy()
	if f.finalizer {
		controllerutil.RemoveFinalizer(after, v1alpha1.ApplicationFinalizer)
	} else {
		controllerutil.AddFinalizer(after, v1alpha1.ApplicationFinalizer)
	}
	err := d.metadata.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return nil, err
	}
	mandate := d.mandate.DeepCopy()
	mandate.ResourceVersion, mandate.Finalizers = after.ResourceVersion, after.Finalizers
	return mandate, nil
}

// report says what becomes of the application when the Mandate goes. It comes before the patch: afterwards the Mandate
// is gone, and a process that ends in between would have said nothing.
func (d *deleter) report(ctx context.Context, f facts) {
	logger := log.FromContext(ctx).WithValues("deletionPolicy", f.deletion.policy, "applicationID", f.id)
	switch {
	case !f.deletion.requested || !f.deletion.wantsFinalizer():
	case f.id == 0 && (f.record.sent() || f.create.unknown):
		d.givenUp("The operator releases the Mandate, but its application may exist: its id was never known. Look for it " +
			"at the service by the reference in the operator's log.")
		logger.Error(nil, "Releasing the Mandate, but its application may exist: its id was never known",
			"reference", d.mandate.Status.Reference)
	case f.id != 0 && f.outcome == "" && !f.application.missing() && !isShown(f, f.deletion.order()):
		d.givenUp("The operator releases the Mandate, but its application may remain: the service did not answer in time, " +
			"or refused. Check it at the service, and archive or delete it there.")
		logger.Error(nil,
			"Releasing the Mandate, but its application may remain: the service did not answer in time, or refused")
	default:
		logger.Info("Releasing the Mandate, its deletionPolicy is carried out")
	}
}

func (d *deleter) givenUp(message string) {
	d.events.Eventf(
		d.mandate, nil, corev1.EventTypeWarning, engine.EventDeletionGivenUp, engine.ActionDelete, "%s", message)
}
