package benchmark_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// BenchmarkFailover measures how long a new Mandate waits after the leader of two replicas has ended.
func BenchmarkFailover(b *testing.B) {
	times := number(b, "FAILOVERS", "5", "1")
	f := newFixture(b, 0)
	figures.heading("Two replicas, of which the leader ends")
	namespace := f.Namespace(b)
	election, err := f.GrantLeaderElection(b.Context(), namespace)
	f.check(err)
	start := func() worker { return f.startOperator(namespace, number(b, "WORKERS", "10", "10"), election...) }
	f.connect(namespace, unlimited, hourly)
	leader := start()
	leader.connected(namespace)
	f.check(f.createOne(namespace, "first", 1))
	f.eventually("served", func() bool { return len(f.posted(0)) == 1 })
	for _, c := range []struct {
		what   string
		finish func(worker) error
		target float64
	}{
		{"leader killed", func(w worker) error { return w.Kill() }, 20},
		{"leader terminated", func(w worker) error { return w.Stop() }, 3},
	} {
		var waits []time.Duration
		for i := range times {
			standby := start()
			f.renewed(namespace, time.Now().Add(settled))
			name, sequence := fmt.Sprintf("after-%.0f-%d", c.target, i), f.lastEmail()
			ended := time.Now()
			f.check(c.finish(leader))
			f.check(f.createOne(namespace, name, 1))
			f.eventually("served", func() bool { return len(f.posted(sequence)) > 0 })
			waits = append(waits, f.posted(sequence)[namespace+"."+name].Sub(ended))
			leader = standby
		}
		slices.Sort(waits)
		longest := waits[len(waits)-1]
		figures.add(c.what+": POST of a new Mandate after, longest", seconds(longest), "",
			atMost(longest.Seconds(), c.target, "%.2f s"))
		figures.addFigure("the same, median", seconds(waits[len(waits)/2]))
		b.ReportMetric(longest.Seconds(), fmt.Sprintf("failover-s-of-%.0f", c.target))
	}
	f.check(leader.Stop())
	b.ReportMetric(0, "ns/op")
}

// settled is how long a replica has waited when the leader ends, so that it is between two looks at the Lease.
const settled = 5 * time.Second

// renewed waits until the leader has renewed its Lease after a time. If it is killed then, its Lease lasts the longest.
func (f *fixture) renewed(namespace string, after time.Time) {
	f.Helper()
	clientset, err := kubernetes.NewForConfig(f.Config)
	f.check(err)
	f.eventually("renewed", func() bool {
		leases, err := clientset.CoordinationV1().Leases(namespace).List(f.Context(), metav1.ListOptions{})
		f.check(err)
		return len(leases.Items) == 1 && leases.Items[0].Spec.RenewTime.After(after)
	})
}
