package operator

import (
	"context"
	"errors"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
	"github.com/mandate-io/idv/operator/notification"
	"github.com/mandate-io/idv/operator/service"
)

// A stop ends within twenty seconds, a create under way included: it has twelve of its own.
const (
	shutdownTimeout = 16 * time.Second
	drainTimeout    = 18 * time.Second
)

// A leader that is killed is replaced within twenty seconds: the lease ends, and the next replica looks twice. One that
// ends on request gives the lease up, and the next replica looks at most 2.2 retryPeriods later.
const (
	leaseDuration = 14 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = time.Second
)

// responseBudget is the memory for large responses of all services at one time. The Pod's memory limit in
// config/manager leaves room for it, and for a response of a megabyte to every create that can be under way.
const responseBudget = 32 << 20

// fieldOwner of everything that the operator writes.
const fieldOwner = "mandate-operator"

// Scheme knows the kinds that the operator reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(authorizationv1.AddToScheme(scheme))
	utilruntime.Must(coordinationv1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// Run runs the operator until ctx ends.
func Run(ctx context.Context, config *rest.Config, options *Options) error {
	serverClock := &serverClock{}
	manager, err := newManager(ctx, config, options, serverClock)
	if err != nil {
		return err
	}
	drainers, err := addControllers(ctx, manager, options, serverClock)
	if err != nil {
		return err
	}
	stopped := make(chan time.Time, 1)
	defer context.AfterFunc(ctx, func() { stopped <- time.Now() })()
	err = manager.Start(ctx)
	began := time.Now() // of the shutdown: the lease was lost, and the manager did not wait for its controllers
	if ctx.Err() != nil {
		began = <-stopped
	}
	drain, cancel := context.WithDeadline(context.WithoutCancel(ctx), began.Add(drainTimeout))
	defer cancel()
	var draining sync.WaitGroup
	for _, drainer := range drainers {
		draining.Go(func() { drainer.Drain(drain) })
	}
	draining.Wait()
	return err
}

// Receive runs the receiver of notifications alone, until ctx ends. Its account reads no Secret, and changes
// annotations only.
func Receive(ctx context.Context, config *rest.Config, options *Options) error {
	manager, err := newManager(ctx, config, options, &serverClock{})
	if err != nil {
		return err
	}
	clusterServices, err := canReadClusterServices(ctx, manager)
	if err != nil {
		return err
	}
	if err := addNotifications(ctx, manager, options, clusterServices); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// addChecks adds what the probes and the metrics say of the cache.
func addChecks(manager ctrl.Manager, watched *watches) error {
	errs := []error{
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("caches", cachesSynced(manager)),
		manager.Add(leaderMetrics(watchMetrics(watched))),
	}
	for _, kind := range watchedKinds { // /readyz shows only the names of the checks that fail
		errs = append(errs, manager.AddReadyzCheck("watch-"+kind, watched.check(kind)))
	}
	return errors.Join(errs...)
}

// newManager waits for the CRDs, and makes a manager with the checks. Its requests set the clock.
func newManager(
	ctx context.Context, config *rest.Config, options *Options, serverClock *serverClock,
) (ctrl.Manager, error) {
	setBuildInfo(options.version)
	config = tolerant.Config(config)
	config.Wrap(serverClock.wrap)
	if err := awaitKinds(ctx, config); err != nil {
		return nil, err
	}
	watched := newWatches(clock.RealClock{})
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        Scheme(),
		Cache:                         cacheOptions(options.namespaces(), watched),
		Metrics:                       metricsOptions(options),
		HealthProbeBindAddress:        options.healthProbeBindAddress,
		PprofBindAddress:              options.pprofBindAddress,
		LeaderElection:                options.leaderElect,
		LeaderElectionID:              options.leaderElectionID,
		LeaderElectionNamespace:       options.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		RetryPeriod:                   new(retryPeriod),
		GracefulShutdownTimeout:       new(shutdownTimeout),
	})
	if err != nil {
		return nil, err
	}
	return manager, addChecks(manager, watched)
}

// metricsOptions of the metrics server. It asks the API server who the caller is, and whether they may get /metrics.
func metricsOptions(options *Options) metricsserver.Options {
	server := metricsserver.Options{
		BindAddress: options.metricsBindAddress, SecureServing: options.metricsSecure,
		CertDir: options.metricsCertPath, CertName: options.metricsCertName, KeyName: options.metricsCertKey,
	}
	if options.metricsSecure {
		server.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return server
}

// writerOf gives what the operator writes with. An API server with an older CRD must refuse what it would otherwise
// drop silently.
func writerOf(manager ctrl.Manager) client.Client {
	strict := client.WithFieldValidation(manager.GetClient(), metav1.FieldValidationStrict)
	return client.WithFieldOwner(strict, fieldOwner)
}

// drainer makes a shutdown wait for what a controller has begun.
type drainer interface{ Drain(context.Context) }

// addControllers adds the controllers to the manager.
func addControllers(
	ctx context.Context, manager ctrl.Manager, options *Options, clock *serverClock,
) ([]drainer, error) {
	cache := apierror.CompleteReader{Reader: manager.GetClient()}
	live := apierror.CompleteReader{Reader: manager.GetAPIReader()}
	writer := writerOf(manager)
	clusterServices, err := canReadClusterServices(ctx, manager, "namespaces")
	if err != nil {
		return nil, err
	}
	connections := connection.NewRegistry(options.maxConcurrentReconciles)
	records := ledger.Ledger{
		Reader: live, Writer: writer, Revisions: &ledger.Revisions{}, Namespaces: options.namespaces(),
	}
	budgets := budget.New(budget.Config{
		Cache: cache, Live: live, Status: writer.Status(), Ledger: records, Connections: connections,
		Now: clock.now, Hour: options.creationHour, SettleDelay: options.settleDelay,
	})
	observeWaits(kindMandate, connections.Mandates)
	observeWaits(kindAction, connections.Actions)
	identityServices := service.NewReconciler(service.Config{
		Cache: cache, Live: live, Status: writer.Status(), Metadata: writer, Events: manager.GetEventRecorder(fieldOwner),
		Connections: connections, ClusterServices: clusterServices, AllNamespaces: len(options.namespaces()) == 0,
		URLs: options.urls(), DeletionGiveUpAfter: options.deletionGiveUpAfter, ServerClock: clock.now,
		MaxRequestsPerSecond: options.maxRequestsPerSecond, MinPollInterval: options.minPollInterval,
		UserAgent: "mandate-operator/" + options.version, Observe: observeRequest,
		Budget: connection.NewBudget(responseBudget), Budgets: budgets,
		Notifications: options.separateReceiver || isServed(options.notificationBindAddress),
	})
	services := engine.Services{
		ServiceReader: connection.ServiceReader{Reader: cache, ClusterServices: clusterServices},
		Connections:   connections,
	}
	mandates := mandate.NewReconciler(mandate.Config{
		Services: services, Cache: cache, Live: live, Status: writer.Status(), Metadata: writer, Ledger: records,
		Budgets: budgets,
		Events:  manager.GetEventRecorder(fieldOwner), Recovered: observeRecovery, Took: observeJourney,
		SettleDelay: options.settleDelay, RuleDelay: options.ruleDelay, DeletionGiveUpAfter: options.deletionGiveUpAfter,
		ServerClock: clock.now,
	})
	actions := action.NewReconciler(action.Config{
		Services: services, Cache: cache, Live: live, Writer: writer, Status: writer.Status(),
		Events: manager.GetEventRecorder(fieldOwner), Budgets: budgets, Ledger: records, Ended: observeAction,
		ResetEnded: mandates.RecordChanged, SettleDelay: options.settleDelay, ServerClock: clock.now,
	})
	retention := &ledger.Retention{
		Ledger: records, Mandates: cache, Keep: options.recordRetention, Clock: clock.now,
		Unreadable: countUnreadableRecords(),
	}
	return []drainer{mandates, actions}, errors.Join(
		addRestoreCheck(manager, &records, options),
		identityServices.SetupWithManager(manager),
		mandates.SetupWithManager(ctx, manager, connections.Mandates.Workers()),
		actions.SetupWithManager(ctx, manager, connections.Actions.Workers()),
		notification.NewFinder(services.ServiceReader, connections, writer).SetupWithManager(manager),
		addNotifications(ctx, manager, options, clusterServices),
		manager.Add(retention),
		manager.Add(leaderMetrics(objectMetrics(cache, mandates.Lag))),
		manager.Add(leaderMetrics(connectionMetrics(connections, options.maxConcurrentReconciles))),
		manager.Add(leaderMetrics(attemptMetrics(map[string]attempts{kindMandate: mandates, kindAction: actions}))),
	)
}

// addNotifications adds the receiver of notifications, if there is to be one.
func addNotifications(ctx context.Context, manager ctrl.Manager, options *Options, clusterServices bool) error {
	if !isServed(options.notificationBindAddress) {
		return nil
	}
	server, index := notification.NewServer(&notification.Config{
		BindAddress: options.notificationBindAddress,
		Services: connection.ServiceReader{
			Reader: apierror.CompleteReader{Reader: manager.GetClient()}, ClusterServices: clusterServices,
		},
		Metadata: writerOf(manager), Capture: options.notificationCapture,
		Observe: func(result string) { notifications.WithLabelValues(result).Inc() },
	})
	// The controllers would fill their caches where this replica leads. This one receives everywhere.
	kinds := []client.Object{&v1alpha1.Mandate{}, &v1alpha1.IdentityService{}, &v1alpha1.ClusterIdentityService{}}
	if !clusterServices {
		kinds = kinds[:2]
	}
	for _, kind := range kinds {
		informer, err := manager.GetCache().GetInformer(ctx, kind)
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(index); err != nil { // what is no Mandate is nothing to it
			return err
		}
	}
	return manager.Add(server)
}
