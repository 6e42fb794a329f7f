package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/operator/connection"
)

// The reason of the event that every controller makes when it stops to wait for the service, and the actions of events.
// Reasons of conditions are reasons of events, too.
const (
	EventDeletionGivenUp = "DeletionGivenUp"

	ActionObserve   = "Observe"
	ActionReconcile = "Reconcile"
	ActionDelete    = "Delete"
)

// ControllerOptions are those of the controllers whose reconciliations run here.
func ControllerOptions[T comparable](workers int) controller.TypedOptions[T] {
	return controller.TypedOptions[T]{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[T](500*time.Millisecond, MaxRequeue),
	}
}

// EnqueueService queues a service by its Key.
var EnqueueService = handler.TypedEnqueueRequestsFromMapFunc(
	func(_ context.Context, service client.Object) []connection.Key {
		return []connection.Key{connection.KeyOfService(service)}
	},
)

// Wakeups reconciles the objects that can get a slot of a concurrency limiter.
func Wakeups(limiters *connection.Limiters) source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		limiters.OnWakeUp(func(object types.NamespacedName, urgent bool) {
			Enqueue(queue, reconcile.Request{NamespacedName: object}, urgent)
		})
		return nil
	})
}

// Enqueue queues an object now. Those that are not urgent must not delay others, such as polls.
func Enqueue(queue workqueue.TypedRateLimitingInterface[reconcile.Request], request reconcile.Request, urgent bool) {
	if byPriority, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: Priority(urgent)}, request)
		return
	}
	queue.Add(request)
}

// Priority in the workqueue.
func Priority(urgent bool) *int {
	if urgent {
		return new(0)
	}
	return new(handler.LowPriority)
}
