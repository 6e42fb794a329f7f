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
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator"
)

const (
	// settleDelay of the operators here. It has to be longer than the sandbox takes for any request. An attempt that gets to
	// its request later than half of it is given up: on a machine that is busy, that must not be the rule.
	settleDelay = 6 * time.Second
	// patience is how long a life may take to get from one stage to the next.
	patience = 2 * time.Minute
)

var (
	env *testenv.Environment
	// world is what all tests here share.
	world *shared
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Fprintln(os.Stdout, "-short: all tests here start operators")
		return
	}
	log.SetLogger(logr.Discard()) // of the clients here; the operators log into files
	testenv.Main(suite{m}, &env)
}

type suite struct{ *testing.M }

func (s suite) Run() int {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	var err error
	if world, err = share(ctx); err != nil {
		panic(err)
	}
	return s.M.Run()
}

// shared looks at the API server past all proxies, as an administrator. What is watched is read from a cache: a hundred
// lives that poll would be most of the API server's work.
type shared struct {
	client.Client
	watched cache.Cache
	binary  string
	// operator connects to the API server with the operator's rights.
	operator     *rest.Config
	kubeconfig   string // of the operator, past all proxies
	metricsPorts ports
}

func share(ctx context.Context) (*shared, error) {
	scheme := operator.Scheme()
	if err := errors.Join(eventsv1.AddToScheme(scheme), rbacv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(env.Config)
	config.QPS = -1
	s := &shared{kubeconfig: filepath.Join(env.Dir, "operator.kubeconfig")}
	var errs [4]error
	s.Client, errs[0] = client.New(config, client.Options{Scheme: scheme})
	s.watched, errs[1] = cache.New(config, cache.Options{Scheme: scheme, ReaderFailOnMissingInformer: true})
	s.binary, errs[2] = env.Build("./cmd/mandate-operator")
	s.operator, errs[3] = asOperator(ctx, s.kubeconfig)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	go func() { _ = s.watched.Start(ctx) }()
	for _, kind := range []client.Object{&v1alpha1.IdentityService{}, &v1alpha1.Mandate{}, &v1alpha1.MandateAction{}, &v1alpha1.ApplicationRecord{}, &eventsv1.Event{}} {
		if _, err := s.watched.GetInformer(ctx, kind); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func asOperator(ctx context.Context, kubeconfig string) (*rest.Config, error) {
	if err := errors.Join(env.GrantOperatorRole(ctx), env.WriteOperatorKubeconfig(kubeconfig)); err != nil {
		return nil, err
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

func (s *shared) namespace(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "life-"}}
	err := s.Create(ctx, namespace)
	return namespace.Name, err
}
