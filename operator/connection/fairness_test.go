package connection

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// model is some limiters in one pool, and what was asked of them.
type model struct {
	*Registry
	limiters []*ConcurrencyLimiter
	using    map[types.NamespacedName]*ConcurrencyLimiter
	wokenUp  []types.NamespacedName
}

func newModel(capacity int) *model {
	m := &model{Registry: NewRegistry(capacity), using: map[types.NamespacedName]*ConcurrencyLimiter{}}
	m.Mandates.pool = shares{capacity: 2 * capacity, weight: 1} // soon used up
	m.Mandates.OnWakeUp(func(object types.NamespacedName, _ bool) { m.wokenUp = append(m.wokenUp, object) })
	for i, namespace := range []string{"", "a", "b", "b"} {
		key := Key{Namespace: namespace, Name: fmt.Sprint(i)}
		m.Breaker(key).setUsable(true)
		m.limiters = append(m.limiters, m.entry(key).mandates)
	}
	return m
}

// change makes one call that a controller may make.
func (m *model) change(t *rapid.T) {
	object := types.NamespacedName{
		Namespace: rapid.StringMatching("[a-c]").Draw(t, "namespace"), Name: rapid.StringMatching("[a-e]").Draw(t, "name"),
	}
	limiter := m.limiters[rapid.IntRange(0, len(m.limiters)-1).Draw(t, "limiter")]
	if len(m.wokenUp) > 0 && rapid.Bool().Draw(t, "reconcile one that was woken up") {
		object, m.wokenUp = m.wokenUp[0], m.wokenUp[1:]
		if w := m.Mandates.objects[object]; w != nil && w.state == offered {
			limiter = w.limiter
		}
	}
	if used := m.using[object]; used != nil { // its reconciliation is under way
		used.Release(object)
		delete(m.using, object)
		return
	}
	class, urgent := drawClass(t), rapid.Bool().Draw(t, "urgent")
	switch rapid.IntRange(0, 5).Draw(t, "call") {
	case 0:
		limiter.Await(object, class, urgent)
	case 1: // it is gone
	default:
		if limiter.TryAcquire(object, class, urgent) {
			m.using[object] = limiter
		}
	}
	m.Mandates.Done(object)
}

// check finds slots that are lost or used twice, and one that is free although somebody waits who may have it.
func (m *model) check(t *rapid.T) {
	total, counts := 0, map[*ConcurrencyLimiter][states][classes]int{}
	count := func(w *waiter) {
		counted := counts[w.limiter]
		counted[w.state][w.class]++
		counts[w.limiter] = counted
	}
	for _, w := range m.Mandates.objects {
		count(w)
	}
	for i, l := range m.limiters {
		for _, w := range l.using {
			count(w)
		}
		counted := counts[l]
		for state := waiting; state < states; state++ {
			if l.counts[state] != sum(&counted[state]) || l.breaker.counts[state] != counted[state] {
				t.Fatalf("limiter %d: state %d counts %d and %v, want %v",
					i, state, l.counts[state], l.breaker.counts[state], counted[state])
			}
		}
		used := l.counts[using] + l.counts[offered]
		total += used
		if l.slots.used != used || l.slots.full() && used > l.slots.capacity {
			t.Fatalf("limiter %d: %d slots are counted and %d in use", i, l.slots.used, used)
		}
		for _, w := range m.Mandates.objects {
			if w.limiter == l && w.state == waiting && l.slots.admits(w) && m.Mandates.pool.admits(w) {
				t.Fatalf("limiter %d: %+v waits for a slot that is free", i, w)
			}
		}
	}
	if pool := &m.Mandates.pool; pool.used != total || pool.used > pool.capacity {
		t.Fatalf("%d slots of the pool are counted and %d in use", pool.used, total)
	}
}

// Whatever the controllers do, in whatever order: no slot is lost or used twice, and none is free while somebody waits
// who may have it.
func TestLimitersLoseNoSlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.IntRange(1, 6).Draw(t, "capacity"))
		for range rapid.IntRange(1, 80).Draw(t, "changes") {
			m.change(t)
			m.check(t)
		}
	})
}

// Four namespaces have endless work of all kinds on a connection that they share, and each of it takes nine seconds. A
// fifth one that wants to create something waits for nobody, and when all of the slots for reads are used, it reads
// when the first one is free.
func TestNamespacesAreServedRoundRobin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hold = 9 * time.Second
		o := newObservedIn(newLimiters(10), true)
		var stopped atomic.Bool
		var work func(object types.NamespacedName, urgent bool)
		work = func(object types.NamespacedName, urgent bool) {
			if !stopped.Load() && o.TryAcquire(object, Read, urgent) {
				time.AfterFunc(hold, func() {
					o.Release(object)
					work(object, urgent) // and again
				})
			}
		}
		read := make(chan struct{}, 1)
		victim := types.NamespacedName{Namespace: "victim", Name: "acme"}
		o.limiters.OnWakeUp(func(object types.NamespacedName, urgent bool) {
			if object == victim {
				read <- struct{}{}
				return
			}
			work(object, urgent)
		})
		for i := range 40 {
			work(types.NamespacedName{Namespace: string("abcd"[i%4]), Name: fmt.Sprint(i)}, i%3 == 0)
		}
		for range 20 {
			elapse(hold / 4)
			if !o.TryAcquire(victim, Write, true) {
				t.Fatal("a create waits for the reads of others")
			}
			o.Release(victim)
		}
		if !o.TryAcquire(victim, Read, false) {
			asked := time.Now()
			<-read
			if waited := time.Since(asked); waited > hold {
				t.Errorf("a read waited for %s", waited)
			}
		}
		o.Release(victim)
		o.limiters.Done(victim)
		stopped.Store(true)
	})
}

// A tenth of the connections that may be stuck belong to one namespace, and use what it gets of the pool. Another
// namespace has all slots of its connection.
func TestNamespaceHasItsShareOfThePool(t *testing.T) {
	t.Parallel()
	limiters := newLimiters(2)
	acquired := 0
	for range saturatedConnections {
		greedy := newObservedIn(limiters, false)
		for i := range 3 {
			if greedy.TryAcquire(types.NamespacedName{Namespace: "greedy", Name: fmt.Sprint(i)}, Read, true) {
				acquired++
			}
		}
	}
	if acquired > limiters.pool.capacity/4 {
		t.Errorf("one namespace has %d of %d slots", acquired, limiters.pool.capacity)
	}
	if got := newObservedIn(limiters, false).tryAcquire("A", "B"); len(got) != 2 {
		t.Errorf("another namespace acquired slots for %q only", got)
	}
}

// When a pool is used up, one who waits is woken up for each slot that is free again, on whichever connection.
func TestPoolPassesSlotsOn(t *testing.T) {
	t.Parallel()
	limiters := newLimiters(2)
	limiters.pool = shares{capacity: 1}
	var all []*observed
	for range 3 {
		all = append(all, newObservedIn(limiters, false))
	}
	if !slices.Equal(all[0].tryAcquire("a"), []string{"a"}) || all[1].tryAcquire("b") != nil ||
		all[2].tryAcquire("c") != nil {
		t.Fatal("there is not exactly one slot")
	}
	woken := all[2] // the last one is told of all
	all[0].release("a")
	if n := len(woken.wokenUp); n != 1 {
		t.Fatalf("%d were woken up for one slot", n)
	}
	woken.done("b")
	woken.done("c")
	if n := len(woken.wokenUp); n != 2 {
		t.Errorf("after the slot was passed on, %d were woken up", n)
	}
}
