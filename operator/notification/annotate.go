package notification

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// annotate writes a hint to its Mandate, and takes from it what is written, or is not needed any more. It says when to
// look at the Mandate again.
func (n *Notifier) annotate(ctx context.Context, name types.NamespacedName, h *hint) (after time.Duration, err error) {
	mandate := &v1alpha1.Mandate{}
	if err := n.cache.Get(ctx, name, mandate); err != nil {
		return 0, err
	}
	after, conflict := n.annotateAs(ctx, mandate, h)
	if !apierrors.IsConflict(conflict) {
		return after, conflict
	}
	// The cache is behind, and nobody knows for how long. The metadata has all that is compared, and no personal data.
	live, err := n.live.Get(ctx, "Mandate", name)
	if err != nil || live == nil || live.UID != mandate.UID {
		return 0, cmp.Or(err, conflict)
	}
	mandate.ObjectMeta = live.ObjectMeta
	return n.annotateAs(ctx, mandate, h)
}

// annotateAs does so, unless the Mandate has changed: it may have a request of a person, or ids of another replica.
func (n *Notifier) annotateAs(
	ctx context.Context, mandate *v1alpha1.Mandate, h *hint,
) (after time.Duration, err error) {
	now, given := n.clock.Now(), *h
	last := engine.ParseNotificationRequest(engine.ReconcileRequest(mandate)) // of another replica, or this one
	if h.last.Time.After(last.Time) {
		last = h.last // which the cache may not have yet
	}
	if wait := last.Wait(now); wait > 0 && !n.draining.Load() {
		return wait, nil
	}
	annotations, before := map[string]string{}, engine.Candidates(mandate)
	all := merge(merge(slices.Clone(before), h.candidates), h.referenced)
	all = all[max(len(all)-v1alpha1.MaxCandidates, 0):]
	isNamed := func(id int64) bool { return slices.Contains(before, id) }
	h.read = h.read || awaitsID(mandate) && slices.ContainsFunc(h.candidates, isNamed) // it is looked for once more
	if awaitsID(mandate) && !slices.Equal(all, before) {
		annotations[v1alpha1.CandidateAnnotation] = engine.FormatCandidates(all)
	}
	request := engine.ReconcileRequest(mandate)
	switch {
	case !h.read || !isReadable(mandate):
	case !isAcknowledged(mandate, request) && h.deferred != request:
		h.deferred = request // it is not hidden, so that the status acknowledges it
	case isAcknowledged(mandate, request):
		annotations[v1alpha1.ReconcileRequestAnnotation] = last.Next(now).String()
		h.read = false
	default:
		h.read = false // the application is read for that person, and after the delivery
	}
	if len(annotations) > 0 {
		if err := n.patch(ctx, mandate, annotations); err != nil {
			*h = given
			return 0, err
		}
		h.last = last.Next(now)
	}
	h.candidates, h.referenced = nil, nil
	h.read = h.read && isReadable(mandate)
	return interval, nil
}

// isReadable reports whether a read of the application can change anything.
func isReadable(m *v1alpha1.Mandate) bool {
	return !m.Spec.Suspend && (m.Status.Outcome == "" || m.Status.Outcome == v1alpha1.OutcomeDeleted)
}

// isAcknowledged reports whether a request is not that of a person who still waits for it.
func isAcknowledged(m *v1alpha1.Mandate, request string) bool {
	return request == "" || engine.IsNotification(request) || request == m.Status.LastHandledReconcileAt
}

// patch sets annotations, if the Mandate has not changed since it was read.
func (n *Notifier) patch(ctx context.Context, read *v1alpha1.Mandate, annotations map[string]string) error {
	metadata := map[string]any{"annotations": annotations, "resourceVersion": read.ResourceVersion}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	object := engine.MetadataOf("Mandate", client.ObjectKeyFromObject(read))
	return n.metadata.Patch(ctx, object, client.RawPatch(types.MergePatchType, data))
}
