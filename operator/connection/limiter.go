package connection

import (
	"math"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

const (
	// maxRateLimitDelay is how long the next request may have to wait for the rate limit when a reconciliation begins. Its
	// worker waits that long.
	maxRateLimitDelay = time.Second
	// FallbackRequeue is when an object that found no slot is reconciled again if no wake-up reaches it.
	FallbackRequeue = 15 * time.Second
	// wakeupBuffer is how many wake-ups can wait for the controller.
	wakeupBuffer = 1000
)

// ConcurrencyLimiter bounds how many reconciliations use a connection at a time, so that a service that does not answer
// holds up no other. It never blocks: a reconciliation that gets no slot ends, and its object is woken up when a slot
// is free and the rate limit leaves room for a request.
type ConcurrencyLimiter struct {
	capacity int // 0: unlimited
	notify   func(types.NamespacedName)
	onOpen   func() // called when the circuit opens

	mu             sync.Mutex
	rateLimitDelay func() time.Duration // of the next request
	timer          bool                 // a wake-up is scheduled for when that delay has passed
	breaker        CircuitBreaker
	inFlight       int
	waiting        map[types.NamespacedName]bool
	urgent         []types.NamespacedName
	others         []types.NamespacedName
}

// TryAcquire takes a slot, which has to be given back with Release. If there is none, the object waits for a wake-up,
// and urgent ones are first.
func (l *ConcurrencyLimiter) TryAcquire(object types.NamespacedName, urgent bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFlight < l.limit() && l.withinRateLimit() {
		l.inFlight++
		delete(l.waiting, object)
		return true
	}
	if !l.waiting[object] {
		l.waiting[object] = true
		queue := &l.others
		if urgent {
			queue = &l.urgent
		}
		*queue = append(*queue, object)
	}
	return false
}

// Release gives a slot back, with what was learned about the connection.
func (l *ConcurrencyLimiter) Release(result Result) {
	l.mu.Lock()
	l.inFlight--
	open := l.breaker.record(result)
	next := l.dequeue()
	l.mu.Unlock()
	if open {
		l.onOpen()
	}
	l.wakeUp(next)
}

// limit is how many may be in flight now.
func (l *ConcurrencyLimiter) limit() int {
	switch {
	case l.breaker.degraded():
		return 1
	case l.capacity == 0:
		return math.MaxInt
	default:
		return l.capacity
	}
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
	next := l.dequeue()
	l.mu.Unlock()
	l.wakeUp(next)
}

func (l *ConcurrencyLimiter) wakeUp(objects []types.NamespacedName) {
	for _, object := range objects {
		l.notify(object)
	}
}

// dequeue takes as many objects as there are free slots. Some of them may have got a slot without a wake-up.
func (l *ConcurrencyLimiter) dequeue() (next []types.NamespacedName) {
	for _, queue := range []*[]types.NamespacedName{&l.urgent, &l.others} {
		for len(*queue) > 0 && len(next) < l.limit()-l.inFlight && l.withinRateLimit() {
			object := (*queue)[0]
			*queue = (*queue)[1:]
			if l.waiting[object] {
				delete(l.waiting, object)
				next = append(next, object)
			}
		}
	}
	return next
}

// Slot is the place of one reconciliation in a ConcurrencyLimiter, and what it has learned about the connection. The
// zero value holds none.
type Slot struct {
	limiter *ConcurrencyLimiter
	result  Result
}

// TryAcquire takes a slot, unless it is held already. If it reports false, the object is woken up later.
func (s *Slot) TryAcquire(limiter *ConcurrencyLimiter, object types.NamespacedName, urgent bool) bool {
	if s.limiter == nil && limiter.TryAcquire(object, urgent) {
		s.limiter = limiter
	}
	return s.limiter != nil
}

// Sent records that a request goes out. It counts as a success, unless RequestFailed says otherwise.
func (s *Slot) Sent() { s.result = max(s.result, Succeeded) }

// RequestFailed records why a request failed, and reports whether that may be the fault of the connection.
func (s *Slot) RequestFailed(err error) bool {
	result := resultOf(err)
	s.result = max(s.result, result)
	return result == Failed
}

// Release gives the slot back, if it is held.
func (s *Slot) Release() {
	if s.limiter != nil {
		s.limiter.Release(s.result)
		s.limiter = nil
	}
}

// Limiters are the ConcurrencyLimiters of all connections, for one kind of object.
type Limiters struct {
	// Wakeups has the objects that can get a slot now. It has one reader. A wake-up may get lost: see FallbackRequeue.
	Wakeups chan event.GenericEvent

	capacity int // of each
	mu       sync.Mutex
	limiters map[Key]*ConcurrencyLimiter
}

func newLimiters(capacity int) *Limiters {
	return &Limiters{
		Wakeups:  make(chan event.GenericEvent, wakeupBuffer),
		capacity: capacity, limiters: map[Key]*ConcurrencyLimiter{},
	}
}

// of gives the limiter of a connection, and makes it follow the rate limit of the client that the connection has now.
func (l *Limiters) of(key Key, onOpen func(), rateLimitDelay func() time.Duration) *ConcurrencyLimiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.limiters[key]
	if limiter == nil {
		limiter = &ConcurrencyLimiter{
			capacity: l.capacity, notify: l.notify, onOpen: onOpen, waiting: map[types.NamespacedName]bool{},
		}
		l.limiters[key] = limiter
	}
	limiter.mu.Lock()
	limiter.rateLimitDelay = rateLimitDelay
	limiter.mu.Unlock()
	return limiter
}

func (l *Limiters) remove(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.limiters, key)
}

// notify wakes an object up. It never blocks.
func (l *Limiters) notify(name types.NamespacedName) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	select {
	case l.Wakeups <- event.GenericEvent{Object: object}:
	default:
	}
}
