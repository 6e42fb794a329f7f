package connection

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/internal/client"
)

// readsOf are results of reads for an object.
func (c *circuit) readsOf(caller string, errs ...error) {
	for _, err := range errs {
		c.Observe(client.OperationResult{
			Operation: read, Started: time.Now(), Slowest: time.Millisecond, Caller: caller, Err: err,
		})
	}
}

// The service fails to return the applications of one namespace, and one of its Mandates always waits to read. Others
// that share the connection create, and read in between. When their reads fail, too, the service does.
func TestUnreadableApplicationsOfOneNamespace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.shared = true
		c.count(Read, gone, waiting)
		c.calls(probe, nil)
		c.readsOf("b/1", errServer)
		c.readsOf("b/2", errServer)
		for pause := minPause; pause < time.Hour; pause *= 2 {
			c.readsOf("b/1", errLost, errLost) // the last was under way
			elapse(min(pause, maxPause) - 1)
			if c.tryAcquire(Read) || c.MayRetry() {
				t.Fatalf("another read, %s after one that failed", pause)
			}
			for range 2 {
				if !c.tryAcquire(Write) {
					t.Fatal("the creates of others wait")
				}
			}
			c.release(Write)
			c.release(Write)
			elapse(1)
			if !c.tryAcquire(Read) || c.tryAcquire(Read) {
				t.Fatal("after the pause, not exactly one read tests the service")
			}
			c.release(Read)
		}
		c.want(Closed, None)
		if !c.AwaitsProbe() {
			t.Error("nobody looks whether the service works at all")
		}
		c.readsOf("b/1", errServer)
		c.readsOf("a/1", nil)
		for range 2 {
			if !c.tryAcquire(Read) || !c.MayRetry() {
				t.Error("the others have to wait, although they can read")
			}
		}
		c.readsOf("b/1", errServer, errServer)
		c.readsOf("a/1", errServer)
		c.want(Open, Read)
		elapse(minPause)
		c.readsOf("b/1", errServer)
		c.want(Open, Read) // while it is half-open, each failure counts
	})
}

// What is one namespace's at most counts at once: the service cannot be reached, or the namespace has it for itself.
func TestReadsThatFailForAll(t *testing.T) {
	t.Parallel()
	unreachable := &client.Error{Kind: client.KindUnreachable}
	for name, test := range map[string]struct {
		shared bool
		err    error
		class  Class
	}{
		"alone": {false, errServer, Read}, "unreachable": {true, unreachable, Read}, "login": {true, errLogin, Login},
	} {
		c := newCircuit(t)
		c.shared = test.shared
		c.readsOf("b/1", test.err, test.err, test.err)
		if state, class, _ := c.Status(); state != Open || class != test.class {
			t.Errorf("%s: %s because of %q", name, state, class)
		}
		c.stop()
	}
}

// A service that fails reads gets few of them, also if all Mandates that share it are of one namespace, so that nobody
// can tell whether others could read.
func TestManyOfOneNamespaceWaitToRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mandates = 1000
		f := newFleet(t, "")
		f.begin("b", mandates)
		elapse(time.Hour)
		if reads := f.reads.Load(); reads < 25 || reads > 40 {
			t.Errorf("%d reads in an hour, want one every two minutes", reads)
		}
		f.broken.Store(false)
		elapse(maxPause)
		if got := f.served.Load(); got != mandates {
			t.Errorf("%s after the service works, %d of %d are served", maxPause, got, mandates)
		}
	})
}

// Nobody waits for what is gone, a Mandate or a connection: that would keep the client of the connection in memory. Who
// waited for a connection finds out.
func TestNobodyWaitsForWhatIsGone(t *testing.T) {
	t.Parallel()
	r, key := NewRegistry(1), Key{Name: "b"}
	var woken []string
	r.Mandates.OnWakeUp(func(object types.NamespacedName, _ bool) { woken = append(woken, object.Name) })
	named := func(name string) types.NamespacedName { return types.NamespacedName{Name: name} }
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	r.Put(nobodyListens, key, Connection{Ready: true})
	c, _ := r.Get(key)
	r.Breaker(key).Observe(client.OperationResult{Operation: probe, Started: time.Now(), Err: errServer})
	for _, name := range []string{"deleted", "waiting"} {
		c.Mandates.Await(named(name), Read, false)
		r.Mandates.Done(named(name))
	}
	r.Mandates.Forget(named("deleted"))
	r.Mandates.Forget(named("unknown"))
	if len(r.Mandates.objects) != 1 {
		t.Errorf("%d wait, want 1", len(r.Mandates.objects))
	}
	r.Remove(nobodyListens, key)
	c.Mandates.Await(named("later"), Write, true) // with what it had got before
	if c.Mandates.TryAcquire(named("last"), Write, true) {
		t.Error("a connection that is gone is used")
	}
	if want := "[waiting later last]"; fmt.Sprint(woken) != want || len(r.Mandates.objects) != 0 {
		t.Errorf("%v were woken up, want %s, and %d wait", woken, want, len(r.Mandates.objects))
	}
}
