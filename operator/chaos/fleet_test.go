package chaos_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// fleet is one operator and the scenarios that it serves, each with a namespace and a service of its own. A kill of the
// operator in one scenario interrupts all of them. The operator is restarted at once.
type fleet struct {
	scenarios map[string]*scenario // by namespace
	api       *faultproxy.Proxy
	started   time.Time
	cancel    context.CancelFunc
	ctx       context.Context //nolint:containedctx // ends with the fleet, and with it whatever a proxy delays

	kubeconfig, metrics, log string
	notifications            string // the address of the operator's receiver, "" without one

	epoch atomic.Int32 // the number of kills

	mu            sync.Mutex
	running       int // scenarios that have not finished
	interruptions int // of running scenarios, by kills
	operator      *testenv.Process
	failure       error // of a restart
}

// newFleet sets up a scenario for each list of plans. No operator runs yet.
func newFleet(ctx context.Context, scenarios [][]plan) (*fleet, error) {
	return newFleetOn(ctx, cluster.operator, scenarios)
}

// newFleetOn is newFleet for an API server of the caller's choice.
func newFleetOn(ctx context.Context, server *rest.Config, scenarios [][]plan) (*fleet, error) {
	f := &fleet{scenarios: map[string]*scenario{}, started: time.Now(), metrics: cluster.metricsPorts.next()}
	f.ctx, f.cancel = context.WithCancel(ctx)
	for _, plans := range scenarios {
		s, err := f.newScenario(plans)
		if err != nil {
			return nil, err
		}
		f.scenarios[s.namespace] = s
	}
	transport, err := rest.TransportFor(server)
	if err != nil {
		return nil, err
	}
	f.api, err = faultproxy.New(faultproxy.Options{
		Target: server.Host, Transport: transport, Inject: f.inject, Epoch: f.current, TLS: true,
	})
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(f.metrics, ":")
	f.kubeconfig = filepath.Join(env.Dir, "fleet-"+port+".kubeconfig")
	return f, writeKubeconfig(f.kubeconfig, f.api)
}

// writeKubeconfig writes a kubeconfig for a proxy, which needs no credentials.
func writeKubeconfig(path string, proxy *faultproxy.Proxy) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: proxy.URL, CertificateAuthorityData: proxy.CA}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	return clientcmd.WriteToFile(*config, path)
}

var namespaced = regexp.MustCompile(`/namespaces/([^/]+)/`)

// inject decides what happens to a request to the API server.
func (f *fleet) inject(r faultproxy.Request) faultproxy.Fault {
	match := namespaced.FindStringSubmatch(r.Path)
	if match == nil {
		return faultproxy.Fault{}
	}
	return f.scenarios[match[1]].injectAPI(r)
}

func (f *fleet) current() int { return int(f.epoch.Load()) }

// start starts the operator. The caller holds mu.
func (f *fleet) start() error {
	var err error
	flags := []string{"--metrics-bind-address=" + f.metrics, "--metrics-secure=false"}
	if f.notifications != "" {
		flags = append(flags, "--notification-bind-address="+f.notifications)
	}
	f.operator, err = f.startAnother(flags...)
	if err == nil {
		f.log = f.operator.Log
	}
	return err
}

// startAnother starts an operator for the fleet's namespaces.
func (f *fleet) startAnother(flags ...string) (*testenv.Process, error) {
	return startOperator(f.ctx, f.kubeconfig, slices.Collect(maps.Keys(f.scenarios)), flags...)
}

// startOperator starts an operator with the most verbose log, in a file named after the kubeconfig.
func startOperator(
	ctx context.Context, kubeconfig string, namespaces []string, flags ...string,
) (*testenv.Process, error) {
	// The caller's context ends too early: Stop has to be able to end the operator with a signal.
	command := exec.CommandContext(context.WithoutCancel(ctx), cluster.binary, append([]string{
		"--watch-namespaces=" + strings.Join(namespaces, ","),
		"--settle-delay=" + settleDelay.String(), "--rule-delay=20s",
		"--max-concurrent-reconciles=40",
		"--health-probe-bind-address=0",
		"--zap-log-level=10",
	}, flags...)...)
	// With the race detector, an operator with a race exits, which fails its scenarios.
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "GORACE=halt_on_error=1")
	return env.Start(strings.TrimSuffix(filepath.Base(kubeconfig), ".kubeconfig"), command)
}

// kill kills the operator of an epoch with SIGKILL, and starts the next one. It does nothing if that epoch is over.
func (f *fleet) kill(epoch int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if epoch != f.current() || f.ctx.Err() != nil {
		return
	}
	errs := []error{f.operator.Kill(), f.api.WaitForConnections(f.ctx)}
	for _, s := range f.scenarios {
		errs = append(errs, s.service.WaitForConnections(f.ctx))
	}
	f.epoch.Add(1)
	f.interruptions += f.running
	if f.failure = errors.Join(errs...); f.failure == nil {
		f.failure = f.start()
	}
}

// interrupted is how many running scenarios were interrupted by kills.
func (f *fleet) interrupted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.interruptions
}

// failed is the reason why the operator is down for good, nil if it is not.
func (f *fleet) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil || f.operator == nil {
		return f.failure
	}
	select {
	case <-f.operator.Exited():
		return fmt.Errorf("the operator exited: %w", f.operator.Err())
	default:
		return nil
	}
}

// run runs all scenarios concurrently.
func (f *fleet) run() error {
	f.mu.Lock()
	f.running = len(f.scenarios)
	err := f.start()
	f.mu.Unlock()
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	for _, s := range f.scenarios {
		running.Go(func() {
			s.problems = s.run(f.ctx)
			f.mu.Lock()
			f.running--
			f.mu.Unlock()
		})
	}
	running.Wait()
	return f.finish("Sending a request", "The service carried out the request")
}

// finish stops the operator, and checks what it used and what it logged. Its log has some of the words of what happened
// in every run: without them, the search for leaks proves nothing.
func (f *fleet) finish(words ...string) error {
	metrics, err := f.scrape()
	if err == nil {
		err = f.operator.Stop()
	}
	if err == nil {
		err = errors.Join(checkResources(metrics), f.leaks(metrics, words))
	}
	return err
}

// close ends everything, whatever is still in progress.
func (f *fleet) close() {
	f.cancel()
	if f.operator != nil {
		_ = f.operator.Kill() // usually it has exited
	}
	_ = os.Remove(f.log) // a campaign has thousands
	f.api.Close()
	for _, s := range f.scenarios {
		s.close()
	}
}

// leaks looks for personal data and credentials in the operator's log and metrics.
func (f *fleet) leaks(metrics []byte, words []string) error {
	log, err := os.ReadFile(f.log)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(log, []byte(w)) }) {
		return fmt.Errorf("the operator's log has no %q: the search for leaks proves nothing", words)
	}
	for where, content := range map[string][]byte{"the log": log, "the metrics": metrics} {
		if leak := leakIn(content); leak != "" {
			return fmt.Errorf("%s contains personal data or a credential: %s", where, leak)
		}
	}
	return nil
}

func (f *fleet) scrape() ([]byte, error) {
	request, err := http.NewRequestWithContext(f.ctx, http.MethodGet, "http://"+f.metrics+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// ports returns addresses below the system's ephemeral ports. An outgoing connection could occupy one of those
// between two starts of an operator.
type ports struct{ last atomic.Int32 }

func (p *ports) next() string {
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+(p.last.Add(1)+int32(os.Getpid()))%10000)
		if listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
}
