package connection

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

const (
	// failureThreshold is how many calls of one class may fail in a row until the circuit opens.
	failureThreshold = 3
	// minPause and maxPause bound how long the circuit is open. The pause doubles with each test that fails.
	minPause = 5 * time.Second
	maxPause = 2 * time.Minute
	// pausesUntilReset is how many times the last pause the circuit has to be closed until the next pause is a short one
	// again. A service that works now and then is used now and then.
	pausesUntilReset = 10
	// abandonedAfter is how long a read may be awaited as the test: a Mandate whose read failed comes back sooner.
	abandonedAfter = 5 * time.Minute
)

// pause is a time for which something is not sent. It doubles with each failure in a row. The zero value is none.
type pause struct {
	length time.Duration // of the last one since reset
	timer  *time.Timer   // while it lasts
}

// start starts a pause, and calls over when it is over, without the lock of the circuit breaker.
func (p *pause) start(over func()) {
	p.end()
	p.length = min(max(2*p.length, minPause), maxPause)
	p.timer = time.AfterFunc(p.length, over)
}

// end ends the pause. The next one is longer.
func (p *pause) end() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = nil
}

// reset ends the pause, and forgets that there was one.
func (p *pause) reset() {
	p.end()
	p.length = 0
}

// State is the state of a CircuitBreaker.
type State string

// The states.
const (
	Closed   State = "closed"
	Open     State = "open"
	HalfOpen State = "half-open"
)

// CircuitBreaker keeps reconciliations from a service that fails or is slow. It counts failures in a row by class: a
// service may return its reference data and fail to read applications. When one class has failed too often, the circuit
// opens for everybody. After a pause, it is half-open, and one call of that class tests the service: a success closes
// the circuit, a failure opens it again, for twice as long.
//
// Login and reference data are tested by the controller of services. A read or a write is not invented: the next
// reconciliation that has one to make is the test. A write may e-mail people and its answer may get lost, so the
// reference data is read first: during an outage no create is risked. If nobody waits to make a call of the class that
// failed, a success of another class closes the circuit, but the next failure of the former opens it at once. So
// does the reference data, which is read if those who would make the test are gone.
//
// It is our own, because the libraries do not fit: with gobreaker the pause is fixed, and with both gobreaker and
// failsafe-go any call is the test, and nothing tells those who wait that the pause is over.
type CircuitBreaker struct {
	notify func(changed bool) // called without mu when the circuit changes, or stays as it is and admits more
	shared bool               // by namespaces; else by the objects of one

	mu          sync.Mutex
	usable      bool // there is a client, and its first probe succeeded
	stopped     bool // the connection is gone
	state       State
	class       Class       // that failed; None while closed
	kind        client.Kind // of the failure
	cause       string      // of the failure, for people
	since       time.Time   // of the last change of state
	pause       pause       // while the circuit is open
	reads       pause       // of reads that fail for one namespace of several
	tested      bool        // half-open for Write: the reference data was read
	failures    [classes]int
	permissions permissions
	doubted     [classes]string      // whose calls first had an answer that nobody can read, since one succeeded
	counts      [states][classes]int // how many reconciliations are in each state, by the class that they are for

	subscriptions subscriptionPause // of a service that fails to subscribe
}

func newCircuitBreaker(notify func(changed bool)) *CircuitBreaker {
	return &CircuitBreaker{notify: notify, state: Closed}
}

// update changes something, and tells whether that changes the circuit.
func (b *CircuitBreaker) update(change func() (changed bool)) {
	b.mu.Lock()
	changed := !b.stopped && change()
	b.mu.Unlock()
	if changed {
		b.notify(true)
	}
}

// Status is the state, and unless that is Closed, what fails and how.
func (b *CircuitBreaker) Status() (State, Class, client.Kind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.class, b.kind
}

// Cause says why the circuit is not closed, for people; "" if it is, or if nobody knows.
func (b *CircuitBreaker) Cause() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Closed {
		return ""
	}
	return b.cause
}

// MayRetry reports whether a client may retry. While the circuit is not closed, or reads are tested, one call is one
// request.
func (b *CircuitBreaker) MayRetry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == Closed && b.reads.length == 0
}

// AwaitsProbe reports whether the controller of services has to test the service now.
func (b *CircuitBreaker) AwaitsProbe() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case Closed:
		return b.permissions.doubtful
	case HalfOpen:
		return !b.byReconciliation() || b.isAbandoned()
	default:
		return false
	}
}

// Permit says whether the user may read applications. The controller of services finds that out when the reference data
// is forbidden: until then, the circuit stays as it is. If nothing is permitted, it opens as with a refused login. If
// one thing is forbidden, the object that asked for it says so.
func (b *CircuitBreaker) Permit(permitted bool) {
	b.update(func() (changed bool) {
		now := time.Now()
		b.permissions.settle(permitted, now)
		switch {
		case !b.permissions.none(now):
			return b.succeed(References)
		case b.state == Open:
			return false
		}
		b.open(References, client.KindForbidden)
		b.cause = "the service lets this user do nothing that was asked for"
		return true
	})
}

// authorize takes over whether the user may send a request of a class, and reports whether a doubt begins.
func (b *CircuitBreaker) authorize(class Class, denied bool) (changed bool) {
	asked := b.permissions.doubtful
	b.permissions.record(class, denied, time.Now())
	return b.permissions.doubtful && !asked
}

// Observe counts the result of a call. One that began before the last change of state says nothing about now.
func (b *CircuitBreaker) Observe(result client.OperationResult) {
	class, outcome := classify(result)
	b.mu.Lock()
	changed, freed := false, false
	switch {
	case b.stopped, result.Started.Before(b.since):
	case outcome == forbidden && class == References: // Permit tells what follows
		changed = b.authorize(class, true)
	case outcome == succeeded, outcome == forbidden:
		freed = b.failures[class]+b.failures[Login] > 0
		changed = b.succeed(class)
		changed = b.authorize(class, outcome == forbidden) || changed
	case outcome == doubtful && b.isAlone(class, result.Caller):
		changed = b.authorize(class, true)
	case outcome == failed && b.failsForOne(class, result):
		changed = b.authorize(class, true)
	case outcome == failed, outcome == doubtful:
		changed = b.fail(class, result)
	}
	b.mu.Unlock()
	if changed || freed {
		b.notify(changed)
	}
}

// isAlone reports whether answers that nobody can read are about one namespace, or about one object of a namespace that
// has the service for itself. A filter in between may see something in its requests. Then, as after a 403, the
// reference data shows whether anything works. From the second caller on, such answers are failures.
func (b *CircuitBreaker) isAlone(class Class, caller string) bool {
	if b.shared {
		caller, _, _ = strings.Cut(caller, "/")
	}
	b.doubted[class] = cmp.Or(b.doubted[class], caller)
	return b.doubted[class] == caller
}

// failsForOne counts a read that failed, and reports whether reads fail for one namespace only of those that share the
// connection: the service may be unable to return its applications. Then the circuit stays closed for the writes of
// others, and the reads pause.
func (b *CircuitBreaker) failsForOne(class Class, result client.OperationResult) bool {
	if !b.shared || class != Read || b.state != Closed || client.KindOf(result.Err) == client.KindUnreachable ||
		!b.isAlone(class, result.Caller) {
		return false
	}
	b.failures[Read]++
	if b.failures[Read] >= failureThreshold && b.reads.timer == nil {
		b.hold(&b.reads)
	}
	return true
}

// hold starts a pause of one class. From its end on, one call at a time is made.
func (b *CircuitBreaker) hold(p *pause) {
	p.start(func() {
		b.mu.Lock()
		p.end()
		b.mu.Unlock()
		b.notify(false)
	})
}

// succeed reports whether the circuit changed.
func (b *CircuitBreaker) succeed(class Class) (changed bool) {
	b.doubted[class] = ""
	b.failures[class], b.failures[Login] = 0, 0 // a call that was answered needed a login that worked
	switch class {
	case Subscription:
		b.subscriptions.reset()
	case Read:
		b.reads.reset()
	}
	switch {
	case b.state != HalfOpen:
		return false
	case class == b.class, b.class == Login, b.class >= Read && !b.isAwaited():
		b.setState(Closed, None, "")
	case class == References && b.class == Write && !b.tested:
		b.tested = true
	default:
		return false
	}
	return true
}

// fail reports whether the circuit changed.
func (b *CircuitBreaker) fail(class Class, result client.OperationResult) (changed bool) {
	b.failures[class]++
	if class == Subscription {
		b.hold(&b.subscriptions.pause)
		return false
	}
	if b.state == Open || b.state == Closed && b.failures[class] < threshold(class, result) {
		return false
	}
	b.open(class, client.KindOf(result.Err))
	b.cause = cmp.Or(client.CauseOf(result.Err), "the service took too long")
	return true
}

// open opens the circuit for a while.
func (b *CircuitBreaker) open(class Class, kind client.Kind) {
	if b.state == Closed && time.Since(b.since) >= pausesUntilReset*b.pause.length {
		b.pause.reset()
	}
	b.setState(Open, class, kind)
	b.pause.start(b.TestNow)
}

// threshold is 1 for what the controller of services tests, and for refused credentials, which do not become right by
// themselves.
func threshold(class Class, result client.OperationResult) int {
	refused := class == Login && client.KindOf(result.Err) == client.KindCredentials
	if refused || result.Operation == client.OpRetrieveReferences {
		return 1
	}
	return failureThreshold
}

func (b *CircuitBreaker) setState(state State, class Class, kind client.Kind) {
	b.pause.end()
	b.state = state
	b.class, b.kind = class, kind
	b.since = time.Now()
	b.tested = false
}

// isAbandoned reports whether nobody makes the test of a half-open circuit: those who would have were suspended or
// deleted. Without that, what is applied when the service is healthy would wait for ever.
func (b *CircuitBreaker) isAbandoned() bool {
	after := minPause
	if b.class == Read {
		after = abandonedAfter
	}
	return !b.isAwaited() && sum(&b.counts[using]) == 0 && time.Since(b.since) >= after
}

// TestNow ends the pause of an open circuit.
func (b *CircuitBreaker) TestNow() {
	b.update(func() (wasOpen bool) {
		if wasOpen = b.state == Open; wasOpen {
			b.setState(HalfOpen, b.class, b.kind)
		}
		return wasOpen
	})
}

// Reset closes the circuit and forgets all failures: the connection has another address or user.
func (b *CircuitBreaker) Reset() {
	b.update(func() bool {
		changed := b.state != Closed || b.failures != [classes]int{}
		b.setState(Closed, None, "")
		b.failures, b.permissions = [classes]int{}, permissions{}
		b.doubted = [classes]string{}
		b.pause.reset()
		b.reads.reset()
		b.subscriptions.reset()
		return changed
	})
}

// stop is for a connection that is gone: nothing changes the circuit any more, and nobody waits for it.
func (b *CircuitBreaker) stop() {
	b.mu.Lock()
	b.stopped = true
	b.pause.end()
	b.reads.end()
	b.subscriptions.end()
	b.mu.Unlock()
	b.notify(false)
}

func (b *CircuitBreaker) isStopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// setUsable sets whether the connection can be used at all.
func (b *CircuitBreaker) setUsable(usable bool) {
	b.update(func() bool {
		changed := b.usable != usable
		b.usable = usable
		return changed
	})
}

// ready reports whether a reconciliation may try to use the connection.
func (b *CircuitBreaker) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usable && (b.state == Closed || b.state == HalfOpen && b.byReconciliation())
}

// byReconciliation reports whether a half-open circuit is tested by a reconciliation.
func (b *CircuitBreaker) byReconciliation() bool {
	return b.class == Read || b.class == Write && b.tested
}

// tryAcquire admits a reconciliation that was woken up.
func (b *CircuitBreaker) tryAcquire(class Class) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	admitted := b.admits(class, &b.counts[using])
	if admitted {
		b.move(class, offered, using)
	}
	return admitted
}

// admits reports whether one more reconciliation may use the connection, beside those that are counted.
func (b *CircuitBreaker) admits(class Class, counted *[classes]int) bool {
	used := sum(counted) - counted[Subscription]
	if b.class == Write { // what is admitted all the time does not keep the test from being made
		used -= counted[Recovery]
	}
	tested := class
	if class == Recovery {
		tested = Read
	}
	switch {
	case class == Recovery && b.onlyWritesFail():
		return true
	case !b.usable || b.state == Open:
		return false
	case class == Subscription:
		return b.state == Closed && b.failures[Login] == 0 && b.subscriptions.admits(counted[class])
	case b.state == Closed:
		return b.failures[tested]+b.failures[Login] == 0 || counted[class] == 0 && (tested != Read || b.reads.timer == nil)
	default:
		return b.byReconciliation() && used == 0 && (tested == b.class || !b.isAwaited())
	}
}

// isAwaited reports whether anybody waits to make a call of the class that failed.
func (b *CircuitBreaker) isAwaited() bool {
	return b.counts[waiting][b.class]+b.counts[offered][b.class] > 0
}

// OnlyWritesFail reports whether the circuit is not closed, and the connection may be used to find applications again.
func (b *CircuitBreaker) OnlyWritesFail() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.onlyWritesFail()
}

func (b *CircuitBreaker) onlyWritesFail() bool {
	return b.usable && b.state != Closed && b.class == Write && b.failures[Read]+b.failures[Login] == 0
}

// mayOffer gives the classes of which one more may be woken up, beside those that use the connection or were woken up.
func (b *CircuitBreaker) mayOffer() map[Class]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	counted := b.counts[using]
	for c, woken := range b.counts[offered] {
		counted[c] += woken
	}
	admitted := map[Class]bool{}
	for _, class := range []Class{Read, Write, Recovery, Subscription} {
		if b.admits(class, &counted) {
			admitted[class] = true
		}
	}
	return admitted
}

// count takes over what a reconciliation of a class does.
func (b *CircuitBreaker) count(class Class, before, now waiterState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.move(class, before, now)
}

func (b *CircuitBreaker) move(class Class, before, now waiterState) {
	b.counts[before][class]--
	b.counts[now][class]++
}

func sum(counts *[classes]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}
