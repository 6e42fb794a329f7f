// Package mandate is the controller of Mandates: one application each at the service, never two.
//
// Five sub-reconcilers share the work: delete, create, observe, act and subscribe. Each has facts and a pure decide, in
// the files decide*.go, which do no I/O, and performs its own steps. decide asks them in order. The reconciliation runs
// them in the loop of package engine, makes the calls that they order, and composes the status.
package mandate

import (
	"cmp"
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/erasure"
	"github.com/mandate-io/idv/operator/ledger"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates/status,verbs=patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=applicationrecords,verbs=get;list;create;patch;delete;record
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Config is what a Reconciler works with.
type Config struct {
	// Services gives Mandates their connections.
	Services engine.Services
	// Cache has Mandates without their personal data. It may be stale.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Status patches the status of Mandates, with strict field validation.
	Status client.SubResourceWriter
	// Metadata patches the finalizers of Mandates.
	Metadata client.Writer
	// Ledger has the ApplicationRecords.
	Ledger ledger.Ledger
	// Budgets limit what e-mails individuals.
	Budgets *budget.Budgets
	// Events takes what people should hear of.
	Events events.EventRecorder
	// Recovered is told when the application of a create without a clear answer is known, and by what. It must not block;
	// nil: nobody is told.
	Recovered func(RecoveredBy)
	// Took is told how long a journey took that has ended. It must not block; nil: nobody is told.
	Took func(Journey, time.Duration)
	// SettleDelay is more than twice what the service takes for any request: an attempt may go out until half of it is
	// over.
	SettleDelay time.Duration
	// RuleDelay is for how long the rule of a decision has to hold. No tenant can shorten it.
	RuleDelay time.Duration
	// DeletionGiveUpAfter is how long a deletion waits for the service.
	DeletionGiveUpAfter time.Duration
	// ServerClock is the clock that set the times of deletions.
	ServerClock engine.ServerClock
	// StandIn gives a plan what it works with in place of a service. It shows of an application what the status of
	// its Mandate shows, so the evidence of checks is the one in the status.
	// Nil: services are real.
	StandIn func(connection.Key) ServiceClient
	// Clock is the time of a plan. Nil: a real one.
	Clock clock.Clock
}

// Reconciler reconciles Mandates.
type Reconciler struct {
	config       Config
	liveServices *connection.LiveReader
	newSalt      func() string
	clock        clock.Clock // a real one, whose times have a monotonic part, too
	started      time.Time   // when this process began to fill its caches; zero: not known

	localState engine.LocalState[localState]
	runner     engine.Runner[step]
	missing    missingApplications
	written    engine.StatusWrites // by polls
	subscribed subscribedApplications

	wake          func(types.NamespacedName) // reconciles a Mandate now
	adoptionMutex sync.Mutex                 // held while the ledger is searched for another holder, and written
}

// NewReconciler makes a Reconciler.
func NewReconciler(config Config) *Reconciler {
	live := connection.ServiceReader{Reader: config.Live, ClusterServices: config.Services.ClusterServices}
	now := cmp.Or[clock.Clock](config.Clock, clock.RealClock{})
	return &Reconciler{
		config:       config,
		liveServices: connection.NewLiveReader(live),
		newSalt:      ledger.NewSalt,
		clock:        now,
		started:      now.Now(),
		wake:         func(types.NamespacedName) {},
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, workers int) error {
	err := manager.GetFieldIndexer().
		IndexField(ctx, &v1alpha1.Mandate{}, connection.MandateField, connection.IndexMandate)
	if err != nil {
		return err
	}
	controlled := ctrl.NewControllerManagedBy(manager).Named("mandate")
	if r.config.Services.ClusterServices {
		controlled.WatchesMetadata(connection.NewNamespace(),
			handler.EnqueueRequestsFromMapFunc(r.namespaceChanged), builder.WithPredicates(labelsChanged))
	}
	wakeups := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.wake = func(name types.NamespacedName) { engine.Enqueue(queue, reconcile.Request{NamespacedName: name}, true) }
		return nil
	})
	connectionChanged := handler.TypedFuncs[connection.Key, reconcile.Request]{GenericFunc: r.connectionChanged}
	return controlled.
		For(&v1alpha1.Mandate{}, builder.WithPredicates(engine.SpecOrRequestChanged)).
		WatchesRawSource(source.TypedChannel(r.config.Services.Connections.Changes, connectionChanged)).
		WatchesRawSource(wakeups).
		WatchesRawSource(engine.Wakeups(r.config.Services.Connections.Mandates)).
		WithOptions(engine.ControllerOptions[reconcile.Request](workers)).
		Complete(r)
}

// Drain admits no more attempts to create an application, and waits for those under way, or until ctx ends.
func (r *Reconciler) Drain(ctx context.Context) { r.runner.Drain(ctx) }

// Unrecorded counts the attempts whose end the ledger does not have yet.
func (r *Reconciler) Unrecorded() int { return r.runner.Unrecorded() }

// FailedRecords counts the tries to write the end of an attempt into the ledger that failed.
func (r *Reconciler) FailedRecords() int { return r.runner.FailedRecords() }

// Reconcile performs steps until there is nothing left to do for a Mandate now.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	name := request.NamespacedName
	defer r.config.Services.Connections.Mandates.Done(name)
	return r.runner.Run(ctx, name, func() (engine.Reconciliation[step], error) {
		mandate := &v1alpha1.Mandate{}
		if err := r.config.Cache.Get(ctx, name, mandate); apierror.IsUnreadable(err) {
			return nil, nil // until it is corrected
		} else if err != nil {
			r.localState.Forget(name)
			r.config.Services.Connections.Mandates.Forget(name)
			r.missing.remove(name)
			return nil, client.IgnoreNotFound(err)
		}
		return r.newReconciliation(ctx, mandate)
	})
}

// connectionChanged queues the Mandates of an IdentityService whose connection came, went or changed. Those whose
// application exists have a low priority. Those with a final outcome wait for nothing but their erasure.
func (r *Reconciler) connectionChanged(
	ctx context.Context,
	change event.TypedGenericEvent[connection.Key],
	queue workqueue.TypedRateLimitingInterface[reconcile.Request],
) {
	var mandates v1alpha1.MandateList
	err := r.config.Cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, client.InNamespace(change.Object.Namespace),
		client.MatchingFields{connection.MandateField: change.Object.String()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the Mandates of an IdentityService, will reconcile them on schedule")
		return
	}
	connected, _ := r.config.Services.Connections.Get(change.Object)
	for i := range mandates.Items {
		mandate := &mandates.Items[i]
		request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mandate)}
		if outcome := mandate.Status.Outcome; outcome == "" || outcome == v1alpha1.OutcomeDeleted ||
			erasure.IsDue(mandate, connected.AfterOutcome) {
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
	if err := r.config.Cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy); err != nil {
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
