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
// does the reference data, if those who waited to make a write have gone since it was read.
//
// It is our own, because the libraries do not fit: with gobreaker the pause is fixed, and with both gobreaker and
// failsafe-go any call is the test, and nothing tells those who wait that the pause is over.
type CircuitBreaker struct {
	notify func(changed bool) // called without mu when the circuit changes, or stays as it is and admits more
	shared bool               // by namespaces; else by the objects of one

	mu          sync.Mutex
	usable      bool // there is a client, and its first probe succeeded
	state       State
	class       Class       // that failed; None while closed
	kind        client.Kind // of the failure
	cause       string      // of the failure, for people
	since       time.Time   // of the last change of state
	pause       pause       // while the circuit is open
	abandoned   *time.Timer // while it is half-open: looks whether anybody makes the test
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
	changed := change()
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

// MayRetry reports whether a client may retry. While the circuit is not closed, one call is one request.
func (b *CircuitBreaker) MayRetry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state == Closed
}

// AwaitsProbe reports whether the controller of services has to test the service now.
func (b *CircuitBreaker) AwaitsProbe() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.permissions.doubtful || b.state == HalfOpen && !b.byReconciliation()
}

// Permit says that the user may read applications, although the reference data is forbidden.
func (b *CircuitBreaker) Permit(permitted bool) {
	b.update(func() (closes bool) {
		if permitted {
			b.permissions.record(Read, false, time.Now())
		}
		closes = permitted && b.state != Closed && b.kind == client.KindForbidden
		if closes {
			b.setState(Closed, None, "")
		}
		return closes
	})
}

// authorize takes over whether the user may send a request of a class, and reports whether that changes anything. If
// nothing is permitted, the circuit opens as with a refused login. If one thing is forbidden, the object that asked for
// it says so.
func (b *CircuitBreaker) authorize(class Class, denied bool) (changed bool) {
	asked := b.permissions.doubtful
	b.permissions.record(class, denied, time.Now())
	if class == References && denied && b.permissions.none(time.Now()) && b.state == Closed {
		b.open(References, client.KindForbidden)
		b.cause = "the service lets this user do nothing that was asked for"
		return true
	}
	return b.permissions.doubtful && !asked
}

// Observe counts the result of a call. One that began before the last change of state says nothing about now.
func (b *CircuitBreaker) Observe(result client.OperationResult) {
	class, outcome := classify(result)
	b.mu.Lock()
	changed, freed := false, false
	switch {
	case result.Started.Before(b.since):
	case outcome == succeeded, outcome == forbidden:
		freed = b.failures[class]+b.failures[Login] > 0
		changed = b.succeed(class)
		changed = b.authorize(class, outcome == forbidden) || changed
	case outcome == doubtful && b.isAlone(class, result.Caller):
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

// succeed reports whether the circuit changed.
func (b *CircuitBreaker) succeed(class Class) (changed bool) {
	b.doubted[class] = ""
	b.failures[class], b.failures[Login] = 0, 0 // a call that was answered needed a login that worked
	if class == Subscription {
		b.subscriptions.reset()
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
		b.subscriptions.start(func() { // from then on, one at a time is made
			b.mu.Lock()
			b.subscriptions.end()
			b.mu.Unlock()
			b.notify(false)
		})
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
	b.endTimers()
	if state == HalfOpen {
		b.abandoned = time.AfterFunc(minPause, b.closeIfAbandoned)
	}
	b.state = state
	b.class, b.kind = class, kind
	b.since = time.Now()
	b.tested = false
}

// closeIfAbandoned closes a circuit whose test nobody makes any more: those who waited for a write were suspended or
// deleted after the reference data was read. Without it, a subscription would wait for the next poll.
func (b *CircuitBreaker) closeIfAbandoned() {
	b.update(func() (closes bool) {
		if b.abandoned != nil {
			b.abandoned.Reset(minPause)
		}
		if closes = b.tested && !b.isAwaited() && sum(&b.counts[using]) == 0; closes {
			b.setState(Closed, None, "")
		}
		return closes
	})
}

func (b *CircuitBreaker) endTimers() {
	b.pause.end()
	if b.abandoned != nil {
		b.abandoned.Stop()
	}
	b.abandoned = nil
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
		b.subscriptions.reset()
		return changed
	})
}

// stop ends the timer of a connection that is gone.
func (b *CircuitBreaker) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endTimers()
	b.subscriptions.end()
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
		return b.failures[tested]+b.failures[Login] == 0 || counted[class] == 0
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
