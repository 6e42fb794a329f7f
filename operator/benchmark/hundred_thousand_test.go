package benchmark_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// BenchmarkHundredThousand measures an operator that starts with a hundred thousand Mandates, while it reads each
// application once within the polling interval: its memory, and how long a new Mandate waits.
func BenchmarkHundredThousand(b *testing.B) {
	n, workers := number(b, "MANY", "100000", "1000"), number(b, "WORKERS", "10", "10")
	interval := time.Duration(number(b, "INTERVAL", "300", "6")) * time.Second
	f := newFixture(b, 0)
	figures.heading(fmt.Sprintf("%d Mandates with 3 individuals and 9 checks, polled every %s", n, interval))
	namespace := f.Namespace(b)
	f.connect(namespace, unlimited, int(interval.Seconds()), func(s *v1alpha1.IdentityService) {
		s.Spec.Polling.MaxIntervalSeconds = s.Spec.Polling.MinIntervalSeconds
	})
	began := time.Now()
	f.populate(namespace, n, workers)
	b.Logf("%d Mandates were stored after %s", n, time.Since(began))

	read := f.whenAllAreRead(n + 1)
	before, cpu := f.cost(), f.apiServerCPU()
	started := time.Now()
	operator := f.coldStart(namespace, n, workers)
	reconciled, sequence := time.Now(), f.lastEmail()
	profiled := operator.profile(int(interval.Seconds()) / 3)
	applied := f.applyEvery(interval/time.Duration(probes()), namespace, "new")
	after, all := (<-read).Sub(reconciled), time.Since(started)
	profiled()
	waits := f.waits(applied, sequence)
	cost := f.cost().minus(before)
	p99 := waits[len(waits)*99/100-1]
	figures.add("until all were read once after that", seconds(after), "",
		atMost(after.Seconds(), interval.Seconds(), "%.1f s"))
	figures.add("a new Mandate meanwhile: POST after, p99", seconds(p99), "", atMost(p99.Seconds(), 2, "%.2f s"))
	figures.addFigure("the same, median and longest", seconds(waits[len(waits)/2])+", "+seconds(waits[len(waits)-1]))
	figures.addFigure("GETs, API writes of all", fmt.Sprintf("%d, %d", cost.gets, cost.writes))
	figures.addFigure("the API server's cores meanwhile", fmt.Sprintf("%.2f", (f.apiServerCPU()-cpu)/all.Seconds()))
	figures.addFigure("the API server's RSS", mib(f.apiServerMetric("process_resident_memory_bytes")/mebibyte))
	figures.addFigure("the operator's cores meanwhile", fmt.Sprintf("%.2f", operator.cpu()/all.Seconds()))
	operator.addMemory("memory", "hundred-thousand", n)
	if peak, known := operator.peak(); known {
		figures.addFigure("memory: largest RSS", mib(peak))
	}
	f.check(operator.Stop())
	b.ReportMetric(p99.Seconds(), "p99-s")
	b.ReportMetric(0, "ns/op")
}

// whenAllAreRead says when the service has had a GET of so many applications. Each new one is read once, too.
func (f *fixture) whenAllAreRead(applications int) <-chan time.Time {
	f.Helper()
	reads := func() (int, error) {
		stats, err := f.sandbox.Stats(f.Context())
		return int(stats.Requests(control.RetrieveApplication) - stats.Requests(control.CreateApplication)), err
	}
	before, err := reads()
	f.check(err)
	done := make(chan time.Time, 1)
	go func() {
		defer close(done)
		ticker := time.NewTicker(time.Second / 2)
		defer ticker.Stop()
		for range ticker.C {
			now, err := reads()
			if err != nil {
				f.Error(err)
				return
			}
			if now-before >= applications {
				done <- time.Now()
				return
			}
		}
	}()
	return done
}
