package connection

import (
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxRateLimitDelay is how long the next request may have to wait for the rate limit when a reconciliation begins. Its
	// worker waits that long.
	maxRateLimitDelay = time.Second
	// FallbackRequeue is when an object that waits is reconciled again if no wake-up reaches it, which would be a defect.
	FallbackRequeue = time.Hour
)

// ConcurrencyLimiter bounds how many reconciliations use a connection at a time, so that a service that does not answer
// holds up no other. It never blocks: a reconciliation that gets no slot ends, and its object is woken up when a slot
// is free, the rate limit leaves room for a request, and the circuit breaker admits it. Only as many are woken up as
// can get a slot.
type ConcurrencyLimiter struct {
	capacity int // 0: unlimited
	breaker  *CircuitBreaker
	wakeUp   func(waiter) // called without mu

	mu             sync.Mutex
	rateLimitDelay func() time.Duration // of the next request
	timer          bool                 // a wake-up is scheduled for when that delay has passed
	inFlight       int
	waiters        waiters
}

// TryAcquire takes a slot for a reconciliation that is for calls of a class. It has to be given back with Release. If
// there is none, the object waits for a wake-up, and urgent ones are first.
func (l *ConcurrencyLimiter) TryAcquire(object types.NamespacedName, class Class, urgent bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight < l.limit() && l.withinRateLimit() && l.breaker.tryAcquire(class) {
		l.inFlight++
		l.waiters.remove(object, l.breaker)
		return true
	}
	l.waiters.add(waiter{object: object, class: class, urgent: urgent}, l.breaker)
	return false
}

// Await has an object woken up as after TryAcquire. Its status says that it waits.
func (l *ConcurrencyLimiter) Await(object types.NamespacedName, class Class, urgent bool) {
	l.mu.Lock()
	l.waiters.add(waiter{object: object, class: class, urgent: urgent, informed: true}, l.breaker)
	l.mu.Unlock()
	l.next()
}

// Release gives a slot back.
func (l *ConcurrencyLimiter) Release(class Class) {
	l.mu.Lock()
	l.inFlight--
	l.breaker.release(class)
	l.mu.Unlock()
	l.breaker.freed() // another limiter may wait for it
}

// done ends the reconciliation of an object that was woken up. If it did not use its slot, another one may.
func (l *ConcurrencyLimiter) done(object types.NamespacedName) {
	l.mu.Lock()
	unused := l.waiters.offered(object)
	if unused {
		l.waiters.remove(object, l.breaker)
	}
	l.mu.Unlock()
	if unused {
		l.breaker.freed()
	}
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
	var next []waiter
	for l.waiters.any() && l.inFlight+l.waiters.offers < l.limit() && l.withinRateLimit() {
		w := l.waiters.offer(l.breaker)
		if w == nil {
			break
		}
		next = append(next, *w)
	}
	l.mu.Unlock()
	for _, w := range next {
		l.wakeUp(w)
	}
}

func (l *ConcurrencyLimiter) limit() int {
	if l.capacity == 0 {
		return math.MaxInt
	}
	return l.capacity
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
	class   Class
}

// TryAcquire takes a slot, unless it is held already. If it reports false, the object is woken up later.
func (s *Slot) TryAcquire(limiter *ConcurrencyLimiter, object types.NamespacedName, class Class, urgent bool) bool {
	if s.limiter == nil && limiter.TryAcquire(object, class, urgent) {
		s.limiter, s.class = limiter, class
	}
	return s.limiter != nil
}

// Release gives the slot back, if it is held.
func (s *Slot) Release() {
	if s.limiter != nil {
		s.limiter.Release(s.class)
		s.limiter = nil
	}
}
