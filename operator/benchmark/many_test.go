package benchmark_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// BenchmarkManyMandates is a namespace with as many Mandates as an operator should bear: what they take in memory, how the operator
// starts with them, and what becomes of a new Mandate when all the others are due for a poll.
func BenchmarkManyMandates(b *testing.B) {
	n, workers := number(b, "MANY", "10000"), number(b, "WORKERS", "10")
	p := newPlant(b, 0)
	figures.heading(fmt.Sprintf("%d Mandates with 3 individuals and 9 checks", n))
	namespace := p.Namespace(b)
	p.connect(namespace, unlimited, hourly)
	operator := p.startOperator(namespace, workers)
	operator.connected(namespace)
	heap, rss := operator.memory("empty")
	figures.add("memory with none: live heap, RSS", mib(heap)+", "+mib(rss), "", goal{})

	wait, started := p.awaitReady(namespace, n), time.Now()
	p.create(namespace, "many", n, 3)
	wait()
	figures.add("applying manifests until all Ready, a second", fmt.Sprintf("%.0f", float64(n)/time.Since(started).Seconds()), "", goal{})
	operator.addMemory("memory after creating them", "created", n)

	p.check(operator.Stop())
	operator = p.coldStart(namespace, n, workers)
	operator.addMemory("memory after a start with them", "started", n)
	for _, limit := range numbers(b, "RATES", "1000,10") {
		p.check(operator.Stop())
		p.connect(namespace, limit, 1)
		operator = p.startOperator(namespace, workers)
		operator.backlog(namespace, n, limit)
	}
	p.check(operator.Stop())
	b.ReportMetric(0, "ns/op") // it would be the time of all of it
}

func mib(n float64) string { return fmt.Sprintf("%.0f MiB", n) }

// heapTarget is in MiB, for 10,000 Mandates.
const heapTarget = 45

func (o worker) addMemory(what, name string, n int) {
	o.Helper()
	heap, rss := o.memory(name)
	figures.add(what+": live heap", fmt.Sprintf("%.1f MiB", heap), "", atMost(heap, heapTarget*float64(n)/10_000, "%.1f MiB"))
	figures.add(what+": RSS", mib(rss), "", goal{})
	o.ReportMetric(heap, "heap-MiB-"+name)
	o.ReportMetric(rss, "RSS-MiB-"+name)
}

// coldStart starts the operator, and applies a Mandate at the same time.
func (p *plant) coldStart(namespace string, n, workers int) worker {
	p.Helper()
	before, sequence, started := p.cost(), p.lastEmail(), time.Now()
	operator := p.startOperator(namespace, workers)
	p.check(p.createOne(namespace, "cold", 3))
	p.eventually("looked at all", func() bool { return int(p.requests(control.RetrieveApplication)) > before.gets+n })
	all := time.Since(started)
	served := p.posted(sequence)[namespace+".cold"].Sub(started)
	cost := p.cost().minus(before)
	figures.add("cold start: until all were read once", seconds(all), "", goal{})
	figures.add("cold start: until a new Mandate is served", seconds(served), "", goal{})
	figures.add("cold start: GETs, API writes", fmt.Sprintf("%d, %d", cost.gets, cost.writes), "", goal{})
	p.ReportMetric(all.Seconds(), "cold-s")
	return operator
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

const (
	probes     = 100
	probeEvery = 500 * time.Millisecond
)

// backlog applies new Mandates while the others are all due, second after second, and tells how long each waits for its
// POST. The clock starts before the manifest is sent to the API server.
func (o worker) backlog(namespace string, n, limit int) {
	o.Helper()
	o.connected(namespace)
	o.eventually("behind", func() bool { return int(o.metric("workqueue_depth", `controller="mandate"`)) > n/2 })
	sequence, gets, started := o.lastEmail(), o.requests(control.RetrieveApplication), time.Now()
	applied := map[string]time.Time{}
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for i := range probes {
		<-ticker.C
		name := fmt.Sprintf("probe-%d-%d", limit, i)
		applied[namespace+"."+name] = time.Now()
		o.check(o.createOne(namespace, name, 1))
	}
	polls := float64(o.requests(control.RetrieveApplication)-gets) / time.Since(started).Seconds()
	var posted map[string]time.Time
	o.eventually("served", func() bool {
		posted = o.posted(sequence)
		return len(posted) == probes
	})
	var waits []time.Duration
	for reference, at := range posted {
		waits = append(waits, at.Sub(applied[reference]))
	}
	slices.Sort(waits)
	p99 := waits[len(waits)*99/100-1]
	what := fmt.Sprintf("new behind %d polls, all due, at %d requests a second", n, limit)
	figures.add(what+": POST after, p99", seconds(p99), "", atMost(p99.Seconds(), 2, "%.2f s"))
	figures.add("the same, median and longest", seconds(waits[len(waits)/2])+", "+seconds(waits[len(waits)-1]), "", goal{})
	figures.add("the same, GETs a second meanwhile", fmt.Sprintf("%.0f", polls), "", goal{})
	o.ReportMetric(p99.Seconds(), fmt.Sprintf("p99-s-at-%d/s", limit))
}

// lastEmail is the number of the last e-mail that the sandbox sent.
func (p *plant) lastEmail() int64 {
	p.Helper()
	overview, err := p.sandbox.Overview(p.Context())
	p.check(err)
	if len(overview.Emails) == 0 {
		return 0
	}
	return overview.Emails[0].Sequence
}

// posted is when applications were created after an e-mail, by their references, by the e-mails that this caused.
func (p *plant) posted(after int64) map[string]time.Time {
	p.Helper()
	emails, err := p.sandbox.OutboxAfter(p.Context(), after)
	p.check(err)
	times := map[string]time.Time{}
	for _, email := range emails {
		times[email.Reference] = email.Time
	}
	return times
}
