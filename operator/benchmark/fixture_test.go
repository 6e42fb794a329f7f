package benchmark_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

// fixture is an empty control plane and an empty sandbox, each in processes of their own.
type fixture struct {
	testing.TB
	*testenv.Environment
	kube       client.WithWatch // as an administrator
	kubeconfig string           // of the operator's user
	url        string           // of the sandbox
	sandbox    *control.Client
}

var sandboxListens = regexp.MustCompile(`listening on (http://\S+)`)

func newFixture(b testing.TB, latency time.Duration) *fixture {
	b.Helper()
	environment, err := testenv.New()
	if err != nil {
		b.Fatal(err)
	}
	f := &fixture{TB: b, Environment: environment}
	b.Cleanup(func() {
		if err := environment.Close(); err != nil {
			b.Error(err)
		}
	})
	f.check(f.StartControlPlane())
	f.check(f.InstallCRDs())
	f.check(f.GrantOperatorRole(b.Context()))
	f.kubeconfig = filepath.Join(f.Dir, "kubeconfig")
	f.check(f.WriteOperatorKubeconfig(b.Context(), f.kubeconfig))
	config := rest.CopyConfig(f.Config)
	config.QPS = -1
	f.kube, err = client.NewWithWatch(config, client.Options{Scheme: operator.Scheme()})
	f.check(err)

	binary, err := f.Build("./cmd/idv-sandbox")
	f.check(err)
	// The benchmark's context ends too early: the environment has to be able to end the process with a signal.
	command := exec.CommandContext(context.WithoutCancel(b.Context()), binary, "--listen=127.0.0.1:0")
	process, err := f.Start("sandbox", command)
	f.check(err)
	match, err := process.WaitForLog(b.Context(), sandboxListens)
	f.check(err)
	f.url = match[1]
	f.sandbox = control.New(f.url)
	if latency > 0 {
		f.check(f.sandbox.Fault(b.Context(), control.Fault{
			Operation: control.AnyOperation, Kind: control.Slow, Times: control.Always, DelayMillis: latency.Milliseconds(),
		}))
	}
	return f
}

// ReportMetric is that of a benchmark. A test has none.
func (f *fixture) ReportMetric(n float64, unit string) {
	if b, ok := f.TB.(*testing.B); ok {
		b.ReportMetric(n, unit)
	}
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// connect creates the IdentityService "default", and replaces an existing one. After an edit, each create would search
// for earlier attempts.
func (f *fixture) connect(namespace string, requestsPerSecond, poll int, edits ...func(*v1alpha1.IdentityService)) {
	f.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idv"},
		Type:       "idv.mandate.io/credentials",
		StringData: map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword}}
	f.check(client.IgnoreAlreadyExists(f.kube.Create(f.Context(), secret)))
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	f.check(client.IgnoreNotFound(f.kube.Delete(f.Context(), service)))
	// Its finalizer keeps it for the Mandates that need it.
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	f.check(client.IgnoreNotFound(f.kube.Patch(f.Context(), service, patch)))
	service = &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	service.Spec.CredentialsSecretRef.Name = "idv"
	service.Spec.ServiceSettings = v1alpha1.ServiceSettings{
		BaseURL: f.url, RequestsPerSecond: int32(requestsPerSecond),
		Creation: v1alpha1.Creation{MaxPerHour: 1_000_000, MaxPerDay: 10_000_000},
		Polling:  v1alpha1.Polling{MinIntervalSeconds: int32(poll), MaxIntervalSeconds: int32(max(poll, 3600))},
	}
	if poll == 1 {
		service.Spec.Polling.MaxIntervalSeconds = 1
	}
	for _, edit := range edits {
		edit(service)
	}
	f.check(f.kube.Create(f.Context(), service))
}

// creators is the number of clients that apply manifests.
const creators = 8

// create applies n Mandates named prefix-0, prefix-1 and so on.
func (f *fixture) create(namespace, prefix string, n, individuals int) {
	f.Helper()
	var creating sync.WaitGroup
	failed := make(chan error, creators)
	for creator := range creators {
		creating.Go(func() {
			for i := creator; i < n; i += creators {
				if err := f.createOne(namespace, fmt.Sprintf("%s-%d", prefix, i), individuals); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	creating.Wait()
	close(failed)
	f.check(<-failed)
}

func (f *fixture) createOne(namespace, name string, individuals int) error {
	return f.kube.Create(f.Context(), newMandate(namespace, name, individuals))
}

func newMandate(namespace, name string, individuals int) *v1alpha1.Mandate {
	mandate := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MandateSpec{Name: "Benchmark " + name, MandateType: v1alpha1.MandateTypeSelector{Code: "kyc"}}}
	for i := range individuals {
		handle := fmt.Sprintf("applicant-%d", i)
		mandate.Spec.Individuals = append(mandate.Spec.Individuals, v1alpha1.Individual{
			Name: handle, Email: name + "-" + handle + "@example.com", FirstName: "Jane", LastName: "Doe",
			DateOfBirth: "1990-02-28", Gender: "female",
		})
	}
	return mandate
}

// awaitReady returns a function that waits until n Mandates of a namespace have become Ready since now. It watches
// them, because repeated lists would load the API server.
func (f *fixture) awaitReady(namespace string, n int) (wait func()) {
	f.Helper()
	ctx, cancel := context.WithCancel(await.Context(f.TB))
	mandates := f.watch(ctx, namespace)
	ready, done := map[string]bool{}, make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for mandate := range mandates {
			if meta.IsStatusConditionTrue(mandate.Status.Conditions, v1alpha1.ConditionReady) {
				ready[mandate.Name] = true
			}
			if len(ready) == n {
				return
			}
		}
	}()
	return func() {
		f.Helper()
		<-done
		if len(ready) < n {
			f.Fatalf("%d of %d Mandates are Ready", len(ready), n)
		}
	}
}

// watch gives the Mandates of a namespace that change from now on, until ctx ends.
func (f *fixture) watch(ctx context.Context, namespace string) iter.Seq[*v1alpha1.Mandate] {
	f.Helper()
	var now v1alpha1.MandateList
	f.check(f.kube.List(ctx, &now, client.InNamespace(namespace), client.Limit(1)))
	// The API server closes a watch that lags behind.
	events, err := watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return f.kube.Watch(ctx, &v1alpha1.MandateList{}, client.InNamespace(namespace), &client.ListOptions{Raw: &options})
		},
	})
	f.check(err)
	return func(yield func(*v1alpha1.Mandate) bool) {
		for event := range events.ResultChan() {
			if mandate, ok := event.Object.(*v1alpha1.Mandate); ok && !yield(mandate) {
				return
			}
		}
	}
}

// eventually waits until done.
func (f *fixture) eventually(what string, done func() bool) {
	f.Helper()
	await.Until(f.TB, func() (bool, string) { return done(), "not " + what })
}

func (f *fixture) requests(operation control.Operation) int64 {
	f.Helper()
	stats, err := f.sandbox.Stats(f.Context())
	f.check(err)
	return stats.Requests(operation)
}

// cost is the number of requests of the operator's user to the API server, and of all requests to the service. It
// excludes writes to the IdentityService, which are not made for each Mandate.
type cost struct{ writes, reads, posts, gets int }

func (f *fixture) cost() cost {
	f.Helper()
	requests, err := f.Requests(testenv.OperatorUser)
	f.check(err)
	c := cost{posts: int(f.requests(control.CreateApplication)), gets: int(f.requests(control.RetrieveApplication))}
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
func (f *fixture) apiServerCPU() float64 {
	f.Helper()
	return f.apiServerMetric("process_cpu_seconds_total")
}

func (f *fixture) apiServerMetric(name string) float64 {
	f.Helper()
	sum, err := sumOf(f.getFromAPIServer("/metrics", nil), name)
	f.check(err)
	return sum
}

func (f *fixture) apiServerProfile(seconds int) []byte {
	f.Helper()
	return f.getFromAPIServer("/debug/pprof/profile", map[string]string{"seconds": strconv.Itoa(seconds)})
}

func (f *fixture) getFromAPIServer(path string, parameters map[string]string) []byte {
	f.Helper()
	clientset, err := kubernetes.NewForConfig(f.Config)
	f.check(err)
	request := clientset.RESTClient().Get().AbsPath(path)
	for name, value := range parameters {
		request = request.Param(name, value)
	}
	answer, err := request.DoRaw(f.Context())
	f.check(err)
	return answer
}

// keepProfile stores a profile of a process in the directory $PROFILES, if that is set.
func (f *fixture) keepProfile(name string, profile []byte) {
	f.Helper()
	if dir := os.Getenv("PROFILES"); dir != "" {
		f.check(os.MkdirAll(dir, 0o755))
		f.check(os.WriteFile(filepath.Join(dir, name), profile, 0o600))
	}
}
