package benchmark_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// unlimited is the highest rate that an IdentityService allows, so that the machine is the limit.
const unlimited = 1000

// hourly excludes polls from the measurement.
const hourly = 3600

// BenchmarkManifestToReady measures the operator and the bare loop from a manifest to Ready, on the same API server.
func BenchmarkManifestToReady(b *testing.B) {
	workers := number(b, "WORKERS", "10", "10")
	loopFirst := false
	for _, latency := range numbers(b, "LATENCIES", "0,50", "0") {
		for _, individuals := range numbers(b, "INDIVIDUALS", "1,3", "1") {
			for _, mandates := range numbers(b, "MANDATES", "1000", "200") {
				b.Run(fmt.Sprintf("mandates=%d/individuals=%d/latency=%dms", mandates, individuals, latency), func(b *testing.B) {
					figures.heading(fmt.Sprintf("%d Mandates, individuals in each: %d, service latency %d ms",
						mandates, individuals, latency))
					f := newFixture(b, time.Duration(latency)*time.Millisecond)
					compareCreates(f, mandates, individuals, workers, loopFirst)
					loopFirst = !loopFirst
				})
			}
		}
	}
}

// run is the result of one worker for all its Mandates.
type run struct {
	took time.Duration
	cost cost
	cpu  float64
	// apiServer is the CPU time of the API server meanwhile.
	apiServer float64
}

func compareCreates(f *fixture, mandates, individuals, workers int, loopFirst bool) {
	f.Helper()
	// They alternate, because the second one uses an API server with more objects.
	var operator, loop run
	if loopFirst {
		loop, operator = f.runLoop(mandates, individuals, workers), f.runOperator(mandates, individuals, workers)
	} else {
		operator, loop = f.runOperator(mandates, individuals, workers), f.runLoop(mandates, individuals, workers)
	}
	n := float64(mandates)
	rate := func(r run) float64 { return n / r.took.Seconds() }
	each := func(total int) float64 { return float64(total) / n }
	requests := func(c cost) string { return fmt.Sprintf("%.2f POST, %.2f GET", each(c.posts), each(c.gets)) }
	decimal := func(value float64) string { return fmt.Sprintf("%.2f", value) }
	figures.add("manifest to Ready, a second", fmt.Sprintf("%.0f", rate(operator)), fmt.Sprintf("%.0f", rate(loop)),
		ratio(rate(operator), rate(loop)))
	writes := each(operator.cost.writes)
	figures.add("API writes each", decimal(writes), decimal(each(loop.cost.writes)), atMost(writes, 3, "%.2f"))
	figures.add("API reads each", decimal(each(operator.cost.reads)), decimal(each(loop.cost.reads)), comparison{})
	service := atMost(each(operator.cost.posts+operator.cost.gets), 2, "%.2f")
	service.target = "1 POST, 1 GET"
	figures.add("service calls each", requests(operator.cost), requests(loop.cost), service)
	perThousand := func(seconds float64) string { return decimal(1000 * seconds / n) }
	figures.add("CPU seconds per 1,000", perThousand(operator.cpu), perThousand(loop.cpu), comparison{})
	figures.add("the API server's meanwhile", perThousand(operator.apiServer), perThousand(loop.apiServer), comparison{})
	f.ReportMetric(rate(operator), "mandates/s")
	f.ReportMetric(rate(loop), "loop-mandates/s")
	f.ReportMetric(rate(operator)/rate(loop), "ratio")
	f.ReportMetric(0, "ns/op") // it would include the setup
}

// runOperator applies the manifests while the connected operator is paused, so that the time to apply them does not
// count.
func (f *fixture) runOperator(mandates, individuals, workers int) run {
	f.Helper()
	namespace := f.Namespace(f.TB)
	f.connect(namespace, unlimited, hourly)
	operator := f.startOperator(namespace, workers)
	operator.connected(namespace)
	operator.pause()
	f.create(namespace, "bench", mandates, individuals)
	wait := f.awaitReady(namespace, mandates)
	return f.measure(operator, wait, operator.resume)
}

func (f *fixture) runLoop(mandates, individuals, workers int) run {
	f.Helper()
	namespace := f.Namespace(f.TB)
	f.create(namespace, "bench", mandates, individuals)
	loop := f.startLoop(namespace, workers)
	wait := f.awaitReady(namespace, mandates)
	return f.measure(loop, wait, func() { loop.request(http.MethodPost, "http://"+loop.metrics+"/start") })
}

// measure measures a worker from its start until all its Mandates are Ready, and ends it.
func (f *fixture) measure(w worker, wait, start func()) run {
	f.Helper()
	before, apiServer := f.cost(), f.apiServerCPU()
	started := time.Now()
	start()
	cpu := w.cpu()
	profiled := w.profile(5)
	wait()
	r := run{took: time.Since(started), cpu: w.cpu() - cpu, apiServer: f.apiServerCPU() - apiServer}
	r.cost = f.cost().minus(before)
	profiled()
	f.check(w.Stop())
	return r
}
