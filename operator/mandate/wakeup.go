package mandate

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// connectionChanged queues the Mandates of an IdentityService whose connection came, went or changed. Those whose
// application exists have a low priority. Those with a final outcome wait for nothing.
func (r *Reconciler) connectionChanged(
	ctx context.Context,
	change event.TypedGenericEvent[connection.Key],
	queue workqueue.TypedRateLimitingInterface[reconcile.Request],
) {
	var mandates v1alpha1.MandateList
	err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, client.InNamespace(change.Object.Namespace),
		client.MatchingFields{connection.MandateField: change.Object.String()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the Mandates of an IdentityService, will reconcile them on schedule")
		return
	}
	for i := range mandates.Items {
		mandate := &mandates.Items[i]
		request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mandate)}
		if outcome := mandate.Status.Outcome; outcome == "" || outcome == v1alpha1.OutcomeDeleted {
			engine.Enqueue(queue, request, mandate.Status.ApplicationID == nil)
		}
	}
}

// labelsChanged is for namespaces. That one is seen for the first time changes nothing.
var labelsChanged = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	DeleteFunc:  func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc:  predicate.LabelChangedPredicate{}.Update,
}

// namespaceChanged gives the Mandates that a ClusterIdentityService may have become open to, or closed. It asks for
// those of all namespaces: all namespaces are seen, and a cache of some refuses to list any other.
func (r *Reconciler) namespaceChanged(ctx context.Context, namespace client.Object) []reconcile.Request {
	var mandates v1alpha1.MandateList
	if err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the Mandates of a namespace, will reconcile them on schedule")
		return nil
	}
	var requests []reconcile.Request
	for i := range mandates.Items {
		mandate := &mandates.Items[i]
		if mandate.Namespace == namespace.GetName() &&
			mandate.Spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mandate)})
		}
	}
	return requests
}
