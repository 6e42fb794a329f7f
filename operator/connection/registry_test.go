package connection

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/internal/client"
)

// fleet are Mandates of one connection, whose service fails all reads while it is broken. A Mandate that is woken up
// reads once.
type fleet struct {
	*Registry
	key             Key
	broken          atomic.Bool
	reconciliations atomic.Int64
	reads, served   atomic.Int64
	transitions     atomic.Int64
}

// newFleet is of a ClusterIdentityService if the namespace is "".
func newFleet(t *testing.T, namespace string) *fleet {
	t.Helper()
	f := &fleet{Registry: NewRegistry(10), key: Key{Namespace: namespace, Name: "b"}}
	f.broken.Store(true)
	f.ServiceChanged = func(Key) { f.transitions.Add(1) }
	queue := make(chan types.NamespacedName, 100_000)
	f.Mandates.OnWakeUp(func(object types.NamespacedName, _ bool) { queue <- object })
	go func() {
		for object := range queue {
			f.reconcile(object)
		}
	}()
	t.Cleanup(func() { close(queue) })
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	f.Put(nobodyListens, f.key, Connection{Ready: true})
	f.transitions.Store(0)
	return f
}

func (f *fleet) reconcile(object types.NamespacedName) {
	defer f.Mandates.Done(object)
	f.reconciliations.Add(1)
	c, _ := f.Get(f.key)
	var slot Slot
	defer slot.Release()
	switch {
	case !c.Ready:
		c.Mandates.Await(object, Read, false)
	case slot.TryAcquire(c.Mandates, object, Read, false):
		f.reads.Add(1)
		result := client.OperationResult{
			Operation: read, Started: time.Now(), Slowest: time.Millisecond, Caller: object.String(),
		}
		if f.broken.Load() {
			result.Err = errServer
			defer c.Mandates.Await(object, Read, false) // it would come back after a backoff
		} else {
			f.served.Add(1)
		}
		f.Breaker(f.key).Observe(result)
	}
}

// begin reconciles Mandates for the first time, and counts their reads from then on.
func (f *fleet) begin(namespace string, mandates int) {
	for i := range mandates {
		f.reconcile(types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)})
	}
	synctest.Wait()
	f.reads.Store(0)
}

// Ten thousand Mandates wait for a service that fails reads only. In an hour, one read tests it every two minutes, and
// nobody is reconciled for nothing. When it works, all are served soon.
func TestManyWaitForAServiceThatFailsReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mandates = 10_000
		f := newFleet(t, "a")
		f.begin("", mandates)
		f.reconciliations.Store(0)
		f.transitions.Store(0)
		most := int64(0)
		for range 60 {
			before := f.reads.Load()
			elapse(time.Minute)
			most = max(most, f.reads.Load()-before)
			f.Breaker(f.key).Observe(client.OperationResult{Operation: probe, Started: time.Now(), Slowest: 1})
		}
		reads := f.reads.Load()
		if most > 3 || reads < 25 || reads > 40 {
			t.Errorf("%d reads in an hour, at most %d a minute, want 3 a minute and one every two minutes", reads, most)
		}
		if got := f.reconciliations.Load(); got > 2*reads {
			t.Errorf("%d reconciliations for %d reads", got, reads)
		}
		if got := f.transitions.Load(); got < 2*reads-1 || got > 2*reads+1 {
			t.Errorf("the circuit changed %d times for %d reads", got, reads)
		}
		f.broken.Store(false)
		elapse(maxPause)
		if got := f.served.Load(); got != mandates {
			t.Errorf("%s after the service works, %d of %d are served", maxPause, got, mandates)
		}
		if c, _ := f.Get(f.key); !c.Ready {
			t.Error("the connection is not Ready")
		}
	})
}

// A connection is not Ready while its circuit is open, nor before it is usable.
func TestReadyFollowsTheCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRegistry(0)
		key := Key{Kind: "IdentityService", Namespace: "a", Name: "b"}
		var changed atomic.Int64
		r.ServiceChanged = func(Key) { changed.Add(1) }
		nobodyListens, cancel := context.WithCancel(t.Context())
		cancel()
		ready := func(want bool) {
			t.Helper()
			if c, _ := r.Get(key); c.Ready != want {
				t.Errorf("Ready is %t", c.Ready)
			}
		}
		ready(false)
		r.Put(nobodyListens, key, Connection{})
		ready(false)
		r.Put(nobodyListens, key, Connection{Ready: true})
		ready(true)
		failure := client.OperationResult{Operation: probe, Started: time.Now(), Err: errServer}
		r.Breaker(key).Observe(failure)
		ready(false)
		r.Put(nobodyListens, key, Connection{Ready: true})
		ready(false)
		want := Usage{Key: key, State: Open, Failing: References}
		if usage := r.Usage(); !slices.Equal(usage, []Usage{want}) || changed.Load() != 2 {
			t.Errorf("the connections are %v, after %d changes", usage, changed.Load())
		}
		elapse(minPause)
		ready(false)
		r.Breaker(key).Observe(client.OperationResult{Operation: probe, Started: time.Now(), Slowest: 1})
		ready(true)
		r.Put(nobodyListens, key, Connection{})
		ready(false)
		r.Remove(nobodyListens, key)
		ready(false)
		if usage := r.Usage(); len(usage) != 0 {
			t.Errorf("after the end of the connection, there are %v", usage)
		}
	})
}
