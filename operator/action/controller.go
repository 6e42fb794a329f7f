// Package action is the controller of MandateActions: one-shot requests of users, each carried out at most once.
//
// decide (facts in, one step out) is the protocol and does no I/O. The reconciliation performs the steps, in the loop
// of package engine. status.go is the only writer of status.
package action

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// Secrets are looked for one by one, by their metadata; the operator can neither list nor change them. What lets it
// create reports is in config/reports, and not in the role that the markers make.
//
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandateactions/status,verbs=patch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=mandates;identityservices;clusteridentityservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=idv.mandate.io,resources=applicationrecords,verbs=get;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Config is what a Reconciler works with.
type Config struct {
	// Services gives Mandates their connections.
	Services engine.Services
	// Cache has MandateActions, and Mandates without their personal data. It may be stale.
	Cache client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Writer creates Secrets and SelfSubjectAccessReviews, and deletes MandateActions.
	Writer client.Writer
	// Ledger has the ApplicationRecords.
	Ledger ledger.Ledger
	// Budgets limit what e-mails individuals.
	Budgets *budget.Budgets
	// Status patches the status of MandateActions, with strict field validation.
	Status client.SubResourceWriter
	// Events takes what people should hear of.
	Events events.EventRecorder
	// Ended is told of each action that has ended. It must not block; nil: nobody is told.
	Ended func(actionType v1alpha1.MandateActionType, complete bool, reason string)
	// ResetEnded is told of each reset of an individual that has ended, complete or not, once the record of the Mandate
	// says what it will say of it. It must not block; nil: nobody is told.
	ResetEnded func(mandate types.NamespacedName)
	// SettleDelay is more than twice what the service takes for any request.
	SettleDelay time.Duration
	// ServerClock is the clock that set the times of creations.
	ServerClock engine.ServerClock
	// StandIn gives a plan what it works with in place of a service.
	// Nil: services are real.
	StandIn func(connection.Key) ServiceClient
	// Clock is the time of a plan. Nil: a real one.
	Clock clock.Clock
}

// Reconciler reconciles MandateActions.
type Reconciler struct {
	engine.Runner[step]

	config       Config
	liveServices *connection.LiveReader
	handover     time.Duration
	clock        clock.Clock

	localState engine.LocalState[localState]
}

// maxHandover bounds how long an operator has, from when another one first sees its call, to record what became of it.
// The client gives up an e-mailing request after 24 s: twelve to get it out, and twelve for the answer. A call that
// takes longer is Unknown until its own operator records the result, and is not sent again in between.
const maxHandover = 30 * time.Second

// NewReconciler makes a Reconciler.
func NewReconciler(config Config) *Reconciler {
	live := connection.ServiceReader{Reader: config.Live, ClusterServices: config.Services.ClusterServices}
	return &Reconciler{
		config:       config,
		liveServices: connection.NewLiveReader(live),
		handover:     min(config.SettleDelay, maxHandover),
		clock:        cmp.Or[clock.Clock](config.Clock, clock.RealClock{}),
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, workers int) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.MandateAction{}, mandateField, indexAction)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).Named("mandateaction").
		For(&v1alpha1.MandateAction{}, builder.WithPredicates(engine.SpecChanged)).
		Watches(&v1alpha1.Mandate{}, handler.EnqueueRequestsFromMapFunc(r.mandateChanged)).
		WatchesRawSource(engine.Wakeups(r.config.Services.Connections.Actions)).
		WithOptions(engine.ControllerOptions[reconcile.Request](workers)).
		Complete(r)
}

// Reconcile performs steps until there is nothing left to do for a MandateAction now.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	name := request.NamespacedName
	defer r.config.Services.Connections.Actions.Done(name)
	return r.Run(ctx, name, func() (engine.Reconciliation[step], error) {
		action := &v1alpha1.MandateAction{}
		if err := r.config.Cache.Get(ctx, name, action); apierror.IsUnreadable(err) {
			return nil, nil // until it is corrected
		} else if err != nil {
			r.localState.Forget(name)
			r.config.Services.Connections.Actions.Forget(name)
			return nil, client.IgnoreNotFound(err)
		}
		return r.newReconciliation(ctx, action)
	})
}
