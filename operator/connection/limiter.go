package connection

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxRateLimitDelay is how long the next request may have to wait for the rate limit when a reconciliation begins. Its
	// worker waits that long.
	maxRateLimitDelay = time.Second
	// sharedWeight lets the reads, or the writes, of one namespace use about a third of the slots of a connection that
	// several share.
	sharedWeight = 2
	// writesPart is the part of the slots that reads do not take: a fifth.
	writesPart = 5
	// slowRead is how long a read may take until a reconciliation leaves the read that follows a create to the next one.
	slowRead = time.Second
	// FallbackRequeue is when an object that waits is reconciled again if no wake-up reaches it, which would be a defect.
	FallbackRequeue = time.Hour
)

// ConcurrencyLimiter bounds how many reconciliations use a connection at a time, so that a service that does not answer
// holds up no other. It never blocks: a reconciliation that gets no slot ends, and its object is woken up when a slot
// is free, the rate limit leaves room for a request, and the circuit breaker admits it. Only as many are woken up as
// can get a slot, and the slot is kept for them. Namespaces that share a connection share its slots, too.
type ConcurrencyLimiter struct {
	breaker *CircuitBreaker
	pool    *pool        // the slots of all connections
	wakeUp  func(waiter) // called without mu
	// acquired is called with mu, when a slot is taken: for what, and after how long.
	acquired func(Class, time.Duration)

	mu             sync.Mutex
	rateLimitDelay func() time.Duration // of the next request
	timer          bool                 // a wake-up is scheduled for when that delay has passed
	slots          shares               // of this connection, in use or kept for somebody
	using          map[types.NamespacedName]*waiter
	slow           bool // the last read was
	waiters        waiters
}

// newConcurrencyLimiter makes one with so many slots; 0 is unlimited. Several namespaces share them, or one has them
// all.
func newConcurrencyLimiter(capacity int, shared bool, breaker *CircuitBreaker, pool *pool) *ConcurrencyLimiter {
	l := &ConcurrencyLimiter{
		breaker: breaker, pool: pool, rateLimitDelay: func() time.Duration { return 0 },
		acquired: func(Class, time.Duration) {},
		slots:    shares{capacity: capacity, writes: capacity / writesPart}, using: map[types.NamespacedName]*waiter{},
	}
	if shared {
		l.slots.weight = sharedWeight
	}
	return l
}

// TryAcquire takes a slot for a reconciliation that is for calls of a class. It has to be given back with Release. If
// there is none, or others have waited for it, the object waits for a wake-up, and urgent ones are first.
func (l *ConcurrencyLimiter) TryAcquire(object types.NamespacedName, class Class, urgent bool) bool {
	l.mu.Lock()
	wanted := waiter{object: object, class: class, urgent: urgent, queued: l.queued(object)}
	var woken []waiter
	withdrawn := false
	if w := l.waiters.byName[object]; w == nil || !w.offered || w.class != class || w.urgent != urgent {
		withdrawn = l.withdraw(object)
		l.waiters.add(wanted, l.breaker)
		woken = l.offerSlots()
	}
	acquired := l.takeReservedSlot(&wanted)
	if w := l.waiters.byName[object]; w != nil && w.offered { // and must not be used any more
		withdrawn = l.withdraw(object)
		l.waiters.add(wanted, l.breaker)
	}
	l.mu.Unlock()
	for _, w := range woken {
		if w.object != object {
			l.wakeUp(w)
		}
	}
	if withdrawn {
		l.freed()
	}
	return acquired
}

// takeReservedSlot takes the slot that is kept for a waiter, if there is one and it may be used still.
func (l *ConcurrencyLimiter) takeReservedSlot(wanted *waiter) bool {
	if w := l.waiters.byName[wanted.object]; !w.offered || !l.withinRateLimit() || !l.breaker.tryAcquire(wanted.class) {
		return false
	}
	w := l.waiters.remove(wanted.object, l.breaker)
	w.since = time.Now()
	l.using[wanted.object] = w
	l.acquired(w.class, w.since.Sub(w.queued))
	return true
}

// queued is since when an object waits: since now, if it does not wait yet.
func (l *ConcurrencyLimiter) queued(object types.NamespacedName) time.Time {
	if w := l.waiters.byName[object]; w != nil {
		return w.queued
	}
	return time.Now()
}

// Await has an object woken up as after TryAcquire. Its status says that it waits.
func (l *ConcurrencyLimiter) Await(object types.NamespacedName, class Class, urgent bool) {
	l.mu.Lock()
	awaiting := waiter{object: object, class: class, urgent: urgent, queued: l.queued(object), informed: true}
	withdrawn := l.withdraw(object)
	l.waiters.add(awaiting, l.breaker)
	l.mu.Unlock()
	l.next()
	if withdrawn {
		l.freed()
	}
}

// Release gives the slot of an object back.
func (l *ConcurrencyLimiter) Release(object types.NamespacedName) {
	l.mu.Lock()
	w := l.using[object]
	if w != nil {
		delete(l.using, object)
		if w.class.reads() {
			l.slow = w.isSlow()
		}
		l.slots.count(w, -1)
		l.pool.release(w)
		l.breaker.release(w.class)
	}
	l.mu.Unlock()
	if w != nil {
		l.freed()
	}
}

// ReadsAreSlow reports whether the last read took long, or one that is under way does.
func (l *ConcurrencyLimiter) ReadsAreSlow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := l.slow
	for _, w := range l.using {
		slow = slow || w.isSlow()
	}
	return slow
}

// done ends the reconciliation of an object that was woken up. If it did not use its slot, another one may.
func (l *ConcurrencyLimiter) done(object types.NamespacedName) {
	l.mu.Lock()
	unused := l.withdraw(object)
	l.mu.Unlock()
	if unused {
		l.freed()
	}
}

// withdraw gives back the slot that is kept for an object, if one is. The object does not wait any more then.
func (l *ConcurrencyLimiter) withdraw(object types.NamespacedName) bool {
	if w := l.waiters.byName[object]; w == nil || !w.offered {
		return false
	}
	w := l.waiters.remove(object, l.breaker)
	l.slots.count(w, -1)
	l.pool.release(w)
	return true
}

// freed offers a slot to others: on this connection, to objects of the other kind, too.
func (l *ConcurrencyLimiter) freed() {
	l.breaker.freed()
	l.pool.wake()
}

// breakerChanged wakes up who may use the connection now. If the circuit has opened, it wakes up the urgent ones whose
// status does not say yet that they wait.
func (l *ConcurrencyLimiter) breakerChanged() {
	var uninformed []waiter
	if !l.breaker.ready() {
		l.mu.Lock()
		uninformed = l.waiters.removeUninformed(l.breaker)
		l.mu.Unlock()
	}
	for _, w := range uninformed {
		l.wakeUp(w)
	}
	l.next()
}

// next wakes up as many objects as can get a slot.
func (l *ConcurrencyLimiter) next() {
	l.mu.Lock()
	woken := l.offerSlots()
	l.mu.Unlock()
	for _, w := range woken {
		l.wakeUp(w)
	}
}

// offerSlots keeps slots for those that may have one, who have to be woken up.
func (l *ConcurrencyLimiter) offerSlots() (woken []waiter) {
	for l.waiters.any() && !l.slots.full() && l.withinRateLimit() {
		w := l.waiters.offer(l.breaker, l.reserveSlot)
		if w == nil {
			break
		}
		woken = append(woken, *w)
	}
	return woken
}

// reserveSlot keeps a slot for an object, if it may have one.
func (l *ConcurrencyLimiter) reserveSlot(w *waiter) bool {
	if !l.slots.admits(w) || !l.pool.tryAcquire(w, l) {
		return false
	}
	l.slots.count(w, 1)
	return true
}

// follow makes it follow the rate limit of the client that the connection has now.
func (l *ConcurrencyLimiter) follow(rateLimitDelay func() time.Duration) {
	l.mu.Lock()
	l.rateLimitDelay = rateLimitDelay
	l.mu.Unlock()
	l.next()
}

// withinRateLimit reports whether a request would go out soon. If not, it schedules a wake-up for when it would.
func (l *ConcurrencyLimiter) withinRateLimit() bool {
	delay := l.rateLimitDelay()
	if delay > maxRateLimitDelay && !l.timer {
		l.timer = true
		time.AfterFunc(delay-maxRateLimitDelay/2, l.rateLimitPassed)
	}
	return delay <= maxRateLimitDelay
}

func (l *ConcurrencyLimiter) rateLimitPassed() {
	l.mu.Lock()
	l.timer = false
	l.mu.Unlock()
	l.next()
}

// Slot is the place of one reconciliation in a ConcurrencyLimiter. The zero value holds none.
type Slot struct {
	limiter *ConcurrencyLimiter
	object  types.NamespacedName
	class   Class
}

// TryAcquire takes a slot, unless it is held already. If it reports false, the object is woken up later.
func (s *Slot) TryAcquire(limiter *ConcurrencyLimiter, object types.NamespacedName, class Class, urgent bool) bool {
	if s.limiter == nil && limiter.TryAcquire(object, class, urgent) {
		*s = Slot{limiter, object, class}
	}
	return s.limiter != nil
}

// IsFor reports whether a slot is held, and for calls of a class.
func (s *Slot) IsFor(class Class) bool { return s.limiter != nil && s.class == class }

// Release gives the slot back, if it is held.
func (s *Slot) Release() {
	if s.limiter != nil {
		s.limiter.Release(s.object)
		s.limiter = nil
	}
}
