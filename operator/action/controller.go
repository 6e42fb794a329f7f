// Package action is the controller of MandateActions: one-shot orders, each carried out at most once.
//
// decide (facts in, one step out) is the protocol; pass carries the steps out; status.go is the only writer of status.
package action

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
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
)

// Secrets are looked for one by one, by their metadata, and created; the operator can neither list nor change them.
//
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions/status,verbs=patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates;identityservices;clusteridentityservices,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create

// Reconciler reconciles MandateActions.
type Reconciler struct {
	// Cache has orders, Mandates without their personal data, and IdentityServices. It may lag.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Writer creates Secrets and deletes orders.
	Writer client.Writer
	// Status patches the status of orders, with strict field validation.
	Status      client.SubResourceWriter
	Connections *connection.Registry
	// ClusterServices tells that ClusterIdentityServices and namespaces can be read.
	ClusterServices bool
	// Suspect is told of a connection that failed a call, so that its IdentityService is looked at.
	Suspect func(connection.Key)
	// SettleDelay is more than twice what the service takes for any request.
	SettleDelay time.Duration

	memory memory
	// attempts is held for reading by every pass that may e-mail somebody, so that Drain can wait for them.
	attempts sync.RWMutex
}

// maxHandover bounds how long an operator has, from when another one first sees its attempt, to write down what became of
// it. The client gives up an e-mailing call after 24 s: twelve to get it out, and twelve for the answer. If it has to ask a
// second time, without a body, that may take longer; see send.go for what that costs.
const maxHandover = 30 * time.Second

// maxSteps is far more than any pass takes.
const maxSteps = 20

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, workers int) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.MandateAction{}, mandateField, func(o client.Object) []string {
		return []string{o.(*v1alpha1.MandateAction).Spec.MandateRef.Name} //nolint:forcetypeassert // it is registered for MandateActions
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).Named("mandateaction").
		For(&v1alpha1.MandateAction{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Mandate{}, handler.EnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(source.Channel(r.Connections.Actions.Called, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, maxBackoff),
		}).
		Complete(r)
}

// Drain keeps new attempts from beginning and waits for those under way, or until ctx ends. Call it before the process
// ends, whatever ended the manager: after a lost lease it does not wait for its controllers.
func (r *Reconciler) Drain(ctx context.Context) {
	done := make(chan struct{})
	go func() { r.attempts.Lock(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Reconcile makes one pass over an order.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	result, err := r.pass(ctx, request)
	return result, apierror.Bare(err)
}

// pass takes steps until there is nothing left to do now.
func (r *Reconciler) pass(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	order := &v1alpha1.MandateAction{}
	if err := r.Cache.Get(ctx, request.NamespacedName, order); err != nil {
		r.memory.forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	p := r.begin(order)
	defer p.leave()
	if err := p.lookAtMandate(ctx, r.Cache); err != nil {
		return reconcile.Result{}, err
	}
	for range maxSteps {
		p.facts.now = time.Now()
		decided := decide(p.facts)
		if decided.step == stepRest {
			return p.end(ctx, decided)
		}
		if !p.enterLine(decided.step) {
			return reconcile.Result{RequeueAfter: connection.CalledLate}, nil
		}
		if err := p.act(ctx, decided.step); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, errors.New("reconciling a MandateAction took too many steps, which is a defect of the operator")
}
