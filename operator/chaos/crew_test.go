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

	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/internal/testenv/faultproxy"
)

// crew is one operator with the lives that it looks after, a namespace and a service each. Whoever kills it in one life
// kills it in all of them, at whatever it is doing there. It is started again at once.
type crew struct {
	lives map[string]*life // by namespace
	api   *faultproxy.Proxy
	began time.Time
	end   context.CancelFunc
	ctx   context.Context //nolint:containedctx // of the crew's end, for proxies that hold something up

	kubeconfig, metrics, log string

	epoch atomic.Int32 // how often it was killed

	mu       sync.Mutex
	living   int // namespaces whose life goes on
	hits     int // of kills, such namespaces
	operator *testenv.Process
	failure  error // of a start
}

// muster makes a crew for lives, each with its plans. No operator runs yet.
func muster(ctx context.Context, lives [][]plan) (*crew, error) {
	return musterAt(ctx, world.operator, lives)
}

// musterAt is for an API server of the caller's choice.
func musterAt(ctx context.Context, server *rest.Config, lives [][]plan) (*crew, error) {
	c := &crew{lives: map[string]*life{}, began: time.Now(), metrics: world.metricsPorts.next()}
	c.ctx, c.end = context.WithCancel(ctx)
	for _, plans := range lives {
		l, err := c.newLife(plans)
		if err != nil {
			return nil, err
		}
		c.lives[l.namespace] = l
	}
	transport, err := rest.TransportFor(server)
	if err != nil {
		return nil, err
	}
	c.api, err = faultproxy.New(faultproxy.Options{Target: server.Host, Transport: transport, Inject: c.judge, Epoch: c.current, TLS: true})
	if err != nil {
		return nil, err
	}
	c.kubeconfig = filepath.Join(env.Dir, fmt.Sprintf("crew-%s.kubeconfig", strings.TrimPrefix(c.metrics, "127.0.0.1:")))
	return c, writeKubeconfig(c.kubeconfig, c.api)
}

// writeKubeconfig connects to a proxy, which needs no credentials.
func writeKubeconfig(path string, proxy *faultproxy.Proxy) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: proxy.URL, CertificateAuthorityData: proxy.CA}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	return clientcmd.WriteToFile(*config, path)
}

var namespaced = regexp.MustCompile(`/namespaces/([^/]+)/`)

// judge decides over requests to the API server.
func (c *crew) judge(r faultproxy.Request) faultproxy.Fault {
	match := namespaced.FindStringSubmatch(r.Path)
	if match == nil {
		return faultproxy.Fault{}
	}
	return c.lives[match[1]].judgeAPI(r)
}

func (c *crew) current() int { return int(c.epoch.Load()) }

// start starts the operator. The caller holds mu.
func (c *crew) start() error {
	var err error
	if c.operator, err = c.startOne("--metrics-bind-address=" + c.metrics); err == nil {
		c.log = c.operator.Log
	}
	return err
}

// startOne starts an operator of the crew: the only one, usually.
func (c *crew) startOne(flags ...string) (*testenv.Process, error) {
	return startOperator(c.ctx, c.kubeconfig, slices.Collect(maps.Keys(c.lives)), flags...)
}

// startOperator starts an operator that logs all that it can, into a file named after the kubeconfig.
func startOperator(ctx context.Context, kubeconfig string, namespaces []string, flags ...string) (*testenv.Process, error) {
	// Not the caller's context: that ends before Stop could ask the operator to end by itself.
	command := exec.CommandContext(context.WithoutCancel(ctx), world.binary, append([]string{
		"--watch-namespaces=" + strings.Join(namespaces, ","), "--settle-delay=" + settleDelay.String(), "--max-concurrent-reconciles=40",
		"--health-probe-bind-address=0", "--zap-log-level=10",
	}, flags...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	return env.Start(strings.TrimSuffix(filepath.Base(kubeconfig), ".kubeconfig"), command)
}

// kill kills the operator of an epoch with SIGKILL, unless that was done, and starts it again.
func (c *crew) kill(epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.current() || c.ctx.Err() != nil {
		return
	}
	errs := []error{c.operator.Kill(), c.api.WaitForConnections(c.ctx)}
	for _, l := range c.lives {
		errs = append(errs, l.service.WaitForConnections(c.ctx))
	}
	c.epoch.Add(1)
	c.hits += c.living
	if c.failure = errors.Join(errs...); c.failure == nil {
		c.failure = c.start()
	}
}

// hit tells how many lives kills came into.
func (c *crew) hit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits
}

// trouble is a reason why nothing more can be expected of the operator.
func (c *crew) trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil || c.operator == nil {
		return c.failure
	}
	select {
	case <-c.operator.Exited():
		return fmt.Errorf("the operator ended by itself: %w", c.operator.Err())
	default:
		return nil
	}
}

// live lets all lives be lived at the same time.
func (c *crew) live() error {
	c.mu.Lock()
	c.living = len(c.lives)
	err := c.start()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	var living sync.WaitGroup
	for _, l := range c.lives {
		living.Go(func() {
			l.problems = l.live(c.ctx)
			c.mu.Lock()
			c.living--
			c.mu.Unlock()
		})
	}
	living.Wait()
	metrics, err := c.scrape()
	if err == nil {
		err = c.operator.Stop()
	}
	if err == nil {
		err = errors.Join(bounded(metrics), c.leaks(metrics))
	}
	return err
}

// disband ends everything, whatever is still under way.
func (c *crew) disband() {
	c.end()
	if c.operator != nil {
		_ = c.operator.Kill() // it has ended, if all went well
	}
	_ = os.Remove(c.log) // there are thousands
	c.api.Close()
	for _, l := range c.lives {
		l.close()
	}
}

// leaks looks for personal data and credentials in the operator's log and metrics.
func (c *crew) leaks(metrics []byte) error {
	log, err := os.ReadFile(c.log)
	if err != nil {
		return err
	}
	if !bytes.Contains(log, []byte("Created the application")) {
		return fmt.Errorf("the log does not tell of a create: nothing was searched")
	}
	for where, content := range map[string][]byte{"the log": log, "the metrics": metrics} {
		if leak := leakIn(content); leak != "" {
			return fmt.Errorf("%s holds personal data or a credential: %s", where, leak)
		}
	}
	return nil
}

func (c *crew) scrape() ([]byte, error) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "http://"+c.metrics+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// ports are below those that the system gives to connections, one of which could otherwise take a port between two starts
// of an operator.
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
