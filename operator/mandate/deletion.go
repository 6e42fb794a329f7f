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
)

func (r *Reconciler) deletionOf(mandate *v1alpha1.Mandate) deletionFacts {
	d := deletionFacts{
		policy: mandate.Spec.DeletionPolicy, finalizer: controllerutil.ContainsFinalizer(mandate, v1alpha1.ApplicationFinalizer),
		requested: !mandate.DeletionTimestamp.IsZero(),
	}
	if d.requested {
		d.giveUpTime = mandate.DeletionTimestamp.Add(r.GiveUpAfter)
	}
	return d
}

// setFinalizer puts the finalizer on a Mandate whose deletionPolicy needs it, and takes it off one that may go. Only the
// metadata travels: what a whole Mandate holds has no business here.
func (p *pass) setFinalizer(ctx context.Context) error {
	d := &p.facts.deletion
	before := partial(p.mandate)
	before.ResourceVersion, before.Finalizers = p.mandate.ResourceVersion, p.mandate.Finalizers
	after := before.DeepCopy()
	if d.finalizer {
		p.tellDeletion(ctx)
		controllerutil.RemoveFinalizer(after, v1alpha1.ApplicationFinalizer)
	} else {
		controllerutil.AddFinalizer(after, v1alpha1.ApplicationFinalizer)
	}
	err := p.Metadata.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		p.facts.trouble = reasonBehind
		return nil
	case err != nil:
		return err
	}
	p.mandate = p.mandate.DeepCopy()
	p.mandate.ResourceVersion, p.mandate.Finalizers = after.ResourceVersion, after.Finalizers
	d.finalizer = !d.finalizer
	return nil
}

// tellDeletion says what becomes of the application when the Mandate goes: nobody will see it afterwards.
func (p *pass) tellDeletion(ctx context.Context) {
	d, logger := p.facts.deletion, log.FromContext(ctx).WithValues("deletionPolicy", p.facts.deletion.policy, "applicationID", p.facts.id)
	switch {
	case !d.requested || !d.wantsFinalizer():
	case p.facts.id == 0 && (p.facts.records.sent || p.facts.unknown):
		p.givenUp("The Mandate is deleted, but its application may exist: its id was never known. Look for it at the service by " +
			"the reference in the operator's log.")
		logger.Error(nil, "Deleted the Mandate, but its application may exist: its id was never known",
			"reference", p.mandate.Status.Reference)
	case p.facts.id != 0 && !d.done && !p.facts.application.missing && !p.facts.application.archived && p.facts.outcome == "":
		p.givenUp("The Mandate is deleted, but its application is unchanged: the service did not answer in time, or refused. " +
			"Archive or delete the application at the service.")
		logger.Error(nil, "Deleted the Mandate, but not its application: the service did not answer in time, or refused")
	default:
		logger.Info("Deleted the Mandate and carried out its deletionPolicy")
	}
}

func (p *pass) givenUp(note string) {
	p.Events.Eventf(p.mandate, nil, corev1.EventTypeWarning, eventDeletionGivenUp, actionDelete, "%s", note)
}

// delete deletes the application: what is not there any more is deleted.
func (p *pass) delete(ctx context.Context) {
	d := &p.facts.deletion
	err := p.service.DeleteApplication(ctx, p.facts.id)
	switch {
	case err == nil, idv.IsNotFound(err):
		log.FromContext(ctx).Info("Deleted the application", "applicationID", p.facts.id)
		d.done = true
	case idv.IsRefusal(err):
		d.refused = true
		log.FromContext(ctx).Info("The service refused to delete the application", "error", err.Error())
	default:
		p.failed(ctx, err, v1alpha1.ReasonReadFailed)
	}
}
