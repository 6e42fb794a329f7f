package operator

import (
	"context"
	"errors"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
	"github.com/mandate-io/idv/operator/service"
)

// A stop ends within twenty seconds, a create under way included: it has twelve of its own.
const (
	shutdownTimeout = 16 * time.Second
	drainTimeout    = 18 * time.Second
)

// stuckMost is how many connections there have to be whose service does not answer, until all workers wait for one. It
// passes quickly: whoever does not answer is not asked any more.
const stuckMost = 4

// fieldOwner of everything that the operator writes.
const fieldOwner = "mandate-operator"

// Scheme knows the kinds that the operator reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(authorizationv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// Run runs the operator until ctx ends.
func Run(ctx context.Context, config *rest.Config, options Options) error {
	manager, err := newManager(config, options)
	if err != nil {
		return err
	}
	mandates, actions, err := setup(ctx, manager, options)
	if err != nil {
		return err
	}
	if err := errors.Join(manager.AddHealthzCheck("ping", healthz.Ping), manager.AddReadyzCheck("caches", cachesSynced(manager))); err != nil {
		return err
	}
	err = manager.Start(ctx)
	timeout := drainTimeout - shutdownTimeout
	if ctx.Err() == nil { // nobody stopped it: the lease was lost, and the manager did not wait for its controllers
		timeout = drainTimeout
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	var draining sync.WaitGroup
	draining.Go(func() { mandates.Drain(drain) })
	draining.Go(func() { actions.Drain(drain) })
	draining.Wait()
	return err
}

func newManager(config *rest.Config, options Options) (ctrl.Manager, error) {
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:                        Scheme(),
		Cache:                         cacheOptions(options.namespaces()),
		Metrics:                       metricsserver.Options{BindAddress: options.MetricsBindAddress},
		HealthProbeBindAddress:        options.HealthProbeBindAddress,
		PprofBindAddress:              options.PprofBindAddress,
		LeaderElection:                options.LeaderElect,
		LeaderElectionID:              options.LeaderElectionID,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(shutdownTimeout),
	})
}

// setup registers the controllers.
func setup(ctx context.Context, manager ctrl.Manager, options Options) (*mandate.Reconciler, *action.Reconciler, error) {
	// Strict: an API server with an older CRD must refuse what it would otherwise drop without a word.
	writer := client.WithFieldOwner(client.WithFieldValidation(manager.GetClient(), metav1.FieldValidationStrict), fieldOwner)
	clusterServices, err := mayShareServices(ctx, manager)
	if err != nil {
		return nil, nil, err
	}
	connections := connection.NewRegistry()
	connections.Mandates.Size, connections.Actions.Size = options.MaxConcurrentReconciles, options.MaxConcurrentReconciles
	services := &service.Reconciler{
		Cache: manager.GetClient(), Live: manager.GetAPIReader(), Status: writer.Status(), Metadata: writer,
		Events: manager.GetEventRecorder(fieldOwner), Connections: connections, ClusterServices: clusterServices,
		AllNamespaces: len(options.namespaces()) == 0, GiveUpAfter: options.DeletionGiveUpAfter, UserAgent: "mandate-operator/" + options.Version, Observe: observeRequest,
	}
	services.Init()
	mandates := &mandate.Reconciler{
		Cache: manager.GetClient(), Live: manager.GetAPIReader(), Status: writer.Status(), ClusterServices: clusterServices,
		Ledger:      ledger.Ledger{Reader: manager.GetAPIReader(), Writer: writer},
		Connections: connections, Suspect: services.Suspect, SettleDelay: options.SettleDelay,
		Events: manager.GetEventRecorder(fieldOwner), Metadata: writer, GiveUpAfter: options.DeletionGiveUpAfter, Clock: clock.RealClock{},
	}
	retention := &ledger.Retention{Ledger: mandates.Ledger, Mandates: manager.GetClient(), Namespaces: options.namespaces(), Keep: options.RecordRetention}
	actions := &action.Reconciler{
		Cache: manager.GetClient(), Live: manager.GetAPIReader(), Writer: writer, Status: writer.Status(), ClusterServices: clusterServices,
		Connections: connections, Suspect: services.Suspect, SettleDelay: options.SettleDelay,
	}
	return mandates, actions, errors.Join(
		services.SetupWithManager(manager),
		mandates.SetupWithManager(ctx, manager, stuckMost*options.MaxConcurrentReconciles),
		actions.SetupWithManager(ctx, manager, stuckMost*options.MaxConcurrentReconciles),
		manager.Add(retention),
		manager.Add(mandateCounter{manager.GetClient()}),
	)
}
