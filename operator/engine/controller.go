package engine

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/operator/connection"
)

// ControllerOptions are those of the controllers whose reconciliations run here.
func ControllerOptions(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			500*time.Millisecond, MaxRequeue),
	}
}

// Wakeups reconciles the objects that can get a slot of a concurrency limiter.
func Wakeups(limiters *connection.Limiters) source.Source {
	return source.Channel(limiters.Wakeups, &handler.EnqueueRequestForObject{})
}
