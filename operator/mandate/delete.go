package mandate

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/erasure"
)

// deleter keeps a Mandate with its finalizer until deletionPolicy is carried out, or given up. It erases inline
// personal data, too.
type deleter struct {
	*scope
	client   deleterClient
	live     client.Reader
	metadata client.Writer
	events   events.EventRecorder
}

type deleterClient interface {
	ArchiveApplication(ctx context.Context, id int64) (*idv.Change, error)
	DeleteApplication(ctx context.Context, id int64) (*idv.Change, error)
}

// giveUpAfter is how long a deletion waits, from the time that the API server has set to one of this process.
func (r *Reconciler) giveUpAfter() time.Duration {
	return r.config.ServerClock.Period(r.config.DeletionGiveUpAfter, r.clock)
}

func newDeletionFacts(mandate *v1alpha1.Mandate, giveUpAfter time.Duration) deletionFacts {
	d := deletionFacts{
		policy:    mandate.Spec.DeletionPolicy,
		finalizer: controllerutil.ContainsFinalizer(mandate, v1alpha1.ApplicationFinalizer),
		requested: !mandate.DeletionTimestamp.IsZero(),
	}
	if d.requested {
		d.giveUpTime = mandate.DeletionTimestamp.Add(giveUpAfter)
	}
	return d
}

// ordersStill reports whether the policy of a live Mandate is still the one whose call was begun.
func (r *deleter) ordersStill(live *v1alpha1.Mandate) bool {
	switch live.Spec.DeletionPolicy {
	case v1alpha1.DeletionPolicyArchive:
		return r.facts.attempt.kind == v1alpha1.CallArchive
	case v1alpha1.DeletionPolicyDelete:
		return r.facts.attempt.kind == v1alpha1.CallDelete
	default:
		return false
	}
}

// markArchiving says at the Mandate that its application is to be archived, before the record does: the record may go
// first with its namespace, and archiving may e-mail people. The mark of a request that may have been sent stays. A
// deletion e-mails nobody, is repeated, and needs no mark. It reports false if the call has to wait.
func (r *deleter) markArchiving(ctx context.Context, call *v1alpha1.Call) (bool, error) {
	marked := engine.ArchivingCall(r.mandate)
	if call.Kind != v1alpha1.CallArchive || marked != "" && !r.isUnsent(marked) {
		return true, nil
	}
	return r.patchMetadata(ctx, func(o client.Object) {
		o.SetAnnotations(labels.Merge(o.GetAnnotations(), labels.Set{v1alpha1.ArchivingAnnotation: call.Nonce}))
	})
}

// send archives or deletes the application.
func (r *deleter) send(ctx context.Context) (*idv.Change, error) {
	if r.facts.attempt.kind == v1alpha1.CallArchive {
		return r.client.ArchiveApplication(ctx, r.facts.id)
	}
	return r.client.DeleteApplication(ctx, r.facts.id)
}

// setFinalizer puts the finalizer on a Mandate whose deletionPolicy needs it, and takes it off one that may go.
func (r *deleter) setFinalizer(ctx context.Context) error {
	change := controllerutil.AddFinalizer
	if r.facts.deletion.finalizer {
		r.report(ctx, r.facts)
		change = controllerutil.RemoveFinalizer
	}
	patched, err := r.patchMetadata(ctx, func(o client.Object) { change(o, v1alpha1.ApplicationFinalizer) })
	if patched {
		r.facts.deletion.finalizer = !r.facts.deletion.finalizer
	}
	r.facts.deletion.refused = apierror.IsRefusal(err)
	return err
}

// patchMetadata changes the Mandate as it was read. It reports false if that is not the Mandate as it is.
func (r *deleter) patchMetadata(ctx context.Context, change func(client.Object)) (bool, error) {
	after, err := engine.PatchMetadata(ctx, r.metadata, "Mandate", r.mandate, change)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.facts.failureReason = reasonStaleCache
		return false, nil
	case err != nil:
		return false, err
	}
	r.mandate = r.mandate.DeepCopy()
	r.mandate.ResourceVersion, r.mandate.Finalizers = after.ResourceVersion, after.Finalizers
	r.mandate.Annotations = after.Annotations
	return true, nil
}

// report says what becomes of the application when the Mandate goes. It comes before the patch: afterwards the Mandate
// is gone, and a process that ends in between would have said nothing.
func (r *deleter) report(ctx context.Context, f facts) {
	logger := log.FromContext(ctx).WithValues("deletionPolicy", f.deletion.policy, "applicationID", f.id)
	switch {
	case !f.deletion.requested || !f.deletion.wantsFinalizer():
	case f.id == 0 && (f.record.sent() || f.create.unknown || f.observe.openCall): // the record may have gone first
		r.givenUp("The operator releases the Mandate, but its application may exist: its id was never known. Look for it " +
			"at the service by the reference of the Mandate.")
		logger.Error(nil, "Releasing the Mandate, but its application may exist: its id was never known",
			"reference", cmp.Or(r.mandate.Status.Reference, r.reference))
	case f.id != 0 && !f.deletion.carriedOut(f):
		r.givenUp("The operator releases the Mandate, but its application may remain: the service did not answer in time, " +
			"or refused. Check it at the service, and archive or delete it there.")
		logger.Error(nil,
			"Releasing the Mandate, but its application may remain: the service did not answer in time, or refused")
	default:
		logger.Info("Releasing the Mandate, its deletionPolicy is carried out")
	}
}

func (r *deleter) givenUp(message string) {
	r.events.Eventf(
		r.mandate, nil, corev1.EventTypeWarning, engine.EventDeletionGivenUp, engine.ActionDelete, "%s", message)
}

// erase removes inline personal data from the spec, in one write, and says what it leaves. What is read is used for
// that only.
func (r *deleter) erase(ctx context.Context) error {
	live := &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(r.live.Get(ctx, r.name(), live)); err != nil {
		return err
	}
	if live.ResourceVersion != r.mandate.ResourceVersion || live.UID != r.mandate.UID {
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	patch, left := erasure.Of(live)
	r.facts.erasure, r.facts.problems.erasure = erasureTried, left
	if patch == nil {
		return nil
	}
	written := engine.MetadataOf("Mandate", r.name())
	err := r.metadata.Patch(ctx, written, client.RawPatch(types.JSONPatchType, patch))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		r.facts.failureReason = reasonStaleCache
		return nil
	case err != nil:
		refused := erasesData.Refused(ctx, v1alpha1.ReasonRetrying, err)
		if refused == nil {
			return err
		}
		r.facts.erasure, r.facts.problems.erasure = erasureRefused, slices.Concat(left, refused)
		return nil
	}
	log.FromContext(ctx).Info("Erased inline personal data after the outcome")
	r.mandate = r.mandate.DeepCopy()
	r.mandate.ResourceVersion, r.mandate.Generation = written.ResourceVersion, written.Generation
	return nil
}
