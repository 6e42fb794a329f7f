package plugin

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what a kubeconfig may name, as in kubectl
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/tolerant"
	"github.com/mandate-io/idv/operator/plan"
)

const (
	// fieldManager of everything that the plugin writes. Flux takes back what a field manager has set whose name begins
	// with kubectl.
	fieldManager = "mandate-plugin"
	// program is the name of the binary.
	program = "kubectl-mandate"
)

// A session is one call of the plugin: the cluster that it talks to, the streams that it writes to, and the flags that
// several commands have.
type session struct {
	Streams

	config             *genericclioptions.ConfigFlags
	allNamespaces, yes bool
	selector           string
	output             outputFlag
	timeout            time.Duration // 0: none
	// now is for ages; tests fix it.
	now clock
}

func newSession(streams Streams) *session {
	config := genericclioptions.NewConfigFlags(true)
	config.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c.UserAgent = program
		c.QPS, c.Burst = 50, 100 // as kubectl
		return tolerant.Config(c)
	}
	return &session{Streams: streams, config: config, now: systemClock}
}

// hiddenFlags are those of kubectl that --help does not show. They work as well.
var hiddenFlags = []string{
	"as-group", "as-uid", "as-user-extra", "cache-dir", "certificate-authority", "client-certificate", "client-key",
	"cluster", "disable-compression", "insecure-skip-tls-verify", "proxy-url", "request-timeout", "server",
	"tls-server-name", "token", "user",
}

func (s *session) addFlags(root *cobra.Command) {
	s.config.AddFlags(root.PersistentFlags())
	for _, name := range hiddenFlags {
		if f := root.PersistentFlags().Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	_ = root.RegisterFlagCompletionFunc("namespace", s.completeNamespaces()) // the flag exists
	_ = root.RegisterFlagCompletionFunc("context", s.completeContexts)
}

func (s *session) addYes(command *cobra.Command) {
	command.Flags().BoolVarP(&s.yes, "yes", "y", false, "Skip the confirmation.")
}

func addTimeout(command *cobra.Command, usual time.Duration) {
	command.Flags().Duration("timeout", usual, "Maximum time to wait; 0 means no limit.")
}

// withTimeout ends what waits at the timeout, if there is one.
func (s *session) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// onCluster runs a command that needs the cluster.
func (s *session) onCluster(
	run func(ctx context.Context, c *cluster, arguments []string) error,
) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, arguments []string) error {
		s.timeout, _ = command.Flags().GetDuration("timeout") // some have none
		c, err := s.cluster()
		if err != nil {
			return err
		}
		return run(command.Context(), c, arguments)
	}
}

// namespace is that of --namespace, or else of the context.
func (s *session) namespace() (string, error) {
	if s.allNamespaces {
		return "", nil
	}
	namespace, _, err := s.config.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// scheme has the kinds that the plugin reads and writes.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	known := runtime.NewScheme()
	utilruntime.Must(authenticationv1.AddToScheme(known))
	utilruntime.Must(authorizationv1.AddToScheme(known))
	utilruntime.Must(coordinationv1.AddToScheme(known))
	utilruntime.Must(corev1.AddToScheme(known))
	utilruntime.Must(v1alpha1.AddToScheme(known))
	return known
})

// kindOf is the kind of an object of ours, which what is read from the API server does not say.
func kindOf(object client.Object) string { return plan.KeyOf(object).Kind }

// A cluster is a session with a connection to the API server, and with the namespace of the call.
type cluster struct {
	*session
	client.WithWatch

	namespace string
}

// warn tells of what the plugin goes on after.
func (s *session) warn(format string, arguments ...any) {
	text := printableLine(fmt.Sprintf(format, arguments...))
	fmt.Fprintln(s.ErrOut, newPrinter(s.ErrOut).styled(yellow, "warning:"), text)
}

func (s *session) cluster() (*cluster, error) {
	config, err := s.config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	namespace, err := s.namespace()
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme(), FieldOwner: fieldManager})
	if err != nil {
		return nil, err
	}
	return &cluster{s, c, namespace}, nil
}

func (c *cluster) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: c.namespace, Name: name}
}

// mandate reads a Mandate.
func (c *cluster) mandate(ctx context.Context, name string) (*v1alpha1.Mandate, error) {
	mandate := &v1alpha1.Mandate{}
	if err := c.Get(ctx, c.key(name), mandate); err != nil {
		return nil, explainError(err)
	}
	return mandate, nil
}

// each reads the objects of a list, page by page. Each object is a copy.
func (c *cluster) each(
	ctx context.Context, list client.ObjectList, do func(client.Object), options ...client.ListOption,
) error {
	for next := ""; ; next = list.GetContinue() {
		if err := c.List(ctx, list, append(options, client.Limit(500), client.Continue(next))...); err != nil {
			return err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			do(item.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // all items are objects
			return nil
		})
		if err != nil || list.GetContinue() == "" {
			return err
		}
	}
}

// in is the cluster with another namespace, if one is given.
func (c *cluster) in(namespace string) *cluster {
	other := *c
	if namespace != "" {
		other.namespace = namespace
	}
	return &other
}
