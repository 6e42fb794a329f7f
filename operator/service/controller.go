// Package service is the controller of IdentityServices: it keeps one client per connection, sees whether it works, and
// is the only one that reads credentials.
package service

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

const (
	// secretInterval is how soon a changed Secret is noticed: Secrets are read one by one, never listed or watched.
	secretInterval = 20 * time.Second
	// checkInterval is how often a connection that works is looked at, and its reference data read again.
	checkInterval = 10 * time.Minute
	// suspectInterval is how soon a connection is looked at again that calls have failed on.
	suspectInterval = 5 * time.Second
	maxRetry        = 2 * time.Minute
	// workers is more than one, because a service that does not answer holds its worker up for a while.
	workers = 10
)

// Reconciler reconciles IdentityServices.
type Reconciler struct {
	Cache  client.Reader
	Live   client.Reader
	Status client.SubResourceWriter
	// Metadata patches the finalizers of IdentityServices.
	Metadata    client.Writer
	Connections *connection.Registry
	UserAgent   string
	// Observe is told of every request to the service.
	Observe func(idv.Request)

	mu       sync.Mutex
	entries  map[types.NamespacedName]*entry
	suspects chan event.GenericEvent
}

// entry is what is known of one IdentityService beside its status. It belongs to the one worker that reconciles the
// IdentityService, but for suspect, which is guarded by mu of the Reconciler.
type entry struct {
	version    string // of spec and Secret that client was made from
	uid        types.UID
	spec       v1alpha1.IdentityServiceSpec
	client     *idv.Client
	references *idv.References
	err        error // of the last check
	failures   int
	checked    time.Time
	next       time.Time // no check before it
	suspect    bool
}

// New makes a Reconciler.
func New(manager ctrl.Manager, connections *connection.Registry, writer client.Client, userAgent string, observe func(idv.Request)) *Reconciler {
	return &Reconciler{
		Cache: manager.GetClient(), Live: manager.GetAPIReader(), Status: writer.Status(), Metadata: writer, Connections: connections, UserAgent: userAgent, Observe: observe,
		entries: map[types.NamespacedName]*entry{}, suspects: make(chan event.GenericEvent, 100),
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).Named("identityservice").
		For(&v1alpha1.IdentityService{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Mandate{}, handler.EnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(source.Channel(r.suspects, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, secretInterval),
		}).
		Complete(r)
}

// Suspect makes the controller look at a connection soon: a call on it failed. It never blocks.
func (r *Reconciler) Suspect(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[name]
	if e == nil || e.suspect {
		return
	}
	e.suspect = true
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	select {
	case r.suspects <- event.GenericEvent{Object: service}:
	default: // it is looked at anyway, only later
	}
}

// Reconcile looks at one connection.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	service := &v1alpha1.IdentityService{}
	if err := r.Cache.Get(ctx, request.NamespacedName, service); err != nil {
		r.remove(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	needed, err := r.protect(ctx, service)
	if err != nil {
		return reconcile.Result{}, err
	}
	if leaving := !service.DeletionTimestamp.IsZero(); leaving && !needed {
		return reconcile.Result{}, nil // it is gone, or waits for somebody else's finalizer
	}
	e := r.entry(request.NamespacedName)
	reason, err := r.connect(ctx, service, e)
	if err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case !service.DeletionTimestamp.IsZero():
		reason = v1alpha1.ReasonInUse
	case reason == "":
		reason = r.check(ctx, e)
	}
	r.publish(ctx, request.NamespacedName, service, e, reason)
	if err := r.writeStatus(ctx, service, e.references, reason); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{RequeueAfter: r.lookAgain(e, time.Now())}, nil
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
			log.FromContext(ctx).Info("The identity service cannot be used", "error", err.Error(), "nextLook", e.next.Sub(now).Round(time.Second).String())
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
	e.checked = now
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

func (r *Reconciler) entry(name types.NamespacedName) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[name] == nil {
		r.entries[name] = &entry{}
	}
	return r.entries[name]
}

func (r *Reconciler) remove(name types.NamespacedName) {
	r.Connections.Remove(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[name]; e != nil && e.client != nil {
		e.client.Close()
	}
	delete(r.entries, name)
}
