package connection

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// observed is a ConcurrencyLimiter, with whom it woke up and how often its circuit opened.
type observed struct {
	*ConcurrencyLimiter
	rateLimitDelay atomic.Int64
	mu             sync.Mutex
	wokenUp        []string
	opened         int
}

func newObserved(capacity int) *observed {
	o := &observed{}
	o.ConcurrencyLimiter = &ConcurrencyLimiter{
		capacity: capacity, waiting: map[types.NamespacedName]bool{},
		rateLimitDelay: func() time.Duration { return time.Duration(o.rateLimitDelay.Load()) },
		notify:         o.wakesUp, onOpen: func() { o.opened++ },
	}
	return o
}

func (o *observed) wakesUp(object types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wokenUp = append(o.wokenUp, object.Name)
}

// tryAcquire gives those of several objects that got a slot. A name in capitals is urgent.
func (o *observed) tryAcquire(names ...string) (acquired []string) {
	for _, name := range names {
		if o.TryAcquire(types.NamespacedName{Name: name}, name < "a") {
			acquired = append(acquired, name)
		}
	}
	return acquired
}

func (o *observed) wantWokenUp(t *testing.T, want ...string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.wokenUp, want) {
		t.Errorf("%q were woken up, want %q", o.wokenUp, want)
	}
	o.wokenUp = nil
}

func TestLimiterWakesUpUrgentObjectsFirst(t *testing.T) {
	t.Parallel()
	o := newObserved(2)
	if got := o.tryAcquire("a", "b", "c", "d", "d", "E"); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("%q acquired one of two slots", got)
	}
	o.wantWokenUp(t)
	o.Release(Succeeded)
	o.wantWokenUp(t, "E")
	o.tryAcquire("E")
	o.Release(Unused)
	o.wantWokenUp(t, "c")
	o.tryAcquire("d") // without a wake-up, before c came
	o.tryAcquire("c")
	o.Release(Succeeded)
	o.wantWokenUp(t, "c")
}

func TestLimiterWithoutCapacityIsUnlimited(t *testing.T) {
	t.Parallel()
	o := newObserved(0)
	if got := o.tryAcquire("a", "b", "c"); len(got) != 3 {
		t.Errorf("only %q acquired a slot", got)
	}
}

// A connection that fails is used by one reconciliation at a time, and after failureThreshold failures by none. When it
// works again, all may use it.
func TestLimiterOpensTheCircuit(t *testing.T) {
	t.Parallel()
	o := newObserved(3)
	o.tryAcquire("a", "b", "c", "d", "e", "f", "g")
	for i, want := range []int{0, 0, 1} {
		o.Release(Failed)
		if o.opened != want {
			t.Errorf("the circuit opened %d times after %d failures, want %d", o.opened, i+1, want)
		}
	}
	o.wantWokenUp(t, "d")
	if got := o.tryAcquire("d", "e"); !slices.Equal(got, []string{"d"}) {
		t.Errorf("%q use a connection that fails at the same time", got)
	}
	o.Release(Unused)
	if o.opened != 1 {
		t.Error("a reconciliation without a request opened the circuit")
	}
	o.wantWokenUp(t, "e")
	o.tryAcquire("d")
	o.Release(Failed)
	if o.opened != 2 {
		t.Error("the next failure did not open the circuit again")
	}
	o.wokenUp = nil
	o.tryAcquire("d")
	o.Release(Succeeded)
	if len(o.wokenUp) == 0 {
		t.Error("nobody is woken up when the connection works again")
	}
	if got := o.tryAcquire("x", "y", "z"); len(got) != 3 {
		t.Errorf("%q acquired a slot, want three again", got)
	}
}

func TestSlotIsReleasedOnce(t *testing.T) {
	t.Parallel()
	o := newObserved(1)
	var slot, other Slot
	slot.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "a"}, false)
	slot.Release()
	slot.Release()
	slot.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "a"}, false)
	if other.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "b"}, false) {
		t.Error("a slot that was released twice makes two")
	}
}

// A worker does not wait long for the rate limit: the object is woken up when a request would go out soon.
func TestLimiterRespectsTheRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newObserved(2)
		o.rateLimitDelay.Store(int64(time.Minute))
		start := time.Now()
		if got := o.tryAcquire("a", "b", "c"); got != nil {
			t.Errorf("%q acquired a slot, a minute before the next request", got)
		}
		<-time.After(30 * time.Second)
		o.wantWokenUp(t)
		o.rateLimitDelay.Store(0)
		<-time.After(31 * time.Second)
		o.wantWokenUp(t, "a", "b")
		if got := o.tryAcquire("a", "b", "c"); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q acquired a slot after %s", got, time.Since(start))
		}
		o.rateLimitDelay.Store(int64(900 * time.Millisecond))
		o.Release(Succeeded)
		o.wantWokenUp(t, "c") // less than a second is waited for
	})
}

// A wake-up names the object, and never blocks.
func TestNotify(t *testing.T) {
	t.Parallel()
	limiters := newLimiters(1)
	for range wakeupBuffer + 1 {
		limiters.notify(types.NamespacedName{Namespace: "team", Name: "acme"})
	}
	if got := (<-limiters.Wakeups).Object; got.GetNamespace() != "team" || got.GetName() != "acme" {
		t.Errorf("%s/%s was woken up", got.GetNamespace(), got.GetName())
	}
}
