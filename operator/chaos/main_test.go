package chaos_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

const (
	// settleDelay is longer than the sandbox takes for any request. The operator gives up an attempt whose request starts
	// later than half of it. On a busy machine, that has to stay the exception.
	settleDelay = 6 * time.Second
	// timeout limits the wait for one step of a scenario, on a machine without other work.
	timeout = 2 * time.Minute
)

var (
	env *testenv.Environment
	// cluster is shared by all tests.
	cluster *clusterAccess
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Fprintln(os.Stdout, "-short: all tests here start operators")
		return
	}
	log.SetLogger(logr.Discard()) // of the tests' clients; the operators log to files
	testenv.Main(suite{m}, &env)
}

type suite struct{ *testing.M }

func (s suite) Run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	if cluster, err = newClusterAccess(ctx); err != nil {
		panic(err)
	}
	return s.M.Run()
}

// clusterAccess is an administrator's access to the API server, past all proxies. The tests wait by reading from a
// cache: without it, a hundred scenarios would overload the API server.
type clusterAccess struct {
	client.Client
	watched cache.Cache
	binary  string
	// operator connects to the API server with the operator's permissions.
	operator     *rest.Config
	kubeconfig   string // of the operator, past all proxies
	metricsPorts ports
}

func newClusterAccess(ctx context.Context) (*clusterAccess, error) {
	scheme := operator.Scheme()
	if err := errors.Join(eventsv1.AddToScheme(scheme), rbacv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(env.Config)
	config.QPS = -1
	s := &clusterAccess{kubeconfig: filepath.Join(env.Dir, "operator.kubeconfig")}
	var errs [4]error
	s.Client, errs[0] = client.New(config, client.Options{Scheme: scheme})
	s.watched, errs[1] = cache.New(config, cache.Options{Scheme: scheme, ReaderFailOnMissingInformer: true})
	s.binary, errs[2] = env.Build("./cmd/mandate-operator")
	s.operator, errs[3] = asOperator(ctx, s.kubeconfig)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	go func() { _ = s.watched.Start(ctx) }()
	kinds := []client.Object{
		&v1alpha1.IdentityService{}, &v1alpha1.Mandate{}, &v1alpha1.MandateAction{}, &v1alpha1.ApplicationRecord{},
		&eventsv1.Event{},
	}
	for _, kind := range kinds {
		if _, err := s.watched.GetInformer(ctx, kind); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func asOperator(ctx context.Context, kubeconfig string) (*rest.Config, error) {
	if err := errors.Join(env.GrantOperatorRole(ctx), env.WriteOperatorKubeconfig(ctx, kubeconfig)); err != nil {
		return nil, err
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

func (s *clusterAccess) namespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scenario-"}}
	err := s.Create(ctx, namespace)
	return namespace.Name, err
}
