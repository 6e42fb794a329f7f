package plugin

import (
	"context"
	"fmt"
	"io"

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
)

const (
	// fieldManager of everything that the plugin writes. Flux takes back what a field manager has set whose name begins
	// with kubectl.
	fieldManager = "mandate-plugin"
	// program is the name of the binary.
	program = "kubectl-mandate"
)

// A session is one call of the plugin: the cluster that it talks to, and the streams that it writes to.
type session struct {
	Streams

	config        *genericclioptions.ConfigFlags
	allNamespaces bool
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
	_ = root.RegisterFlagCompletionFunc("namespace", s.completeNamespaces) // the flag exists
	_ = root.RegisterFlagCompletionFunc("context", s.completeContexts)
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
func scheme() *runtime.Scheme {
	known := runtime.NewScheme()
	utilruntime.Must(authenticationv1.AddToScheme(known))
	utilruntime.Must(authorizationv1.AddToScheme(known))
	utilruntime.Must(coordinationv1.AddToScheme(known))
	utilruntime.Must(corev1.AddToScheme(known))
	utilruntime.Must(v1alpha1.AddToScheme(known))
	return known
}

// A cluster is a connection to the API server, with the namespace of the call.
type cluster struct {
	client.WithWatch
	namespace string
	errOut    io.Writer
}

// warn tells of what the plugin goes on after.
func (c *cluster) warn(format string, arguments ...any) {
	warn(c.errOut, fmt.Sprintf(format, arguments...))
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
	return &cluster{WithWatch: c, namespace: namespace, errOut: s.ErrOut}, nil
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
