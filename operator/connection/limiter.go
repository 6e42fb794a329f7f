package connection

import (
	"slices"
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
	limiters *Limiters // all of them, whose lock guards what follows
	breaker  *CircuitBreaker

	rateLimitDelay func() time.Duration // of the next request
	timer          bool                 // a wake-up is scheduled for when that delay has passed
	slots          shares               // of this connection, in use or kept for somebody
	queue          waitQueue            // those that wait
	counts         [states]int          // how many waiters are in each state
	using          map[types.NamespacedName]*waiter
	slow           bool // the last read was
}

// waiter is an object that waits for a slot, or has one.
type waiter struct {
	object   types.NamespacedName
	class    Class
	urgent   bool
	limiter  *ConcurrencyLimiter
	state    waiterState
	queued   time.Time // when it began to wait
	since    time.Time // when it took its slot
	informed bool      // its status says that it waits
}

// waiterState is what a waiter does.
type waiterState int

const (
	gone    waiterState = iota // if a queue has it still, it skips it
	waiting                    // in a queue
	offered                    // it was woken up, and its slot is kept for it
	using                      // its slot

	states = iota
)

// become changes what a waiter does. A slot that it gives up is free for others.
func (w *waiter) become(next waiterState) {
	l := w.limiter
	if w.state >= offered && next < offered {
		l.slots.count(w, -1)
		l.limiters.pool.count(w, -1)
		l.limiters.freed = append(l.limiters.freed, l)
	}
	if next != using { // which the breaker has counted when it admitted that
		l.breaker.count(w.class, w.state, next)
	}
	l.counts[w.state]--
	l.counts[next]++
	w.state = next
}

// isSlow reports whether it reads, and has had its slot for long.
func (w *waiter) isSlow() bool { return w.class.reads() && time.Since(w.since) > slowRead }

// isLike reports whether another one waits for the same.
func (w *waiter) isLike(other *waiter) bool {
	return w.limiter == other.limiter && w.class == other.class && w.urgent == other.urgent
}

// TryAcquire takes a slot for a reconciliation that is for calls of a class. It has to be given back with Release. If
// there is none, or others have waited for it, the object waits for a wake-up, and urgent ones are first.
func (l *ConcurrencyLimiter) TryAcquire(object types.NamespacedName, class Class, urgent bool) bool {
	l.limiters.mu.Lock()
	defer l.limiters.unlock()
	wanted := waiter{object: object, class: class, urgent: urgent, limiter: l}
	w := l.limiters.objects[object]
	if w == nil || w.state != offered || !w.isLike(&wanted) {
		w = l.enqueue(wanted)
		l.offerSlots()
		l.limiters.woken = slices.DeleteFunc(l.limiters.woken, func(other *waiter) bool {
			return other == w && w.state == offered
		})
	}
	switch {
	case w.state != offered:
		return false
	case !l.withinRateLimit() || !l.breaker.tryAcquire(class): // the slot must not be used any more
		l.enqueue(wanted)
		return false
	}
	w.become(using)
	w.since = time.Now()
	delete(l.limiters.objects, object)
	l.using[object] = w
	l.limiters.Acquired(class, w.since.Sub(w.queued))
	return true
}

// Await has an object woken up as after TryAcquire. Its status says that it waits.
func (l *ConcurrencyLimiter) Await(object types.NamespacedName, class Class, urgent bool) {
	l.update(func() {
		l.enqueue(waiter{object: object, class: class, urgent: urgent, limiter: l, informed: true})
	})
}

// enqueue has an object wait. It gives back a slot that is kept for it, and keeps the place that it has among those
// that wait for the same.
func (l *ConcurrencyLimiter) enqueue(wanted waiter) *waiter {
	wanted.queued = time.Now()
	if before := l.limiters.objects[wanted.object]; before != nil {
		if before.state == waiting && before.isLike(&wanted) {
			before.informed = before.informed || wanted.informed
			return before
		}
		wanted.queued = before.queued
		before.become(gone)
	}
	wanted.become(waiting)
	l.limiters.objects[wanted.object] = &wanted
	l.queue.push(&wanted)
	return &wanted
}

// Release gives the slot of an object back.
func (l *ConcurrencyLimiter) Release(object types.NamespacedName) {
	l.limiters.mu.Lock()
	defer l.limiters.unlock()
	w := l.using[object]
	if w == nil {
		return
	}
	delete(l.using, object)
	if w.class.reads() {
		l.slow = w.isSlow()
	}
	w.become(gone)
}

// ReadsAreSlow reports whether the last read took long, or one that is under way does.
func (l *ConcurrencyLimiter) ReadsAreSlow() bool {
	l.limiters.mu.Lock()
	defer l.limiters.mu.Unlock()
	slow := l.slow
	for _, w := range l.using {
		slow = slow || w.isSlow()
	}
	return slow
}

// followBreaker wakes up who may use the connection now. If the circuit is open, it wakes up the urgent ones whose
// status does not say yet that they wait.
func (l *ConcurrencyLimiter) followBreaker() {
	l.update(func() {
		if l.breaker.ready() {
			return
		}
		for _, w := range l.queue.urgent.waiters() {
			if !w.informed {
				l.limiters.drop(w)
				l.limiters.woken = append(l.limiters.woken, w)
			}
		}
	})
}

// update changes something, and wakes up as many objects as can get a slot then.
func (l *ConcurrencyLimiter) update(change func()) {
	l.limiters.mu.Lock()
	defer l.limiters.unlock()
	change()
	l.offerSlots()
}

// offerSlots keeps slots for those that may have one, who are woken up.
func (l *ConcurrencyLimiter) offerSlots() {
	if l.breaker.isStopped() {
		l.dismiss()
		return
	}
	for l.counts[waiting] > 0 && !l.slots.full() && l.withinRateLimit() {
		w := l.queue.pop(l.breaker.mayOffer(), l.reserveSlot)
		if w == nil {
			return
		}
		w.become(offered)
		l.limiters.woken = append(l.limiters.woken, w)
	}
}

// dismiss has those that wait find out that the connection is gone. A waiter would keep its client in memory.
func (l *ConcurrencyLimiter) dismiss() {
	for _, w := range l.limiters.objects {
		if w.limiter == l {
			l.limiters.drop(w)
			l.limiters.woken = append(l.limiters.woken, w)
		}
	}
}

// reserveSlot keeps a slot for an object, if it may have one.
func (l *ConcurrencyLimiter) reserveSlot(w *waiter) bool {
	if !l.slots.admits(w) {
		return false
	}
	if !l.limiters.pool.admits(w) {
		if !slices.Contains(l.limiters.blocked, l) {
			l.limiters.blocked = append(l.limiters.blocked, l)
		}
		return false
	}
	l.slots.count(w, 1)
	l.limiters.pool.count(w, 1)
	return true
}

// follow makes it follow the rate limit of the client that the connection has now.
func (l *ConcurrencyLimiter) follow(rateLimitDelay func() time.Duration) {
	l.update(func() { l.rateLimitDelay = rateLimitDelay })
}

// withinRateLimit reports whether a request would go out soon. If not, it schedules a wake-up for when it would.
func (l *ConcurrencyLimiter) withinRateLimit() bool {
	delay := l.rateLimitDelay()
	if delay > maxRateLimitDelay && !l.timer {
		l.timer = true
		time.AfterFunc(delay-maxRateLimitDelay/2, func() { l.update(func() { l.timer = false }) })
	}
	return delay <= maxRateLimitDelay
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
