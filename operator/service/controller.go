// Package service is the controller of IdentityServices and ClusterIdentityServices: it keeps one client per
// connection, sees whether it works, and is the only one that reads credentials.
package service

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices/status;clusteridentityservices/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	// secretInterval is how soon a changed Secret is noticed: Secrets are read one by one, never listed or watched.
	secretInterval = 20 * time.Second
	// probeInterval is how often a connection that works is probed, and its reference data read again.
	probeInterval = 10 * time.Minute
	// requestedProbeInterval is how soon a connection is probed again on which requests have failed.
	requestedProbeInterval = 5 * time.Second
	// deletionInterval is how soon a service that is being deleted is reconciled again: Mandates are not watched here.
	deletionInterval = 2 * time.Second
	// workers is more than one, because a service that does not answer holds its worker up for a while.
	workers = 10
)

// probeBackoff is between two probes of a connection that fail.
var probeBackoff = engine.Backoff{Min: requestedProbeInterval, Max: 2 * time.Minute}

// Config is what a Reconciler works with.
type Config struct {
	// Cache has services and Mandates, these without their personal data. It may be stale.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Status patches the status of services, with strict field validation.
	Status client.SubResourceWriter
	// Metadata patches the finalizers of services.
	Metadata client.Writer
	// Events takes what people should hear of.
	Events events.EventRecorder
	// Connections is where the Reconciler puts them. It probes those whose circuit opens.
	Connections *connection.Registry
	// ClusterServices: the operator may read ClusterIdentityServices.
	ClusterServices bool
	// AllNamespaces: Cache has the Mandates of all namespaces.
	AllNamespaces bool
	// DeletionGiveUpAfter is how long a deletion waits for Mandates.
	DeletionGiveUpAfter time.Duration
	// UserAgent of the requests to the service.
	UserAgent string
	// Observe is called after every request to the service.
	Observe func(idv.RequestResult)
}

// Reconciler reconciles IdentityServices and ClusterIdentityServices.
type Reconciler struct {
	config    Config
	digestKey []byte
	limits    *lru.Cache // *idv.Limits by user

	mu      sync.Mutex
	entries map[connection.Key]*entry
	probes  chan event.TypedGenericEvent[connection.Key] // those that are requested
}

// entry is what is known of one service beside its status. It belongs to the one worker that reconciles the service,
// but for probeRequested, which is guarded by mu of the Reconciler.
type entry struct {
	made           inputs // that client was made from
	client         *idv.Client
	references     *idv.References
	err            error // of the last probe
	failures       int
	probeStarted   time.Time // when the last probe started
	probed         time.Time // and ended
	nextProbe      time.Time // no probe before it
	probeRequested bool
	handledRequest string // the last request to reconcile that was handled
}

// NewReconciler makes a Reconciler.
func NewReconciler(config Config) *Reconciler {
	r := &Reconciler{
		config:    config,
		digestKey: make([]byte, 32),
		limits:    lru.New(rememberedUsers),
		entries:   map[connection.Key]*entry{},
		probes:    make(chan event.TypedGenericEvent[connection.Key], 100),
	}
	_, _ = rand.Read(r.digestKey) // it never fails
	config.Connections.OnOpen(r.RequestProbe)
	return r
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
		Watches(&v1alpha1.IdentityService{}, enqueue, builder.WithPredicates(engine.SpecOrRequestChanged)).
		Watches(&v1alpha1.Mandate{}, handler.TypedEnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(source.TypedChannel(r.probes, enqueueKey))
	if r.config.ClusterServices {
		controlled.Watches(
			&v1alpha1.ClusterIdentityService{},
			enqueue,
			builder.WithPredicates(engine.SpecOrRequestChanged),
		)
	}
	return controlled.
		WithOptions(controller.TypedOptions[connection.Key]{
			MaxConcurrentReconciles: workers,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[connection.Key](
				500*time.Millisecond, secretInterval,
			),
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

// RequestProbe has a connection probed soon: a request on it failed. It never blocks.
func (r *Reconciler) RequestProbe(key connection.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[key]
	if e == nil || e.probeRequested {
		return
	}
	e.probeRequested = true
	select {
	case r.probes <- event.TypedGenericEvent[connection.Key]{Object: key}:
	default: // it is probed anyway, only later
	}
}

// Reconcile makes one connection, and probes it if it is time to.
func (r *Reconciler) Reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	service := key.NewService()
	if err := r.config.Cache.Get(ctx, key.ObjectKey(), service); err != nil {
		if apierrors.IsNotFound(err) {
			r.remove(ctx, key)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	needed, err := r.protect(ctx, key, service)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil // the cache is stale
	case err != nil:
		return reconcile.Result{}, client.IgnoreNotFound(err)
	case !service.GetDeletionTimestamp().IsZero() && len(service.GetFinalizers()) == 0:
		return reconcile.Result{}, nil // it is gone
	}
	e := r.entry(key)
	e.takeRequest(service)
	reason, err := r.connect(ctx, service, e)
	if err != nil {
		return reconcile.Result{}, err
	}
	if reason == "" {
		reason = r.probe(ctx, e)
	}
	r.publish(ctx, key, service, e, reason)
	if err := r.writeStatus(ctx, service, e.references, shownReason(service, reason), needed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	next := r.requeueAfter(e, time.Now())
	if !service.GetDeletionTimestamp().IsZero() {
		next = min(next, deletionInterval)
	}
	return reconcile.Result{RequeueAfter: next}, nil
}

// takeRequest has the service probed now if somebody asks for it. The hold-off after refused credentials stays.
func (e *entry) takeRequest(service connection.Service) {
	request := engine.ReconcileRequest(service)
	if request != "" && request != e.handledRequest && request != service.ServiceStatus().LastHandledReconcileAt {
		e.nextProbe = time.Time{}
	}
	e.handledRequest = request
}

// probe asks the service for its reference data if it is time to, and gives the reason for Ready.
func (r *Reconciler) probe(ctx context.Context, e *entry) string {
	if now := time.Now(); r.takeDue(e, now) {
		references, err := e.client.RetrieveReferences(ctx)
		if ctx.Err() != nil {
			return reasonFor(e.err) // the operator is being stopped: that says nothing about the service
		}
		e.recordProbe(now, references, err)
		if err != nil {
			log.FromContext(ctx).Info("The identity service is not usable",
				"error", err.Error(), "nextProbe", e.nextProbe.Sub(now).Round(time.Second).String())
		}
	}
	return reasonFor(e.err)
}

// recordProbe takes over what a probe found. A service that asks to wait is as usable as it was before.
func (e *entry) recordProbe(now time.Time, references *idv.References, err error) {
	busy := idv.KindOf(err) == idv.KindRateLimited && !e.probeStarted.IsZero()
	e.probeStarted, e.probed = now, time.Now()
	if err == nil {
		e.references, e.err = references, nil
		e.failures = 0
		e.nextProbe = now.Add(probeInterval)
		return
	}
	if !busy {
		e.err = err
	}
	e.failures++
	e.nextProbe = now.Add(max(probeBackoff.After(e.failures), idv.RetryAfterOf(err)))
}

// takeDue reports whether it is time for a probe, and takes the request for one. A request that comes while the probe
// is in flight leads to another probe: the failure behind it may be newer than what the probe finds.
func (r *Reconciler) takeDue(e *entry, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := !now.Before(e.nextProbe) ||
		e.probeRequested && e.err == nil && now.Sub(e.probeStarted) >= requestedProbeInterval
	if due {
		e.probeRequested = false
	}
	return due
}

// requeueAfter is when to reconcile next: for the next probe, or for a changed Secret, whichever is first.
func (r *Reconciler) requeueAfter(e *entry, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := secretInterval
	if e.client != nil && e.nextProbe.Sub(now) < next {
		next = e.nextProbe.Sub(now)
	}
	if e.probeRequested {
		next = min(next, requestedProbeInterval)
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
	r.config.Connections.Remove(ctx, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil && e.client != nil {
		e.client.Close()
	}
	delete(r.entries, key)
}
