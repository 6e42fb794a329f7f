package flux

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator"
)

const (
	fluxNamespace = "flux-system"
	namespace     = "onboarding" // of the examples
)

// world is a cluster with Flux, the operator and the sandbox.
type world struct {
	*testing.T
	client.Client
	kubeconfig string
	sandbox    *control.Client
	git        *repository
	revision   string // that was published last
	alerts     *alerts
}

// newCluster is a world in which nothing runs.
func newCluster(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	w.check(env.WriteKubeconfig(w.kubeconfig))
	var err error
	w.Client, err = client.New(env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newCluster(t)
	w.git = newRepository(t, env.Root)
	var environment []string
	w.sandbox, environment = startService(t)
	w.startOperator(environment)
	w.startFlux()
	return w
}

func (w *world) startFlux() {
	w.Helper()
	w.alerts = &alerts{}
	receiver := httptest.NewServer(w.alerts)
	w.Cleanup(receiver.Close)
	w.fluxNamespace()
	binary := filepath.Join(env.Root, "bin", "kustomize-controller")
	if _, err := os.Stat(binary); err != nil {
		w.Fatalf("%v: run `make test-gitops`", err)
	}
	command := exec.CommandContext(context.WithoutCancel(w.Context()), binary,
		"--events-addr="+receiver.URL, "--metrics-addr=0", "--health-addr="+testenv.FreeAddress(w.T),
		"--requeue-dependency=1s")
	command.Env = append(os.Environ(),
		"KUBECONFIG="+w.kubeconfig, "RUNTIME_NAMESPACE="+fluxNamespace, "TMPDIR="+w.TempDir())
	w.run("kustomize-controller", command)
}

// fluxNamespace creates the namespace of Flux, if it does not exist.
func (w *world) fluxNamespace() {
	w.Helper()
	err := w.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fluxNamespace}})
	w.check(client.IgnoreAlreadyExists(err))
}

// run runs a program until the test ends, and shows its log if the test failed.
func (w *world) run(name string, command *exec.Cmd) {
	w.Helper()
	process, err := env.Start(name, command)
	w.check(err)
	t := w.T
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
		if log, err := os.ReadFile(process.Log); t.Failed() && err == nil {
			t.Logf("the end of the log of %s:\n%s", name, log[max(0, len(log)-8000):])
		}
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) kubectl(arguments ...string) string {
	w.Helper()
	arguments = append([]string{"--kubeconfig", w.kubeconfig}, arguments...)
	command := exec.CommandContext(w.Context(), env.Kubectl, arguments...)
	command.Dir = filepath.Join(env.Root, "examples", "gitops")
	output, err := command.CombinedOutput()
	if err != nil {
		w.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

func (w *world) eventually(done func() (bool, string)) {
	w.Helper()
	testenv.Eventually(w.T, timeout, done)
}

// alerts plays the part of the notification-controller: it keeps the events that Flux reports as errors.
type alerts struct {
	mu     sync.Mutex
	errors []string
}

func (a *alerts) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.Contains(string(body), `"severity":"error"`) {
		a.errors = append(a.errors, string(body))
	}
}

// all returns the errors up to now.
func (a *alerts) all() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.errors, "\n")
}
