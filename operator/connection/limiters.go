package connection

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// saturatedConnections is how many connections, all slots of which are in use, have room in the pool at the same time.
	saturatedConnections = 10
	// poolWeight lets the reads, or the writes, of a namespace use about a sixth of the pool.
	poolWeight = 4
)

// Limiters are the ConcurrencyLimiters of all connections, for one kind of object. They have one lock, because they
// share a pool of slots. There are as many workers as slots in it, and some more: no connection and no namespace takes
// them all.
type Limiters struct {
	// Acquired is called with each slot that is taken: for what, and how long the object has waited. It must not block.
	// Set it before use.
	Acquired func(class Class, waited time.Duration)
	capacity int // of each

	mu      sync.Mutex
	wakeUp  func(object types.NamespacedName, urgent bool) // called without mu
	objects map[types.NamespacedName]*waiter               // those that wait, or were woken up
	pool    shares                                         // the slots of all connections
	blocked []*ConcurrencyLimiter                          // those that wait for a slot of the pool
	passes  int

	// For unlock: who has to be woken up, and whose slots were given back.
	woken []*waiter
	freed []*ConcurrencyLimiter
}

func newLimiters(capacity int) *Limiters {
	slots := saturatedConnections * capacity
	return &Limiters{
		capacity: capacity, Acquired: func(Class, time.Duration) {}, wakeUp: func(types.NamespacedName, bool) {},
		objects: map[types.NamespacedName]*waiter{},
		pool:    shares{capacity: slots, weight: poolWeight, writes: slots / writesPart},
	}
}

// OnWakeUp sets what is called with each object that can get a slot now. It must not block.
func (l *Limiters) OnWakeUp(wakeUp func(object types.NamespacedName, urgent bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeUp = wakeUp
}

// WakeUp has an object reconciled now.
func (l *Limiters) WakeUp(object types.NamespacedName) {
	l.mu.Lock()
	wakeUp := l.wakeUp
	l.mu.Unlock()
	wakeUp(object, true)
}

// Workers is how many workers a controller needs: one for each slot, and some for reconciliations that use no service.
func (l *Limiters) Workers() int { return l.pool.capacity + l.capacity }

// Done has to be called at the end of every reconciliation. If the object was woken up and did not use its slot,
// another one may.
func (l *Limiters) Done(object types.NamespacedName) { l.end(object, offered) }

// Forget has an object that is gone wait no more.
func (l *Limiters) Forget(object types.NamespacedName) { l.end(object, waiting) }

func (l *Limiters) end(object types.NamespacedName, from waiterState) {
	l.mu.Lock()
	defer l.unlock()
	if w := l.objects[object]; w != nil && w.state >= from {
		l.drop(w)
	}
}

// drop has an object wait no more. A slot that is kept for it is free for others.
func (l *Limiters) drop(w *waiter) {
	w.become(gone)
	delete(l.objects, w.object)
}

// newLimiter makes the limiter of a connection, which one namespace has, or several share.
func (l *Limiters) newLimiter(breaker *CircuitBreaker, shared bool) *ConcurrencyLimiter {
	limiter := &ConcurrencyLimiter{
		limiters: l, breaker: breaker, rateLimitDelay: func() time.Duration { return 0 },
		slots: shares{capacity: l.capacity, writes: l.capacity / writesPart}, using: map[types.NamespacedName]*waiter{},
	}
	if shared {
		limiter.slots.weight = sharedWeight
	}
	return limiter
}

// unlock unlocks, wakes up those that slots are kept for, and offers slots that were given back to others: on the same
// connection, to objects of the other kind, too, and on those that wait for the pool, each time to another one first.
func (l *Limiters) unlock() {
	wakeUp := l.wakeUp
	woken, freed := l.woken, l.freed
	l.woken, l.freed = nil, nil
	var blocked []*ConcurrencyLimiter
	if len(freed) > 0 && len(l.blocked) > 0 {
		l.passes++
		first := l.passes % len(l.blocked)
		blocked = slices.Concat(l.blocked[first:], l.blocked[:first])
		l.blocked = nil
	}
	l.mu.Unlock()
	for _, w := range woken {
		wakeUp(w.object, w.urgent)
	}
	for _, limiter := range freed {
		limiter.breaker.notify(false)
	}
	for _, limiter := range blocked {
		limiter.update(func() {})
	}
}
