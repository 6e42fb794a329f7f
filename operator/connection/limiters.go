package connection

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Limiters are the ConcurrencyLimiters of all connections, for one kind of object.
type Limiters struct {
	capacity int // of each
	pool     *pool

	mu       sync.Mutex
	wakeUp   func(object types.NamespacedName, urgent bool)
	acquired func(Class, time.Duration)
	limiters map[Key]*ConcurrencyLimiter
	offers   map[types.NamespacedName]*ConcurrencyLimiter // of those that were woken up, by whom
}

func newLimiters(capacity int) *Limiters {
	return &Limiters{
		capacity: capacity, pool: newPool(capacity),
		wakeUp:   func(types.NamespacedName, bool) {},
		acquired: func(Class, time.Duration) {},
		limiters: map[Key]*ConcurrencyLimiter{}, offers: map[types.NamespacedName]*ConcurrencyLimiter{},
	}
}

// OnWakeUp sets what is called with each object that can get a slot now. It must not block.
func (l *Limiters) OnWakeUp(wakeUp func(object types.NamespacedName, urgent bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakeUp = wakeUp
}

// OnAcquire sets what is called with each slot that is taken: for what, and how long the object has waited. It must not
// block. Call it before use.
func (l *Limiters) OnAcquire(acquired func(class Class, waited time.Duration)) { l.acquired = acquired }

// Workers is how many workers a controller needs: one for each slot, and some for reconciliations that use no service.
func (l *Limiters) Workers() int { return l.pool.shares.capacity + l.capacity }

// Done has to be called at the end of every reconciliation. If the object was woken up and did not use its slot,
// another one may.
func (l *Limiters) Done(object types.NamespacedName) {
	l.mu.Lock()
	limiter := l.offers[object]
	delete(l.offers, object)
	l.mu.Unlock()
	if limiter != nil {
		limiter.done(object)
	}
}

// of gives the limiter of a connection.
func (l *Limiters) of(key Key, breaker *CircuitBreaker) *ConcurrencyLimiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.limiters[key]
	if limiter == nil {
		limiter = newConcurrencyLimiter(l.capacity, key.Namespace == "", breaker, l.pool)
		limiter.acquired = l.acquired
		limiter.wakeUp = func(w waiter) { l.notify(w, limiter) }
		l.limiters[key] = limiter
	}
	return limiter
}

func (l *Limiters) remove(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.limiters, key)
}

// notify wakes an object up.
func (l *Limiters) notify(w waiter, limiter *ConcurrencyLimiter) {
	l.mu.Lock()
	before, wakeUp := l.offers[w.object], l.wakeUp
	l.offers[w.object] = limiter
	l.mu.Unlock()
	if before != nil && before != limiter {
		before.done(w.object)
	}
	wakeUp(w.object, w.urgent)
}
