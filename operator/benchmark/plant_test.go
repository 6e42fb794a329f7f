package benchmark_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator"
)

// plant is an API server with its etcd and a sandbox, each in a process of its own, and nothing else in them.
type plant struct {
	*testing.B
	*testenv.Environment
	kube       client.WithWatch // as an administrator
	kubeconfig string           // of the operator's user
	url        string           // of the sandbox
	sandbox    *control.Client
}

var sandboxListens = regexp.MustCompile(`listening on (http://\S+)`)

func newPlant(b *testing.B, latency time.Duration) *plant {
	b.Helper()
	environment, err := testenv.New()
	if err != nil {
		b.Fatal(err)
	}
	p := &plant{B: b, Environment: environment}
	b.Cleanup(func() {
		if err := environment.Close(); err != nil {
			b.Error(err)
		}
	})
	p.check(p.StartControlPlane())
	p.check(p.InstallCRDs())
	p.check(p.GrantOperatorRole(b.Context()))
	p.kubeconfig = filepath.Join(p.Dir, "kubeconfig")
	p.check(p.WriteOperatorKubeconfig(p.kubeconfig))
	config := rest.CopyConfig(p.Config)
	config.QPS = -1
	p.kube, err = client.NewWithWatch(config, client.Options{Scheme: operator.Scheme()})
	p.check(err)

	binary, err := p.Build("./cmd/idv-sandbox")
	p.check(err)
	// Not the benchmark's context, which ends before the environment could end the process in order.
	process, err := p.Start("sandbox", exec.CommandContext(context.WithoutCancel(b.Context()), binary, "--listen=127.0.0.1:0"))
	p.check(err)
	match, err := process.WaitForLog(b.Context(), sandboxListens)
	p.check(err)
	p.url = match[1]
	p.sandbox = control.New(p.url)
	if latency > 0 {
		p.check(p.sandbox.Fault(b.Context(), control.Fault{
			Operation: control.AnyOperation, Kind: control.Slow, Times: control.Always, DelayMillis: latency.Milliseconds(),
		}))
	}
	return p
}

func (p *plant) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// connect makes the IdentityService "default", anew if it exists: an edit would make each create look for attempts from
// before it.
func (p *plant) connect(namespace string, requestsPerSecond, poll int) {
	p.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idv"},
		StringData: map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword}}
	p.check(client.IgnoreAlreadyExists(p.kube.Create(p.Context(), secret)))
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	p.check(client.IgnoreNotFound(p.kube.Delete(p.Context(), service)))
	// It stays for the Mandates that need it, unless somebody takes it away from them.
	p.check(client.IgnoreNotFound(p.kube.Patch(p.Context(), service, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
	service = &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	service.Spec = v1alpha1.IdentityServiceSpec{CredentialsSecretRef: v1alpha1.SecretReference{Name: "idv"}, ServiceSettings: v1alpha1.ServiceSettings{
		BaseURL: p.url, RequestsPerSecond: int32(requestsPerSecond),
		Polling: v1alpha1.Polling{MinIntervalSeconds: int32(poll), MaxIntervalSeconds: int32(max(poll, 3600))},
	}}
	if poll == 1 {
		service.Spec.Polling.MaxIntervalSeconds = 1
	}
	p.check(p.kube.Create(p.Context(), service))
}

// creators is how many clients apply manifests.
const creators = 8

// create applies manifests of n Mandates named prefix-0 and so on.
func (p *plant) create(namespace, prefix string, n, individuals int) {
	p.Helper()
	var creating sync.WaitGroup
	failed := make(chan error, creators)
	for creator := range creators {
		creating.Go(func() {
			for i := creator; i < n; i += creators {
				if err := p.createOne(namespace, fmt.Sprintf("%s-%d", prefix, i), individuals); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	creating.Wait()
	close(failed)
	p.check(<-failed)
}

func (p *plant) createOne(namespace, name string, individuals int) error {
	mandate := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MandateSpec{Name: "Benchmark " + name, MandateType: v1alpha1.MandateTypeSelector{Code: "kyc"}}}
	for i := range individuals {
		handle := fmt.Sprintf("applicant-%d", i)
		mandate.Spec.Individuals = append(mandate.Spec.Individuals, v1alpha1.Individual{
			Name: handle, Email: name + "-" + handle + "@example.com", FirstName: "Jane", LastName: "Doe", DateOfBirth: "1990-02-28", Gender: "female",
		})
	}
	return p.kube.Create(p.Context(), mandate)
}

// awaitReady returns a function that returns when n Mandates of a namespace have become Ready since now. They are watched
// instead of listed: the API server has enough to do.
func (p *plant) awaitReady(namespace string, n int) (wait func()) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	var now v1alpha1.MandateList
	p.check(p.kube.List(ctx, &now, client.InNamespace(namespace), client.Limit(1)))
	// The API server ends a watch that falls behind.
	events, err := watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return p.kube.Watch(ctx, &v1alpha1.MandateList{}, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
		},
	})
	p.check(err)
	ready, done := map[string]bool{}, make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for event := range events.ResultChan() {
			if mandate, ok := event.Object.(*v1alpha1.Mandate); ok && meta.IsStatusConditionTrue(mandate.Status.Conditions, v1alpha1.ConditionReady) {
				ready[mandate.Name] = true
			}
			if len(ready) == n {
				return
			}
		}
	}()
	return func() {
		p.Helper()
		<-done
		if len(ready) < n {
			p.Fatalf("after %s, %d of %d Mandates are Ready", patience, len(ready), n)
		}
	}
}

// eventually asks until it is so.
func (p *plant) eventually(what string, done func() bool) {
	p.Helper()
	testenv.Eventually(p.B, patience, func() (bool, string) { return done(), "not " + what })
}

func (p *plant) requests(operation control.Operation) int64 {
	p.Helper()
	stats, err := p.sandbox.Stats(p.Context())
	p.check(err)
	return stats.Requests(operation)
}

// cost is what has been asked of the API server by the operator's user, and of the service. What is written to the
// IdentityService, once for all Mandates, is not in it.
type cost struct{ writes, reads, posts, gets int }

func (p *plant) cost() cost {
	p.Helper()
	requests, err := p.Requests(testenv.OperatorUser)
	p.check(err)
	c := cost{posts: int(p.requests(control.CreateApplication)), gets: int(p.requests(control.RetrieveApplication))}
	for right, n := range requests {
		switch verb, resource, _ := strings.Cut(string(right), " "); {
		case verb == "get", verb == "list", verb == "watch":
			c.reads += n
		case !strings.HasPrefix(resource, "identityservices"):
			c.writes += n
		}
	}
	return c
}

func (c cost) minus(before cost) cost {
	return cost{c.writes - before.writes, c.reads - before.reads, c.posts - before.posts, c.gets - before.gets}
}

// apiServerCPU is the processor time that the API server has used, in seconds.
func (p *plant) apiServerCPU() float64 {
	p.Helper()
	clientset, err := kubernetes.NewForConfig(p.Config)
	p.check(err)
	text, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(p.Context())
	p.check(err)
	seconds, err := sumOf(text, "process_cpu_seconds_total")
	p.check(err)
	return seconds
}

// keepProfile stores a profile of a process in the directory PROFILES, if that is set.
func (p *plant) keepProfile(name string, profile []byte) {
	p.Helper()
	if dir := os.Getenv("PROFILES"); dir != "" {
		p.check(os.MkdirAll(dir, 0o755))
		p.check(os.WriteFile(filepath.Join(dir, name), profile, 0o600))
	}
}
