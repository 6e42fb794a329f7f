package benchmark_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// BenchmarkManyMandates measures an operator with as many Mandates as it should support: its memory, its start, and how
// long a new Mandate waits when all others are due for a poll.
func BenchmarkManyMandates(b *testing.B) {
	n, workers := number(b, "MANY", "10000", "250"), number(b, "WORKERS", "10", "10")
	f := newFixture(b, 0)
	figures.heading(fmt.Sprintf("%d Mandates with 3 individuals and 9 checks", n))
	namespace := f.Namespace(b)
	f.connect(namespace, unlimited, hourly)
	operator := f.startOperator(namespace, workers)
	operator.connected(namespace)
	heap, rss := operator.memoryUse("empty")
	figures.addFigure("memory with none: live heap, RSS", mib(heap)+", "+mib(rss))

	wait, started := f.awaitReady(namespace, n), time.Now()
	f.create(namespace, "many", n, 3)
	wait()
	rate := float64(n) / time.Since(started).Seconds()
	figures.addFigure("applying manifests until all Ready, a second", fmt.Sprintf("%.0f", rate))
	operator.addMemory("memory after creating them", "created", n)

	f.check(operator.Stop())
	operator = f.coldStart(namespace, n, workers)
	operator.addMemory("memory after a start with them", "started", n)
	for _, limit := range numbers(b, "RATES", "1000,10", "1000,10") {
		if quick { // so few Mandates never are a backlog
			break
		}
		f.check(operator.Stop())
		f.connect(namespace, limit, 1)
		operator = f.startOperator(namespace, workers)
		operator.backlog(namespace, n, limit)
	}
	f.check(operator.Stop())
	b.ReportMetric(0, "ns/op") // the time of the whole benchmark says nothing
}

func mib(n float64) string { return fmt.Sprintf("%.0f MiB", n) }

// heapTarget is the limit in MiB for 10,000 Mandates.
const heapTarget = 45

func (o worker) addMemory(what, name string, n int) {
	o.Helper()
	heap, rss := o.memoryUse(name)
	if quick { // what an operator without Mandates takes is more than so few
		figures.addFigure(what+": live heap", fmt.Sprintf("%.1f MiB", heap))
	} else {
		limit := heapTarget * float64(n) / 10_000
		figures.add(what+": live heap", fmt.Sprintf("%.1f MiB", heap), "", atMost(heap, limit, "%.1f MiB"))
	}
	figures.addFigure(what+": RSS", mib(rss))
	o.ReportMetric(heap, "heap-MiB-"+name)
	o.ReportMetric(rss, "RSS-MiB-"+name)
}

// coldStart starts the operator, and applies a Mandate at once. The others were read not long ago, so their reads are
// spread over the interval.
func (f *fixture) coldStart(namespace string, n, workers int) worker {
	f.Helper()
	before, sequence := f.cost(), f.lastEmail()
	started := time.Now()
	operator := f.startOperator(namespace, workers)
	f.check(f.createOne(namespace, "cold", 3))
	f.eventually("reconciled all", func() bool {
		return operator.metric("controller_runtime_reconcile_total", `controller="mandate"`) > float64(n)
	})
	all := time.Since(started)
	f.eventually("served the new one", func() bool { return len(f.posted(sequence)) > 0 })
	served := f.posted(sequence)[namespace+".cold"].Sub(started)
	cost := f.cost().minus(before)
	figures.addFigure("cold start: until all were reconciled once", seconds(all))
	figures.addFigure("cold start: until a new Mandate is served", seconds(served))
	figures.addFigure("cold start: GETs, API writes", fmt.Sprintf("%d, %d", cost.gets, cost.writes))
	f.ReportMetric(all.Seconds(), "cold-s")
	return operator
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

const probeEvery = 500 * time.Millisecond

// probes is how many new Mandates are applied one after the other.
func probes() int {
	if quick {
		return 20
	}
	return 100
}

// backlog applies new Mandates while all others are due for a poll, and measures how long each waits for its POST. The
// clock starts before the manifest is sent to the API server.
func (o worker) backlog(namespace string, n, limit int) {
	o.Helper()
	o.connected(namespace)
	o.eventually("behind", func() bool { return int(o.metric("workqueue_depth", `controller="mandate"`)) > n/2 })
	sequence, gets := o.lastEmail(), o.requests(control.RetrieveApplication)
	started := time.Now()
	applied := o.applyEvery(probeEvery, namespace, fmt.Sprintf("probe-%d", limit))
	polls := float64(o.requests(control.RetrieveApplication)-gets) / time.Since(started).Seconds()
	waits := o.waits(applied, sequence)
	p99 := waits[len(waits)*99/100-1]
	what := fmt.Sprintf("new behind %d polls, all due, at %d requests a second", n, limit)
	figures.add(what+": POST after, p99", seconds(p99), "", atMost(p99.Seconds(), 2, "%.2f s"))
	figures.addFigure("the same, median and longest", seconds(waits[len(waits)/2])+", "+seconds(waits[len(waits)-1]))
	figures.addFigure("the same, GETs a second meanwhile", fmt.Sprintf("%.0f", polls))
	o.ReportMetric(p99.Seconds(), fmt.Sprintf("p99-s-at-%d/s", limit))
}

// applyEvery applies new Mandates, and says when each was applied, by its reference.
func (f *fixture) applyEvery(every time.Duration, namespace, prefix string) map[string]time.Time {
	f.Helper()
	applied := map[string]time.Time{}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := range probes() {
		<-ticker.C
		name := fmt.Sprintf("%s-%d", prefix, i)
		applied[namespace+"."+name] = time.Now()
		f.check(f.createOne(namespace, name, 1))
	}
	return applied
}

// waits is how long each Mandate waited for its POST, the shortest first.
func (f *fixture) waits(applied map[string]time.Time, after int64) []time.Duration {
	f.Helper()
	var posted map[string]time.Time
	f.eventually("served", func() bool {
		posted = f.posted(after)
		return len(posted) == len(applied)
	})
	var waits []time.Duration
	for reference, at := range posted {
		waits = append(waits, at.Sub(applied[reference]))
	}
	slices.Sort(waits)
	return waits
}

// lastEmail is the sequence number of the sandbox's last e-mail.
func (f *fixture) lastEmail() int64 {
	f.Helper()
	overview, err := f.sandbox.Overview(f.Context())
	f.check(err)
	if len(overview.Emails) == 0 {
		return 0
	}
	return overview.Emails[0].Sequence
}

// posted is the time at which each reference's application was created, after an e-mail. It is the time of the e-mails
// that the application caused.
func (f *fixture) posted(after int64) map[string]time.Time {
	f.Helper()
	emails, err := f.sandbox.OutboxAfter(f.Context(), after)
	f.check(err)
	times := map[string]time.Time{}
	for _, email := range emails {
		times[email.Reference] = email.Time
	}
	return times
}
