// Package mandate is the controller of Mandates: one application each at the service, never two.
//
// decide (facts in, one step out) is the protocol; pass carries the steps out; status.go is the only writer of status.
package mandate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates/status,verbs=patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=applicationrecords,verbs=get;list;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles Mandates.
type Reconciler struct {
	// Cache has Mandates without their personal data, and may lag.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Status patches the status of Mandates, with strict field validation.
	Status client.SubResourceWriter
	// Events takes what people should hear of.
	Events events.EventRecorder
	// Metadata patches the finalizers of Mandates.
	Metadata    client.Writer
	Ledger      ledger.Ledger
	Connections *connection.Registry
	// ClusterServices tells that ClusterIdentityServices and namespaces can be read.
	ClusterServices bool
	// Suspect is told of a connection that failed a call, so that its IdentityService is looked at.
	Suspect func(connection.Key)
	// SettleDelay is more than twice what the service takes for any request: an attempt may go out until half of it is over.
	SettleDelay time.Duration
	// Clock tells the time: a real one, whose times hold what does not jump, too.
	Clock clock.Clock
	// GiveUpAfter is how long a deletion waits for the service.
	GiveUpAfter time.Duration

	memory memory
	// attempts is held for reading by every pass that may create an application, so that Drain can wait for them.
	attempts sync.RWMutex
}

// maxSteps is far more than any pass takes that reviews no checks.
const maxSteps = 50

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, workers int) error {
	if err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.Mandate{}, connection.MandateField, connection.IndexMandate); err != nil {
		return err
	}
	controlled := ctrl.NewControllerManagedBy(manager).Named("mandate")
	if r.ClusterServices {
		controlled.WatchesMetadata(connection.NewNamespace(), handler.EnqueueRequestsFromMapFunc(r.namespaceChanged), builder.WithPredicates(relabelled))
	}
	return controlled.
		For(&v1alpha1.Mandate{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.TypedChannel(r.Connections.Changes, handler.TypedFuncs[connection.Key, reconcile.Request]{GenericFunc: r.connectionChanged})).
		WatchesRawSource(source.Channel(r.Connections.Mandates.Called, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, maxBackoff),
		}).
		Complete(r)
}

// Drain keeps new attempts to create applications from beginning and waits for those under way, or until ctx ends. Call
// it before the process ends, whatever ended the manager: after a lost lease it does not wait for its controllers.
func (r *Reconciler) Drain(ctx context.Context) {
	done := make(chan struct{})
	go func() { r.attempts.Lock(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Reconcile makes one pass over a Mandate.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	result, err := r.pass(ctx, request)
	return result, apierror.Bare(err)
}

// pass takes steps until there is nothing left to do now.
func (r *Reconciler) pass(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	mandate := &v1alpha1.Mandate{}
	if err := r.Cache.Get(ctx, request.NamespacedName, mandate); err != nil {
		r.memory.forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	p, err := r.begin(ctx, mandate)
	if err != nil {
		return reconcile.Result{}, err
	}
	defer p.leave()
	for range maxSteps + 2*len(mandate.Spec.CheckReviews) {
		if result, ended, err := p.advance(ctx); ended || err != nil {
			return result, err
		}
	}
	return reconcile.Result{}, errors.New("reconciling a Mandate took too many steps, which is a defect of the operator")
}

// advance takes one step, and ends the pass if there is none to take, or no room at the service.
func (p *pass) advance(ctx context.Context) (result reconcile.Result, ended bool, err error) {
	p.facts.now = p.Clock.Now()
	decided := decide(p.facts)
	if decided.step == stepRest {
		result, err = p.end(ctx, decided)
		return result, true, err
	}
	if !p.enterLine(decided.step) {
		return reconcile.Result{RequeueAfter: jitter(connection.CalledLate), Priority: new(handler.LowPriority)}, true, nil
	}
	return reconcile.Result{}, false, p.act(ctx, decided.step)
}

// backedOff are the reasons that are tried again soon, and less and less often while they last.
var backedOff = []string{
	v1alpha1.ReasonRetrying, v1alpha1.ReasonReadFailed, v1alpha1.ReasonAdoptionRefused, v1alpha1.ReasonDeletionWaiting, v1alpha1.ReasonDeletionRefused,
}

// end writes the status and says when to look again.
func (p *pass) end(ctx context.Context, decided next) (reconcile.Result, error) {
	behind := reconcile.Result{RequeueAfter: time.Second}
	switch decided.reason {
	case reasonDeleting:
		return reconcile.Result{}, nil
	case reasonBehind:
		return behind, nil
	}
	failures := p.memory.failed(p.mandate, slices.Contains(backedOff, decided.reason), decided.reason == v1alpha1.ReasonServiceNotReady)
	err := p.writeStatus(ctx, decided.reason, failures)
	switch {
	case apierrors.IsConflict(err):
		return behind, nil
	case err != nil:
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	// Polls must not stand in the way of a Mandate that has no application yet, whether it is new or tried again.
	priority := 0
	if p.facts.id != 0 {
		priority = handler.LowPriority
	}
	return reconcile.Result{RequeueAfter: p.lookAgain(decided, failures), Priority: &priority}, nil
}

// lookAgain says when to reconcile if nothing happens; 0 is never.
func (p *pass) lookAgain(decided next, failures int) time.Duration {
	if decided.after > 0 {
		return jitter(decided.after) + decided.after/10
	}
	switch decided.reason {
	case v1alpha1.ReasonRetrying, v1alpha1.ReasonReadFailed, v1alpha1.ReasonAdoptionRefused:
		return backoff(failures)
	case v1alpha1.ReasonDeletionWaiting, v1alpha1.ReasonDeletionRefused:
		return min(backoff(failures), p.facts.deletion.giveUpTime.Sub(p.facts.now))
	case v1alpha1.ReasonConfirming:
		return jitter(p.facts.secondLook)
	case v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretInvalid, v1alpha1.ReasonRefused:
		return jitter(recheckInputs) // Secrets are not watched
	case v1alpha1.ReasonServiceNotFound, v1alpha1.ReasonServiceNotAllowed, v1alpha1.ReasonServiceMismatch, v1alpha1.ReasonServiceNotReady, v1alpha1.ReasonMandateTypeNotFound, v1alpha1.ReasonReferenceConflict,
		v1alpha1.ReasonOutcomeUnknown:
		return jitter(maxBackoff)
	case v1alpha1.ReasonAccepted, v1alpha1.ReasonNotArchived:
		if p.facts.id == 0 || p.final() && decided.reason != v1alpha1.ReasonNotArchived {
			return 0
		}
		return pollInterval(p.facts.now.Sub(p.lastChange()), p.connection)
	default:
		return 0
	}
}

// recheckInputs is how soon a mended Secret is noticed.
const recheckInputs = 30 * time.Second
