// Package service is the controller of IdentityServices and ClusterIdentityServices: it keeps one client per connection,
// sees whether it works, and is the only one that reads credentials.
package service

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices/status;clusteridentityservices/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	// secretInterval is how soon a changed Secret is noticed: Secrets are read one by one, never listed or watched.
	secretInterval = 20 * time.Second
	// checkInterval is how often a connection that works is looked at, and its reference data read again.
	checkInterval = 10 * time.Minute
	// suspectInterval is how soon a connection is looked at again that calls have failed on.
	suspectInterval = 5 * time.Second
	maxRetry        = 2 * time.Minute
	// deletionInterval is how soon a service that is being deleted is looked at again: Mandates are not watched here.
	deletionInterval = 2 * time.Second
	// workers is more than one, because a service that does not answer holds its worker up for a while.
	workers = 10
)

// Reconciler reconciles IdentityServices and ClusterIdentityServices.
type Reconciler struct {
	// Cache has services and Mandates, these without their personal data. It may lag.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Status patches the status of services, with strict field validation.
	Status client.SubResourceWriter
	// Metadata patches the finalizers of services.
	Metadata client.Writer
	// Events takes what people should hear of.
	Events      events.EventRecorder
	Connections *connection.Registry
	// ClusterServices tells that ClusterIdentityServices can be read.
	ClusterServices bool
	// AllNamespaces tells that Cache has the Mandates of all namespaces.
	AllNamespaces bool
	// GiveUpAfter is how long a deletion waits for Mandates.
	GiveUpAfter time.Duration
	UserAgent   string
	// Observe is told of every request to the service.
	Observe func(idv.RequestResult)

	mu       sync.Mutex
	entries  map[connection.Key]*entry
	suspects chan event.TypedGenericEvent[connection.Key]
}

// entry is what is known of one service beside its status. It belongs to the one worker that reconciles the service, but
// for suspect, which is guarded by mu of the Reconciler.
type entry struct {
	made       inputs // that client was made from
	client     *idv.Client
	references *idv.References
	err        error // of the last check
	failures   int
	checked    time.Time // when the last check began
	looked     time.Time // and ended
	next       time.Time // no check before it
	suspect    bool
}

// Init makes the Reconciler ready for use, and has it look at connections on which calls fail.
func (r *Reconciler) Init() {
	r.entries, r.suspects = map[connection.Key]*entry{}, make(chan event.TypedGenericEvent[connection.Key], 100)
	r.Connections.Tripped = r.Suspect
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	enqueue := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, service client.Object) []connection.Key {
		return []connection.Key{connection.KeyOfService(service)}
	})
	enqueueKey := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, key connection.Key) []connection.Key {
		return []connection.Key{key}
	})
	controlled := builder.TypedControllerManagedBy[connection.Key](manager).Named("identityservice").
		Watches(&v1alpha1.IdentityService{}, enqueue, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Mandate{}, handler.TypedEnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(source.TypedChannel(r.suspects, enqueueKey))
	if r.ClusterServices {
		controlled.Watches(&v1alpha1.ClusterIdentityService{}, enqueue, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	return controlled.
		WithOptions(controller.TypedOptions[connection.Key]{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[connection.Key](500*time.Millisecond, secretInterval),
		}).
		WithLogConstructor(func(key *connection.Key) logr.Logger {
			logger := manager.GetLogger().WithValues("controller", "identityservice")
			if key != nil {
				logger = logger.WithValues("kind", key.Kind, "namespace", key.Namespace, "name", key.Name)
			}
			return logger
		}).
		Complete(r)
}

// Suspect makes the controller look at a connection soon: a call on it failed. It never blocks.
func (r *Reconciler) Suspect(key connection.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[key]
	if e == nil || e.suspect {
		return
	}
	e.suspect = true
	select {
	case r.suspects <- event.TypedGenericEvent[connection.Key]{Object: key}:
	default: // it is looked at anyway, only later
	}
}

// Reconcile looks at one connection.
func (r *Reconciler) Reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	service := key.NewService()
	if err := r.Cache.Get(ctx, key.ObjectKey(), service); err != nil {
		if apierrors.IsNotFound(err) {
			r.remove(ctx, key)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	needed, err := r.protect(ctx, key, service)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil // the cache is behind
	case err != nil:
		return reconcile.Result{}, client.IgnoreNotFound(err)
	case !service.GetDeletionTimestamp().IsZero() && len(service.GetFinalizers()) == 0:
		return reconcile.Result{}, nil // it is gone
	}
	e := r.entry(key)
	reason, err := r.connect(ctx, service, e)
	if err != nil {
		return reconcile.Result{}, err
	}
	if reason == "" {
		reason = r.check(ctx, e)
	}
	r.publish(ctx, key, service, e, reason)
	if err := r.writeStatus(ctx, service, e.references, orUnreadable(service, reason), needed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	next := r.lookAgain(e, time.Now())
	if !service.GetDeletionTimestamp().IsZero() {
		next = min(next, deletionInterval)
	}
	return reconcile.Result{RequeueAfter: next}, nil
}

// check asks the service for its reference data if it is time to, and gives the reason for Ready.
func (r *Reconciler) check(ctx context.Context, e *entry) string {
	if now := time.Now(); r.due(e, now) {
		references, err := e.client.RetrieveReferences(ctx)
		if ctx.Err() != nil {
			return reasonFor(e.err) // the operator is being stopped: that says nothing about the service
		}
		e.note(now, references, err)
		if err != nil {
			log.FromContext(ctx).Info("The identity service is not usable", "error", err.Error(), "nextCheck", e.next.Sub(now).Round(time.Second).String())
		}
		r.mu.Lock()
		e.suspect = false
		r.mu.Unlock()
	}
	return reasonFor(e.err)
}

// note takes down what a check found. A service that asks to wait is as usable as it was before.
func (e *entry) note(now time.Time, references *idv.References, err error) {
	busy := idv.KindOf(err) == idv.KindRateLimited && !e.checked.IsZero()
	e.checked, e.looked = now, time.Now()
	if err == nil {
		e.references, e.err, e.failures, e.next = references, nil, 0, now.Add(checkInterval)
		return
	}
	if !busy {
		e.err = err
	}
	e.failures++
	e.next = now.Add(max(min(suspectInterval<<min(e.failures-1, 6), maxRetry), idv.RetryAfterOf(err)))
}

func (r *Reconciler) due(e *entry, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !now.Before(e.next) || e.suspect && e.err == nil && now.Sub(e.checked) >= suspectInterval
}

// lookAgain is when to reconcile next: for the next check, or for a changed Secret, whichever is first.
func (r *Reconciler) lookAgain(e *entry, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := secretInterval
	if e.client != nil && e.next.Sub(now) < next {
		next = e.next.Sub(now)
	}
	if e.suspect {
		next = min(next, suspectInterval)
	}
	return max(next, time.Second)
}

func (r *Reconciler) entry(key connection.Key) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[key] == nil {
		r.entries[key] = &entry{}
	}
	return r.entries[key]
}

func (r *Reconciler) remove(ctx context.Context, key connection.Key) {
	r.Connections.Remove(ctx, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil && e.client != nil {
		e.client.Close()
	}
	delete(r.entries, key)
}
