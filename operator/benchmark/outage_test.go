package benchmark_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	// halfMinutely has every Mandate polled soon after the reads begin to fail.
	halfMinutely = 30
	// untilAllWait is how long it takes until every Mandate has been due for a poll, and waits.
	untilAllWait = 2 * time.Minute
)

// BenchmarkFailingReads measures what an operator costs itself and a service that fails reads only: requests while the
// circuit is open, reconciliations of Mandates that wait, and how soon everything works again.
func BenchmarkFailingReads(b *testing.B) {
	if quick {
		b.Skip("QUICK: an outage takes minutes")
	}
	n, minutes := number(b, "MANY", "10000", ""), number(b, "OUTAGE", "6", "")
	f := newFixture(b, 0)
	figures.heading(fmt.Sprintf("%d Mandates, a service that fails reads for %d minutes", n, minutes))
	namespace := f.Namespace(b)
	f.connect(namespace, unlimited, halfMinutely)
	operator := f.startOperator(namespace, number(b, "WORKERS", "10", "10"))
	operator.connected(namespace)
	wait := f.awaitReady(namespace, n)
	f.create(namespace, "many", n, 1)
	wait()

	f.check(f.sandbox.Fault(b.Context(), control.Fault{
		Operation: control.RetrieveApplication, Kind: control.Answer, Status: 500, Times: control.Always,
	}))
	f.eventually("Ready=False", func() bool { return f.serviceReady(namespace).Status == metav1.ConditionFalse })
	since := f.serviceReady(namespace).LastTransitionTime
	most := operator.outage(n, minutes)
	stays := "Ready=False all the time"
	if ready := f.serviceReady(namespace); ready.Status != metav1.ConditionFalse || ready.LastTransitionTime != since {
		stays = "Ready changed"
	}
	figures.addFigure("the IdentityService meanwhile", stays)
	figures.add("GETs a minute while open, at most", fmt.Sprint(most), "", atMost(float64(most), 3, "%.0f"))

	f.check(f.sandbox.ClearFaults(b.Context()))
	works, gets := time.Now(), f.requests(control.RetrieveApplication)
	operator.connected(namespace)
	healed := time.Since(works)
	figures.add("Ready after it works again", seconds(healed), "", atMost(healed.Seconds(), 120, "%.0f s"))
	f.eventually("polled all", func() bool { return f.requests(control.RetrieveApplication) >= gets+int64(n) })
	figures.addFigure("all Mandates read after", seconds(time.Since(works)))
	b.ReportMetric(healed.Seconds(), "heal-s")
	b.ReportMetric(0, "ns/op")
}

// outage counts what happens while reads fail, and returns the most GETs in a minute.
func (o worker) outage(n, minutes int) (most int64) {
	o.Helper()
	gets := func() int64 { return o.requests(control.RetrieveApplication) + o.requests(control.References) }
	reconciliations := func() float64 { return o.metric("controller_runtime_reconcile_total", `controller="mandate"`) }
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	before, settled := gets(), 0.0
	var started time.Time
	for minute := 1; minute <= minutes; minute++ {
		<-ticker.C
		now := gets()
		most, before = max(most, now-before), now
		if time.Duration(minute)*time.Minute == untilAllWait {
			settled, started = reconciliations(), time.Now()
		}
	}
	rate := (reconciliations() - settled) / time.Since(started).Seconds()
	limit := 5 * float64(n) / 10_000
	figures.add("reconciliations a second of Mandates that wait", fmt.Sprintf("%.2f", rate), "",
		atMost(rate, limit, "%.2f"))
	o.ReportMetric(rate, "reconciles/s")
	return most
}

// serviceReady is the condition Ready of the IdentityService.
func (f *fixture) serviceReady(namespace string) metav1.Condition {
	f.Helper()
	service := &v1alpha1.IdentityService{}
	f.check(f.kube.Get(f.Context(), client.ObjectKey{Namespace: namespace, Name: "default"}, service))
	ready := meta.FindStatusCondition(service.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return metav1.Condition{}
	}
	return *ready
}
