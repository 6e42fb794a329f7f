package flux

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mandate-io/idv/internal/test/gitops/cluster"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const fluxNamespace = "flux-system"

// world is a cluster with Flux, the operator and the sandbox.
type world struct {
	*cluster.Cluster
	archives *archives
	revision string // that was published last
	alerts   *alerts
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: cluster.New(t, env), archives: newArchives(t), alerts: &alerts{}}
	w.Publish = w.publish
	w.StartOperator(w.StartHosts(nil))
	w.startFlux()
	return w
}

func (w *world) startFlux() {
	w.Helper()
	receiver := httptest.NewServer(w.alerts)
	w.Cleanup(receiver.Close)
	w.CreateNamespace(fluxNamespace)
	command := exec.CommandContext(context.WithoutCancel(w.Context()), w.Tool("kustomize-controller"),
		"--events-addr="+receiver.URL, "--metrics-addr=0", "--health-addr="+testenv.FreeAddress(w.T),
		"--requeue-dependency=1s")
	command.Env = append(os.Environ(),
		"KUBECONFIG="+w.Kubeconfig, "RUNTIME_NAMESPACE="+fluxNamespace, "TMPDIR="+w.TempDir())
	w.Start("kustomize-controller", command)
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
