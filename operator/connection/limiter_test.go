package connection

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/internal/client"
)

// observed is a ConcurrencyLimiter, with whom it woke up.
type observed struct {
	*ConcurrencyLimiter
	rateLimitDelay atomic.Int64
	mu             sync.Mutex
	wokenUp        []string
}

func newObserved(capacity int) *observed { return newObservedIn(newLimiters(capacity), false) }

// newObservedIn is one of several, which one namespace has, or several share.
func newObservedIn(limiters *Limiters, shared bool) *observed {
	o := &observed{}
	breaker := newCircuitBreaker(func(bool) { o.followBreaker() })
	breaker.usable = true
	o.ConcurrencyLimiter = limiters.newLimiter(breaker, shared)
	limiters.OnWakeUp(o.wakesUp)
	o.ConcurrencyLimiter.rateLimitDelay = func() time.Duration { return time.Duration(o.rateLimitDelay.Load()) }
	return o
}

func (o *observed) wakesUp(object types.NamespacedName, _ bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wokenUp = append(o.wokenUp, object.Name)
}

// done ends the reconciliation of an object.
func (o *observed) done(name string) { o.limiters.Done(types.NamespacedName{Name: name}) }

// tryAcquire gives those of several objects that got a slot. A name in capitals is urgent, and for a write.
func (o *observed) tryAcquire(names ...string) (acquired []string) {
	for _, name := range names {
		if o.TryAcquire(types.NamespacedName{Name: name}, classOfName(name), name < "a") {
			acquired = append(acquired, name)
		}
	}
	return acquired
}

// release gives back the slots of several objects.
func (o *observed) release(names ...string) {
	for _, name := range names {
		o.Release(types.NamespacedName{Name: name})
	}
}

func classOfName(name string) Class {
	if name < "a" {
		return Write
	}
	return Read
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

// answer is the result of calls that were made now.
func (o *observed) answer(operation client.Operation, errs ...error) {
	for _, err := range errs {
		o.breaker.Observe(client.OperationResult{Operation: operation, Started: time.Now(), Slowest: 1, Err: err})
	}
}

// Urgent objects are before others, but do not keep them waiting for ever. Nobody takes a slot that is kept for
// somebody else.
func TestLimiterWakesUpUrgentObjectsFirst(t *testing.T) {
	t.Parallel()
	o := newObserved(2)
	if got := o.tryAcquire("a", "b", "c", "d", "d", "E"); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("%q acquired one of two slots", got)
	}
	o.wantWokenUp(t)
	o.release("a")
	o.wantWokenUp(t, "E")
	o.tryAcquire("E")
	o.release("E")
	o.wantWokenUp(t, "c")
	if got := o.tryAcquire("d", "F", "G", "H", "I", "c"); !slices.Equal(got, []string{"c"}) {
		t.Errorf("%q acquired the slot that was kept for c", got)
	}
	for _, next := range []string{"F", "G", "H", "d", "I"} {
		before := map[string]string{"F": "c", "G": "F", "H": "G", "d": "H", "I": "d"}[next]
		o.release(before)
		o.wantWokenUp(t, next)
		o.tryAcquire(next)
	}
}

// An object that becomes urgent goes to the front. One that is not as it was when it was woken up waits again.
func TestLimiterKeepsPriorities(t *testing.T) {
	t.Parallel()
	o := newObserved(1)
	o.tryAcquire("a", "b", "c")
	urgent := func(name string) bool { return o.TryAcquire(types.NamespacedName{Name: name}, Read, true) }
	urgent("c")
	o.release("a")
	o.wantWokenUp(t, "c")
	o.tryAcquire("d")
	if !urgent("c") {
		t.Error("c got no slot")
	}
	o.done("c")
	o.wantWokenUp(t)
	o.release("c")
	o.wantWokenUp(t, "b")
	urgent("e")
	if urgent("b") {
		t.Error("b, which is another waiter now, came before e")
	}
	o.wantWokenUp(t, "e")
}

// Only as many are woken up as can get a slot. One that does not use its slot, or is gone, passes it on.
func TestLimiterPassesSlotsOn(t *testing.T) {
	t.Parallel()
	o := newObserved(2)
	o.tryAcquire("a", "b", "c", "d", "e")
	o.release("a")
	o.wantWokenUp(t, "c")
	o.release("b", "b")
	o.wantWokenUp(t, "d")
	o.done("x")
	o.wantWokenUp(t)
	o.done("c")
	o.done("c")
	o.wantWokenUp(t, "e")
	if got := o.tryAcquire("d", "e"); len(got) != 2 {
		t.Errorf("only %q acquired the slots that they were woken up for", got)
	}
	o.done("d")
	o.release("d", "e")
	o.wantWokenUp(t)
}

// Reads leave a fifth of the slots to writes: a service may answer reads slowly, and create at once.
func TestLimiterLeavesSlotsToWrites(t *testing.T) {
	t.Parallel()
	o := newObserved(10)
	reads := strings.Split("abcdefghijkl", "")
	if got := o.tryAcquire(reads...); len(got) != 8 {
		t.Errorf("%d of 10 slots are used to read", len(got))
	}
	if got := o.tryAcquire("A", "B", "C"); len(got) != 2 {
		t.Errorf("%q acquired two slots for a write", got)
	}
	o.release("a")
	o.wantWokenUp(t, "C")
}

func TestLimiterWithoutCapacityIsUnlimited(t *testing.T) {
	t.Parallel()
	o := newObserved(0)
	if got := o.tryAcquire("a", "b", "c"); len(got) != 3 {
		t.Errorf("only %q acquired a slot", got)
	}
}

// A connection that fails is used by one reconciliation of a class at a time, and after failureThreshold failures by
// none. Then those that are urgent are woken up once, to show it. The test is one of the class that failed, and when it
// succeeds all may use it.
func TestLimiterFollowsTheCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newObserved(3)
		o.tryAcquire("a", "b", "c", "d", "e", "f", "G")
		o.answer(read, errServer)
		o.release("a")
		o.wantWokenUp(t, "G")
		o.tryAcquire("G")
		o.release("b")
		o.wantWokenUp(t)
		o.release("c")
		o.wantWokenUp(t, "d")
		if got := o.tryAcquire("d", "e"); !slices.Equal(got, []string{"d"}) {
			t.Errorf("%q read at the same time from a service that fails reads", got)
		}
		o.tryAcquire("H", "I", "J")
		o.answer(read, errServer, errServer)
		o.wantWokenUp(t, "I", "J")
		o.Await(types.NamespacedName{Name: "I"}, Write, true)
		o.Await(types.NamespacedName{Name: "J"}, Write, true)
		o.release("d", "G", "H")
		o.wantWokenUp(t)
		for pause := minPause; pause < time.Minute; pause *= 2 {
			elapse(pause)
			o.mu.Lock()
			woken := o.wokenUp
			o.mu.Unlock()
			if len(woken) != 1 || woken[0] > "f" {
				t.Fatalf("%q were woken up for the test", woken)
			}
			o.wantWokenUp(t, woken...)
			o.tryAcquire(woken...)
			o.answer(read, errServer)
			o.release(woken...)
			o.tryAcquire(woken...)
			o.wantWokenUp(t)
		}
		elapse(maxPause)
		o.mu.Lock()
		woken := slices.Clone(o.wokenUp)
		o.wokenUp = nil
		o.mu.Unlock()
		o.tryAcquire(woken...)
		o.answer(read, nil)
		o.release(woken...)
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.wokenUp) != 3 || o.wokenUp[0] != "I" || o.wokenUp[1] != "J" {
			t.Errorf("%q were woken up, want I, J and another", o.wokenUp)
		}
	})
}

func TestSlotIsReleasedOnce(t *testing.T) {
	t.Parallel()
	o := newObserved(1)
	var slot, other Slot
	slot.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "a"}, Read, false)
	slot.Release()
	slot.Release()
	slot.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "a"}, Read, false)
	if other.TryAcquire(o.ConcurrencyLimiter, types.NamespacedName{Name: "b"}, Read, false) {
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
		o.release("a")
		o.wantWokenUp(t, "c") // less than a second is waited for
		o.done("c")
		o.rateLimitDelay.Store(int64(time.Hour))
		o.tryAcquire("d")
		o.follow(func() time.Duration { return 0 }) // other credentials
		o.wantWokenUp(t, "d")
	})
}
