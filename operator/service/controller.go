// Package service is the controller of IdentityServices and ClusterIdentityServices: it keeps one client per
// connection, sees whether it works, and is the only one that reads credentials.
package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
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
	// busyInterval is how soon a service is probed again whose last probe failed, unless it says how long or the circuit
	// opened.
	busyInterval = 5 * time.Second
	// deletionInterval is how soon a service that is being deleted is reconciled again. A changed Mandate enqueues its
	// service, too, but not a ClusterIdentityService if the operator watches some namespaces only.
	deletionInterval = 2 * time.Second
	// workers never wait for a service.
	workers = 10
)

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
	// Connections is where the Reconciler puts them. It shows when a circuit opens, and tests logins and reference data.
	Connections *connection.Registry
	// ClusterServices: the operator may read ClusterIdentityServices.
	ClusterServices bool
	// AllNamespaces: Cache has the Mandates of all namespaces.
	AllNamespaces bool
	// URLs says to which services the operator connects.
	URLs URLPolicy
	// MaxRequestsPerSecond is the ceiling of spec.requestsPerSecond; 0 is none. MinPollInterval is the floor of
	// spec.polling.minIntervalSeconds. Who edits a service shares the operator and the API server with others.
	MaxRequestsPerSecond int
	MinPollInterval      time.Duration
	// Notifications: the operator has a receiver.
	Notifications bool
	// DeletionGiveUpAfter is how long a deletion waits for Mandates.
	DeletionGiveUpAfter time.Duration
	// ServerClock is the clock that set the times of deletions.
	ServerClock engine.ServerClock
	// UserAgent of the requests to the service.
	UserAgent string
	// Budget bounds the memory of all connections for large responses.
	Budget *connection.Budget
	// Budgets know how much of spec.creation is used.
	Budgets *budget.Budgets
	// Observe is called after every request to the service.
	Observe func(idv.RequestResult)
}

// Reconciler reconciles IdentityServices and ClusterIdentityServices.
type Reconciler struct {
	config    Config
	digestKey []byte
	limits    *lru.Cache // *idv.Limits by user
	enqueue   func(connection.Key)

	mu      sync.Mutex
	entries map[connection.Key]*entry
}

// entry is what is known of one service beside its status. It belongs to the one worker that reconciles the service.
type entry struct {
	made           inputs // that client was made from
	client         *idv.Client
	breaker        *connection.CircuitBreaker
	references     *idv.References
	probe          *probe    // that is under way, or nil
	connected      bool      // a probe has succeeded with these credentials
	failure        idv.Kind  // of the last probe, until one succeeds
	cause          string    // of the failure
	keys           string    // what is wrong with the keys of the Secret; "": nothing
	nextProbe      time.Time // while the circuit is closed
	notBefore      time.Time // no probe at all: a Retry-After, or the hold-off of logins
	handledRequest string    // the last request to reconcile that was handled

	receiving receiving

	account accountFacts

	// written is the service after the last write of its status, which was computed from the version writtenFrom.
	written     connection.Service
	writtenFrom string
}

// NewReconciler makes a Reconciler.
func NewReconciler(config Config) *Reconciler {
	r := &Reconciler{
		config:    config,
		digestKey: make([]byte, 32),
		limits:    lru.New(maxRememberedUsers),
		enqueue:   func(connection.Key) {},
		entries:   map[connection.Key]*entry{},
	}
	_, _ = rand.Read(r.digestKey) // it never fails
	return r
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	breakerChanged := source.TypedFunc[connection.Key](
		func(_ context.Context, queue workqueue.TypedRateLimitingInterface[connection.Key]) error {
			r.enqueue = queue.Add
			r.config.Connections.ServiceChanged = queue.Add
			return nil
		},
	)
	changed := builder.WithPredicates(engine.SpecOrRequestChanged)
	controlled := builder.TypedControllerManagedBy[connection.Key](manager).Named("identityservice").
		Watches(&v1alpha1.IdentityService{}, engine.EnqueueService, changed).
		Watches(&v1alpha1.Mandate{}, handler.TypedEnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(breakerChanged)
	if r.config.ClusterServices {
		controlled.Watches(&v1alpha1.ClusterIdentityService{}, engine.EnqueueService, changed)
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

// Reconcile makes one connection, and has it probed if it is time to. Errors do not repeat what the API server said.
func (r *Reconciler) Reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	result, err := r.reconcile(ctx, key)
	return result, apierror.Redact(err)
}

func (r *Reconciler) reconcile(ctx context.Context, key connection.Key) (reconcile.Result, error) {
	service := key.NewService()
	err := r.config.Cache.Get(ctx, key.ObjectKey(), service)
	switch {
	case apierrors.IsNotFound(err), apierror.IsUnreadable(err):
		r.remove(ctx, key) // until it is created, or corrected
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	e := r.entry(key)
	service = e.latest(service)
	found, err := r.dependents(ctx, key, namesOf(service))
	if err != nil {
		return reconcile.Result{}, err
	}
	actions, err := budget.WaitingActions(ctx, r.config.Cache, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = r.protect(ctx, key, service, found.needed)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: time.Second}, nil // the cache is stale
	case err != nil:
		return reconcile.Result{}, client.IgnoreNotFound(err)
	case !service.GetDeletionTimestamp().IsZero() && len(service.GetFinalizers()) == 0:
		return reconcile.Result{}, nil // it is gone
	}
	e.takeRequest(service)
	problem, err := r.connect(ctx, service, e)
	if err != nil {
		return reconcile.Result{}, err
	}
	e.receiving = r.receiving(ctx, service, e.receiving)
	if problem == "" && r.probe(ctx, key, e) {
		return reconcile.Result{RequeueAfter: secretInterval}, nil // nothing is known of the service so far
	}
	e.account.classify(service, e.made.account, found, r.config.Connections.Proofs(key))
	r.publish(ctx, key, service, e, problem == "", found.unknown)
	edited := service.GetGeneration() != service.ServiceStatus().ObservedGeneration
	for _, action := range actions {
		if !action.Suspended {
			found.waiting++
		}
		if edited { // Mandates are told by publish
			r.config.Connections.Actions.WakeUp(action.NamespacedName)
		}
	}
	reason := shownReason(service, cmp.Or(problem, e.reason()))
	if err := r.writeStatus(ctx, service, e, reason, found); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	next := secretInterval
	if problem == "" {
		next = e.requeueAfter(time.Now())
	}
	if !service.GetDeletionTimestamp().IsZero() {
		next = min(next, deletionInterval)
	}
	return reconcile.Result{RequeueAfter: next}, nil
}

// latest is the service as its status was written last, while the cache still has the version before: a connection that
// becomes usable has it reconciled again at once, and the same status must not be written twice.
func (e *entry) latest(cached connection.Service) connection.Service {
	if e.written != nil && e.writtenFrom == cached.GetResourceVersion() {
		return e.written
	}
	e.written = nil
	return cached
}

// takeRequest has the service probed now if somebody asks for it. The hold-off after refused credentials stays.
func (e *entry) takeRequest(service connection.Service) {
	request := engine.ReconcileRequest(service)
	if request != "" && request != e.handledRequest && request != service.ServiceStatus().LastHandledReconcileAt {
		e.nextProbe = time.Time{}
		e.breaker.TestNow()
	}
	e.handledRequest = request
}

// reason returns the reason of the condition Ready. A service that asks to wait is as usable as it was before.
func (e *entry) reason() string {
	state, class, kind := e.breaker.Status()
	return cmp.Or(
		engine.If(state != connection.Closed, reasonFor(class, kind)),
		engine.If(e.connected && e.failure == idv.KindForbidden, v1alpha1.ReasonReferencesForbidden),
		engine.If(e.connected, v1alpha1.ReasonConnected),
		reasonFor(connection.References, e.failure),
	)
}

// selectableReferences is the part of the reference data that Mandates can select, in order and each once: a service
// may list it in any order. The rest does not have to stay in memory.
func selectableReferences(references *idv.References) *idv.References {
	types := slices.Clone(references.MandateTypes)
	for i := range types {
		types[i].Description = ""
	}
	slices.SortFunc(types, func(a, b idv.Reference) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Name, b.Name))
	})
	return &idv.References{MandateTypes: slices.Compact(types)}
}

// requeueAfter is when to reconcile next: for the next probe, or for a changed Secret, whichever is first. The circuit
// breaker says when it changes.
func (e *entry) requeueAfter(now time.Time) time.Duration {
	next := secretInterval
	switch state, _, _ := e.breaker.Status(); {
	case e.client == nil, e.probe != nil:
	case state == connection.Closed:
		next = min(next, max(e.nextProbe.Sub(now), e.notBefore.Sub(now)))
	case e.breaker.AwaitsProbe():
		next = min(next, e.notBefore.Sub(now))
	}
	return max(next, time.Second)
}

func (r *Reconciler) entry(key connection.Key) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[key] == nil {
		r.entries[key] = &entry{breaker: r.config.Connections.Breaker(key)}
	}
	return r.entries[key]
}

func (r *Reconciler) remove(ctx context.Context, key connection.Key) {
	r.config.Connections.Remove(ctx, key)
	r.config.Budgets.Forget(key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.closeClient()
	}
	delete(r.entries, key)
}
