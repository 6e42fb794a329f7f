package benchmark_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// unlimited is as many requests a second as an IdentityService allows: the limit to find is the machine's.
const unlimited = 1000

// hourly keeps polls out of what is measured.
const hourly = 3600

// BenchmarkManifestToReady is the way from a manifest to Ready, of the operator and of the bare loop on the same API server.
func BenchmarkManifestToReady(b *testing.B) {
	workers := number(b, "WORKERS", "10")
	loopFirst := false
	for _, latency := range numbers(b, "LATENCIES", "0,50") {
		for _, individuals := range numbers(b, "INDIVIDUALS", "1,3") {
			for _, mandates := range numbers(b, "MANDATES", "1000,5000") {
				b.Run(fmt.Sprintf("mandates=%d/individuals=%d/latency=%dms", mandates, individuals, latency), func(b *testing.B) {
					figures.heading(fmt.Sprintf("%d Mandates, individuals in each: %d, service begins after %d ms", mandates, individuals, latency))
					compareCreates(newPlant(b, time.Duration(latency)*time.Millisecond), mandates, individuals, workers, loopFirst)
					loopFirst = !loopFirst
				})
			}
		}
	}
}

// run is what one worker took for all its Mandates.
type run struct {
	took time.Duration
	cost cost
	cpu  float64
	// apiServer is the processor time of the API server meanwhile.
	apiServer float64
}

func compareCreates(p *plant, mandates, individuals, workers int, loopFirst bool) {
	p.Helper()
	// Each goes first every second time: whoever is second meets an API server with more in it.
	var operator, loop run
	if loopFirst {
		loop, operator = p.runLoop(mandates, individuals, workers), p.runOperator(mandates, individuals, workers)
	} else {
		operator, loop = p.runOperator(mandates, individuals, workers), p.runLoop(mandates, individuals, workers)
	}
	n := float64(mandates)
	rate := func(r run) float64 { return n / r.took.Seconds() }
	each := func(total int) float64 { return float64(total) / n }
	calls := func(c cost) string { return fmt.Sprintf("%.2f POST, %.2f GET", each(c.posts), each(c.gets)) }
	figures.add("manifest to Ready, a second", fmt.Sprintf("%.0f", rate(operator)), fmt.Sprintf("%.0f", rate(loop)), ratio(rate(operator), rate(loop)))
	figures.add("API writes each", fmt.Sprintf("%.2f", each(operator.cost.writes)), fmt.Sprintf("%.2f", each(loop.cost.writes)), atMost(each(operator.cost.writes), 3, "%.2f"))
	figures.add("API reads each", fmt.Sprintf("%.2f", each(operator.cost.reads)), fmt.Sprintf("%.2f", each(loop.cost.reads)), goal{})
	service := atMost(each(operator.cost.posts+operator.cost.gets), 2, "%.2f")
	service.target = "1 POST, 1 GET"
	figures.add("service calls each", calls(operator.cost), calls(loop.cost), service)
	perThousand := func(seconds float64) string { return fmt.Sprintf("%.2f", 1000*seconds/n) }
	figures.add("CPU seconds per 1,000", perThousand(operator.cpu), perThousand(loop.cpu), goal{})
	figures.add("the API server's meanwhile", perThousand(operator.apiServer), perThousand(loop.apiServer), goal{})
	p.ReportMetric(rate(operator), "mandates/s")
	p.ReportMetric(rate(loop), "loop-mandates/s")
	p.ReportMetric(rate(operator)/rate(loop), "ratio")
	p.ReportMetric(0, "ns/op") // it would be the time of setting up
}

// runOperator has the manifests applied while the operator is paused, connected to the service: what counts is its way to
// Ready, and not how fast manifests can be applied.
func (p *plant) runOperator(mandates, individuals, workers int) run {
	p.Helper()
	namespace := p.Namespace(p.B)
	p.connect(namespace, unlimited, hourly)
	operator := p.startOperator(namespace, workers)
	operator.connected(namespace)
	operator.pause()
	p.create(namespace, "bench", mandates, individuals)
	wait := p.awaitReady(namespace, mandates)
	return p.measure(operator, wait, operator.resume)
}

func (p *plant) runLoop(mandates, individuals, workers int) run {
	p.Helper()
	namespace := p.Namespace(p.B)
	p.create(namespace, "bench", mandates, individuals)
	loop := p.startLoop(namespace, workers)
	wait := p.awaitReady(namespace, mandates)
	return p.measure(loop, wait, func() { loop.request(http.MethodPost, "http://"+loop.metrics+"/begin") })
}

// measure takes the figures of a worker from when it begins until all its Mandates are Ready, and ends it.
func (p *plant) measure(w worker, wait, begin func()) run {
	p.Helper()
	before, apiServer, started := p.cost(), p.apiServerCPU(), time.Now()
	begin()
	cpu := w.cpu()
	profiled := w.profile(5)
	wait()
	r := run{took: time.Since(started), cpu: w.cpu() - cpu, apiServer: p.apiServerCPU() - apiServer}
	r.cost = p.cost().minus(before)
	profiled()
	p.check(w.Stop())
	return r
}
