package mandate

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// connectionChanged queues the Mandates of an IdentityService whose connection came, went or changed. Those whose
// application exists can wait until the others had their turn. Those with an outcome wait for nothing.
func (r *Reconciler) connectionChanged(ctx context.Context, change event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var mandates v1alpha1.MandateList
	err := r.Cache.List(ctx, &mandates, client.InNamespace(change.Object.GetNamespace()), client.MatchingFields{serviceField: change.Object.GetName()},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Listing the Mandates of an IdentityService failed; they are looked at when their time comes")
		return
	}
	for i := range mandates.Items {
		mandate := &mandates.Items[i]
		request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mandate)}
		byPriority, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request])
		switch {
		case mandate.Status.Outcome != "":
		case ok && mandate.Status.ApplicationID != nil:
			byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, request)
		default:
			queue.Add(request)
		}
	}
}
