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
	pairs := number(b, "PAIRS", "5", "5")
	for _, latency := range numbers(b, "LATENCIES", "0,50", "0") {
		for _, individuals := range numbers(b, "INDIVIDUALS", "1,3", "1") {
			for _, mandates := range numbers(b, "MANDATES", "1000", "150") {
				b.Run(fmt.Sprintf("mandates=%d/individuals=%d/latency=%dms", mandates, individuals, latency), func(b *testing.B) {
					figures.heading(fmt.Sprintf("%d Mandates, individuals in each: %d, service latency %d ms, %d pairs",
						mandates, individuals, latency, pairs))
					f := newFixture(b, time.Duration(latency)*time.Millisecond)
					compareCreates(f, mandates, individuals, workers, pairs)
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

// compareCreates measures pairs of the operator and the loop. The second one of a pair uses an API server with more
// objects, so their order alternates.
func compareCreates(f *fixture, mandates, individuals, workers, pairs int) {
	f.Helper()
	var operators, loops []run
	for pair := range pairs {
		if pair%2 == 1 {
			loops = append(loops, f.runLoop(mandates, individuals, workers))
		}
		operators = append(operators, f.runOperator(mandates, individuals, workers))
		if pair%2 == 0 {
			loops = append(loops, f.runLoop(mandates, individuals, workers))
		}
	}
	n := float64(mandates)
	rate := func(r run) float64 { return n / r.took.Seconds() }
	ratios := make([]float64, pairs)
	for i := range ratios {
		ratios[i] = rate(operators[i]) / rate(loops[i])
	}
	perSecond, loopPerSecond := spreadOf(operators, rate), spreadOf(loops, rate)
	quotient := newSpread(ratios)
	figures.add("manifest to Ready, a second", perSecond.format("%.0f"), loopPerSecond.format("%.0f"), ratio(quotient))
	writes := func(r run) float64 { return float64(r.cost.writes) / n }
	reads := func(r run) float64 { return float64(r.cost.reads) / n }
	figures.add("API writes each", spreadOf(operators, writes).format("%.2f"), spreadOf(loops, writes).format("%.2f"),
		atMost(spreadOf(operators, writes).most, 3, "%.2f"))
	figures.add("API reads each", spreadOf(operators, reads).format("%.2f"), spreadOf(loops, reads).format("%.2f"),
		comparison{})
	calls := func(r run) float64 { return float64(r.cost.posts+r.cost.gets) / n }
	service := atMost(spreadOf(operators, calls).most, 2, "%.2f")
	service.target = "1 POST + 1 GET"
	figures.add("service calls each", spreadOf(operators, calls).format("%.2f"), spreadOf(loops, calls).format("%.2f"),
		service)
	cpu := func(r run) float64 { return 1000 * r.cpu / n }
	apiServer := func(r run) float64 { return 1000 * r.apiServer / n }
	figures.add("CPU seconds per 1,000", spreadOf(operators, cpu).format("%.2f"), spreadOf(loops, cpu).format("%.2f"),
		comparison{})
	figures.add("the API server's meanwhile", spreadOf(operators, apiServer).format("%.2f"),
		spreadOf(loops, apiServer).format("%.2f"), comparison{})
	f.ReportMetric(perSecond.median, "mandates/s")
	f.ReportMetric(loopPerSecond.median, "loop-mandates/s")
	f.ReportMetric(quotient.median, "ratio")
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
