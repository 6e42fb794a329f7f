package benchmark_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// worker is a process that creates applications for Mandates: the operator, or the bare loop. Both serve metrics of
// their Go runtime, and profiles.
type worker struct {
	*fixture
	*testenv.Process
	name, metrics, pprof string
}

// startOperator starts the operator with its defaults, in one namespace, with further flags.
func (f *fixture) startOperator(namespace string, workers int, flags ...string) worker {
	f.Helper()
	return f.startOperatorIn(nil, namespace, workers, flags...)
}

// startOperatorIn has further environment variables.
func (f *fixture) startOperatorIn(environment []string, namespace string, workers int, flags ...string) worker {
	f.Helper()
	binary, err := f.BuildPlain("./cmd/mandate-operator")
	f.check(err)
	o := worker{fixture: f, name: "operator", metrics: testenv.FreeAddress(f), pprof: testenv.FreeAddress(f)}
	command := exec.CommandContext(context.WithoutCancel(f.Context()), binary, append(flags,
		"--kubeconfig="+f.kubeconfig, "--watch-namespaces="+namespace, "--health-probe-bind-address=0",
		"--metrics-bind-address="+o.metrics, "--metrics-secure=false", "--pprof-bind-address="+o.pprof,
		"--max-concurrent-reconciles="+strconv.Itoa(workers))...)
	command.Env = append(os.Environ(), environment...)
	o.Process, err = f.Start("operator", command)
	f.check(err)
	f.eventually("serving metrics", func() bool {
		connection, err := (&net.Dialer{}).DialContext(f.Context(), "tcp", o.metrics)
		if err == nil {
			f.check(connection.Close())
		}
		return err == nil
	})
	return o
}

// connected waits until the operator has a connection to the service.
func (o worker) connected(namespace string) {
	o.Helper()
	o.eventually("connected", func() bool {
		service := &v1alpha1.IdentityService{}
		o.check(o.kube.Get(o.Context(), client.ObjectKey{Namespace: namespace, Name: "default"}, service))
		return meta.IsStatusConditionTrue(service.Status.Conditions, v1alpha1.ConditionReady)
	})
}

// pause and resume stop and continue the process as a whole.
func (o worker) pause() {
	o.Helper()
	o.check(syscall.Kill(o.PID(), syscall.SIGSTOP))
}

func (o worker) resume() {
	o.Helper()
	o.check(syscall.Kill(o.PID(), syscall.SIGCONT))
}

// metric is the sum of the series of a metric that match all labels.
func (o worker) metric(name string, labels ...string) float64 {
	o.Helper()
	sum, err := sumOf(o.get("http://"+o.metrics+"/metrics"), name, labels...)
	o.check(err)
	return sum
}

// sumOf adds up series in the text format of Prometheus.
func sumOf(text []byte, name string, labels ...string) (sum float64, err error) {
	for line := range strings.Lines(string(text)) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		series, set, _ := strings.Cut(series, "{")
		lacks := func(label string) bool { return !strings.Contains(set, label) }
		if series != name || slices.ContainsFunc(labels, lacks) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("the metric %s: %w", name, err)
		}
		sum += n
	}
	return sum, nil
}

func (o worker) get(url string) []byte {
	o.Helper()
	return o.request(http.MethodGet, url)
}

func (o worker) request(method, url string) []byte {
	o.Helper()
	request, err := http.NewRequestWithContext(o.Context(), method, url, http.NoBody)
	o.check(err)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	o.check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	o.check(err)
	if response.StatusCode != http.StatusOK {
		o.Fatalf("%s %s: %d %s", method, url, response.StatusCode, body)
	}
	return body
}

// cpu is the processor time that the process has used, in seconds.
func (o worker) cpu() float64 {
	o.Helper()
	return o.metric("process_cpu_seconds_total")
}

const mebibyte = 1 << 20

// memoryUse is the live heap and the resident set, in MiB. The heap is the least of some readings: what a busy process
// allocates during a collection counts as live, and a collection takes long while the processor is busy.
func (o worker) memoryUse(name string) (heap, rss float64) {
	o.Helper()
	o.keepProfile(name+"-heap.pprof", o.get("http://"+o.pprof+"/debug/pprof/heap?gc=1"))
	const readings = 5
	heap = o.liveHeap()
	for range readings - 1 {
		heap = min(heap, o.liveHeap())
	}
	return heap, o.metric("process_resident_memory_bytes") / mebibyte
}

// liveHeap is read within the request that collects the heap: the metrics of a busy process would include garbage.
func (o worker) liveHeap() float64 {
	o.Helper()
	profile := o.get("http://" + o.pprof + "/debug/pprof/heap?gc=1&debug=1")
	_, after, _ := strings.Cut(string(profile), "\n# HeapAlloc = ")
	bytes, _, _ := strings.Cut(after, "\n")
	heap, err := strconv.ParseFloat(bytes, 64)
	o.check(err)
	o.Logf("live heap: %.1f MiB", heap/mebibyte)
	return heap / mebibyte
}

// profile records CPU profiles of the worker and of the API server for the next seconds, if PROFILES is set.
func (o worker) profile(seconds int) (done func()) {
	o.Helper()
	if os.Getenv("PROFILES") == "" {
		return func() {}
	}
	own, apiServer := make(chan []byte, 1), make(chan []byte, 1)
	go func() { own <- o.get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", o.pprof, seconds)) }()
	go func() { apiServer <- o.apiServerProfile(seconds) }()
	return func() {
		o.Helper()
		run := o.name + "-" + strings.ReplaceAll(o.Name(), "/", "-")
		o.keepProfile(run+"-cpu.pprof", <-own)
		o.keepProfile(run+"-api-server-cpu.pprof", <-apiServer)
	}
}
