package connection

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// circuit is a CircuitBreaker of a connection that is usable, with the states that it had.
type circuit struct {
	*CircuitBreaker
	*testing.T
	mu     sync.Mutex
	states []State
}

func newCircuit(t *testing.T) *circuit {
	c := &circuit{T: t}
	c.CircuitBreaker = newCircuitBreaker(func(changed bool) {
		state, _, _ := c.Status()
		c.mu.Lock()
		defer c.mu.Unlock()
		if changed {
			c.states = append(c.states, state)
		}
	})
	c.usable = true
	return c
}

// tryAcquire is for a reconciliation that was woken up.
func (c *circuit) tryAcquire(class Class) bool {
	c.count(class, gone, offered)
	admitted := c.CircuitBreaker.tryAcquire(class)
	if !admitted {
		c.count(class, offered, gone)
	}
	return admitted
}

func (c *circuit) release(class Class) { c.count(class, using, gone) }

// calls are results of calls that begin now and take no time.
func (c *circuit) calls(operation client.Operation, errs ...error) {
	for _, err := range errs {
		c.Observe(client.OperationResult{
			Operation: operation, Started: time.Now(), Slowest: time.Millisecond, Err: err,
		})
	}
}

func (c *circuit) want(state State, class Class) {
	c.Helper()
	if got, of, _ := c.Status(); got != state || of != class {
		c.Errorf("%s because of %q, want %s because of %q", got, of, state, class)
	}
}

// lastState is the last one that was told.
func (c *circuit) lastState() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[len(c.states)-1]
}

// elapse lets time pass.
func elapse(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

const (
	read   = client.OpRetrieveApplication
	create = client.OpCreateApplication
	probe  = client.OpRetrieveReferences
)

var (
	errServer   error = &client.Error{Kind: client.KindServer, Status: 500}
	errLost     error = &client.Error{Kind: client.KindTimeout, Operation: create}
	errLogin    error = &client.Error{Kind: client.KindServer, Login: true, Outcome: client.NotSent}
	errUser     error = &client.Error{Kind: client.KindCredentials, Login: true, Outcome: client.NotSent}
	errBusy     error = &client.Error{Kind: client.KindRateLimited, Outcome: client.NotSent}
	errRefusal  error = &client.Error{Kind: client.KindInvalid, Outcome: client.Refused}
	errNotFound error = &client.Error{Kind: client.KindNotFound, Outcome: client.Refused}
)

// What answers of other classes say does not count: neither while the failures are counted, nor as the test.
func TestReadsFailWhileEverythingElseWorks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.count(Read, gone, waiting)
		for range failureThreshold {
			c.want(Closed, None)
			c.calls(read, errServer)
			c.calls(create, nil)
			c.calls(probe, nil)
		}
		c.want(Open, Read)
		for _, seconds := range []int{5, 10, 20, 40, 80, 120, 120, 120} {
			elapse(time.Duration(seconds)*time.Second - 1)
			c.want(Open, Read)
			elapse(1)
			c.want(HalfOpen, Read)
			if c.AwaitsProbe() || c.MayRetry() || !c.ready() || c.tryAcquire(Write) || !c.tryAcquire(Read) ||
				c.tryAcquire(Read) {
				t.Fatal("half-open, it does not admit exactly one read")
			}
			c.calls(probe, nil)
			c.calls(read, errBusy)
			c.want(HalfOpen, Read)
			c.calls(read, errServer)
			c.release(Read)
		}
		elapse(maxPause)
		c.calls(read, errNotFound) // an answer
		c.want(Closed, None)
		if want := 2*9 + 1; len(c.states) != want {
			t.Errorf("the circuit changed %d times, want %d: %v", len(c.states), want, c.states)
		}
	})
}

// A create may e-mail, and its answer may get errLost: the reference data is read before one tests the service.
func TestWritesAreTestedAfterTheReferenceData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.count(Write, gone, waiting)
		c.calls(create, errLost, errLost, errLost)
		c.want(Open, Write)
		elapse(minPause)
		if c.ready() || c.tryAcquire(Write) || c.tryAcquire(Read) || !c.AwaitsProbe() {
			t.Fatal("a reconciliation tests the service before the reference data was read")
		}
		c.calls(probe, errServer)
		c.want(Open, References)
		elapse(2 * minPause)
		c.calls(probe, nil)
		c.want(Closed, None)
		if !c.tryAcquire(Write) || c.tryAcquire(Write) || !c.tryAcquire(Read) {
			t.Fatal("after the outage, writes are not tried one at a time")
		}
		c.calls(create, errLost)
		c.want(Open, Write)
		c.release(Write)
		c.release(Read)
		elapse(4 * minPause)
		c.calls(probe, nil)
		c.want(HalfOpen, Write)
		if !c.ready() || c.tryAcquire(Read) || !c.tryAcquire(Write) || c.tryAcquire(Write) || c.AwaitsProbe() {
			t.Fatal("half-open, it does not admit exactly one write")
		}
		c.calls(create, errRefusal)
		c.want(Closed, None)
		if !c.tryAcquire(Write) {
			t.Error("writes work again, one at a time")
		}
	})
}

// Nobody waits to make a call of the class that failed: what works closes the circuit, and the next failure opens it.
// Lost answers open the circuit, and what finds the applications again does not wait for it.
func TestRecoveryWhileWritesFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		lost := &client.Error{Kind: client.KindConnection}
		wantRecovery := func(what string, want bool) {
			t.Helper()
			got := c.tryAcquire(Recovery)
			if got != want {
				t.Errorf("%s: recovery is admitted: %t", what, got)
			}
			if got {
				c.release(Recovery)
			}
		}
		wantRecovery("closed", true)
		c.calls(create, lost, lost, lost)
		c.want(Open, Write)
		wantRecovery("writes fail", true)
		if c.tryAcquire(Read) || c.tryAcquire(Write) || c.ready() || !c.OnlyWritesFail() {
			t.Error("an open circuit is used")
		}
		c.calls(read, lost)
		wantRecovery("a read has failed, too", false)
		c.calls(read, nil)
		wantRecovery("a read works again", true)
		c.count(Write, gone, waiting)
		elapse(minPause)
		c.calls(probe, nil)
		c.want(HalfOpen, Write)
		if first, second := c.tryAcquire(Recovery), c.tryAcquire(Recovery); !first || !second || !c.tryAcquire(Write) {
			t.Error("recovery and the test of a write keep each other waiting")
		}
		c.calls(probe, lost)
		wantRecovery("the reference data fails", false)
		c.stop()
	})
}

func TestNobodyWaitsToTest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.calls(create, errLost, errLost, errLost)
		elapse(minPause)
		c.calls(probe, nil)
		c.want(Closed, None)
		c.calls(read, nil)
		c.calls(create, errLost)
		c.want(Open, Write)
		elapse(2*minPause - 1)
		c.want(Open, Write)
		elapse(1)
		c.calls(probe, nil)
		c.calls(create, nil)
		elapse(pausesUntilReset * 2 * minPause)
		c.calls(read, errServer, errServer, errServer)
		c.want(Open, Read)
		elapse(minPause) // it worked for long
		if !c.tryAcquire(Write) {
			t.Error("half-open without a reader, nobody is admitted")
		}
		c.calls(create, nil)
		c.want(Closed, None)
	})
}

// Those who waited to make the test are suspended or deleted, and nobody else uses the connection. What waits for a
// closed circuit, such as a subscription, goes on: the reference data was read.
func TestNobodyWaitsToTestAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.count(Write, gone, waiting)
		c.calls(create, errServer, errServer, errServer)
		elapse(minPause)
		c.calls(probe, nil)
		c.want(HalfOpen, Write)
		elapse(10 * minPause)
		c.want(HalfOpen, Write) // while one waits to make the test
		c.count(Write, waiting, gone)
		if !c.AwaitsProbe() {
			t.Fatal("nobody tests the service")
		}
		c.calls(probe, nil)
		c.want(Closed, None)
		if last := c.lastState(); last != Closed {
			t.Errorf("those who wait were told that it is %s", last)
		}
	})
}

// The Mandates whose reads failed are deleted. Others may be applied only when the service is healthy again, so the
// reference data is the test. A Mandate that reads, or comes back to read, is a better one.
func TestNobodyWaitsToReadAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.calls(read, errServer, errServer, errServer)
		elapse(minPause + abandonedAfter - 1)
		c.want(HalfOpen, Read)
		if c.AwaitsProbe() {
			t.Error("a Mandate may still come back to read")
		}
		for _, state := range []waiterState{waiting, offered, using} {
			c.count(Read, gone, state)
			elapse(2 * abandonedAfter)
			if c.AwaitsProbe() {
				t.Error("a Mandate is about to make the test, and the reference data is read")
			}
			c.count(Read, state, gone)
		}
		if !c.AwaitsProbe() || !c.ready() {
			t.Fatal("nobody tests the service")
		}
		c.calls(probe, nil)
		c.want(Closed, None)
		c.calls(read, errServer)
		c.want(Open, Read)
	})
}

// A login is tested by the controller of services, and refused credentials open the circuit at once.
func TestLoginFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, errs := range [][]error{{errLogin, errLogin, errLogin}, {errUser}} {
			c := newCircuit(t)
			c.count(Read, gone, waiting)
			c.calls(read, errs...)
			c.want(Open, Login)
			elapse(minPause)
			if !c.AwaitsProbe() || c.ready() {
				t.Error("it is not the controller of services that tests a login")
			}
			c.calls(probe, errLogin)
			c.want(Open, Login)
			elapse(2 * minPause)
			c.calls(probe, nil)
			c.want(Closed, None)
		}
	})
}

// A slow success counts as a failure, and so does an answer that cannot be read if others get one, too. A refusal and a
// report that is not ready count as a success, and what was not sent counts as nothing.
func TestClassify(t *testing.T) {
	t.Parallel()
	unreadable := &client.Error{Kind: client.KindUnreadable, Status: 200}
	for name, test := range map[string]struct {
		operation client.Operation
		slowest   time.Duration
		err       error
		class     Class
		want      outcome
	}{
		"fast":              {read, slowRequest, nil, Read, succeeded},
		"slow":              {read, slowRequest + 1, nil, Read, failed},
		"slow create":       {create, slowRequest + 1, nil, Write, failed},
		"long report":       {client.OpIndividualReport, slowRequest + 1, nil, Read, succeeded},
		"too long a report": {client.OpIndividualReport, slowReport + 1, nil, Read, failed},
		"report not ready":  {client.OpIndividualReport, 1, &client.Error{Kind: client.KindNotReady}, Read, succeeded},
		"page for a report": {client.OpIndividualReport, 1, unreadable, Read, unknown},
		"page for a read":   {read, 1, &client.Error{Kind: client.KindUnproven, Status: 404}, Read, unknown},
		"page of a proxy":   {read, 1, unreadable, Read, doubtful},
		"page, reference":   {probe, 1, unreadable, References, failed},
		"page, login": {
			read, 0, &client.Error{Kind: client.KindUnreadable, Login: true}, Login, failed,
		},
		"lost answer":        {create, 1, errLost, Write, failed},
		"refusal":            {client.OpCompleteApplication, 1, errRefusal, Write, succeeded},
		"missing":            {read, 1, errNotFound, Read, succeeded},
		"no login":           {read, 0, errLogin, Login, failed},
		"busy":               {read, 0, errBusy, Read, unknown},
		"canceled":           {read, 1, &client.Error{Kind: client.KindCanceled}, Read, unknown},
		"invalid, not sent":  {read, 0, &client.Error{Kind: client.KindInvalid, Outcome: client.NotSent}, Read, unknown},
		"e-mails":            {client.OpResendInvites, 1, errServer, Write, failed},
		"reference data":     {probe, 1, errServer, References, failed},
		"no permission":      {read, 1, errForbidden, Read, forbidden},
		"truncated deletion": {client.OpDeleteApplication, 1, &client.Error{Kind: client.KindConnection}, Write, failed},
	} {
		class, got := classify(client.OperationResult{Operation: test.operation, Slowest: test.slowest, Err: test.err})
		if class != test.class || got != test.want {
			t.Errorf("%s: %q %d, want %q %d", name, class, got, test.class, test.want)
		}
	}
}

// What the service answers for an id that anybody can name says nothing of the service. Its login and its address do,
// and an outage shows in the reads of applications that are known.
func TestUntrustedIDsOpenNoCircuit(t *testing.T) {
	t.Parallel()
	foreign := func(errs ...error) *CircuitBreaker {
		b := newCircuitBreaker(func(bool) {})
		for _, err := range errs {
			b.Observe(client.OperationResult{
				Operation: read, Started: time.Now(), Slowest: slowRequest + 1, UntrustedID: true, Err: err,
			})
		}
		return b
	}
	for _, kind := range []client.Kind{
		client.KindServer, client.KindForbidden, client.KindUnreadable, client.KindTimeout, client.KindConnection, "",
	} {
		var err error
		if kind != "" { // else it is slow
			err = &client.Error{Kind: kind, Operation: read}
		}
		b := foreign(err, err, err, err)
		if state, _, _ := b.Status(); state != Closed || b.failures[Read] != 0 {
			t.Errorf("after %q for ids that anybody can name, the circuit is %s", kind, state)
		}
		for range failureThreshold {
			b.Observe(client.OperationResult{Operation: read, Started: time.Now(), Err: errServer})
			b.Observe(client.OperationResult{Operation: read, Started: time.Now(), UntrustedID: true, Err: err})
		}
		if state, class, _ := b.Status(); state != Open || class != Read {
			t.Errorf("during an outage and %q for ids that anybody can name, the circuit is %s", kind, state)
		}
	}
	unreachable := &client.Error{Kind: client.KindUnreachable, Operation: read}
	for _, err := range []error{errUser, errLogin, unreachable} {
		if state, _, _ := foreign(err, err, err).Status(); state != Open {
			t.Errorf("after %v, the circuit is %s", err, state)
		}
	}
}

// A call that began before the circuit changed says nothing about now: ten reads that hang when it opens are not ten
// tests.
func TestLateResultsDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.count(Read, gone, waiting)
		late := client.OperationResult{Operation: read, Started: time.Now(), Err: errServer}
		elapse(time.Second)
		c.calls(read, errServer, errServer, errServer)
		elapse(minPause)
		c.Observe(late)
		c.want(HalfOpen, Read)
		late.Err, late.Slowest = nil, 1
		c.Observe(late)
		c.want(HalfOpen, Read)
		c.calls(read, nil)
		late.Err = errServer
		for range failureThreshold {
			c.Observe(late)
		}
		c.want(Closed, None)
	})
}

// An edit of the service ends the pause; another user or address begins anew.
func TestTestNowAndReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.TestNow()
		c.Reset()
		if c.states != nil {
			t.Errorf("a closed circuit changed: %v", c.states)
		}
		c.calls(probe, errServer)
		c.TestNow()
		c.want(HalfOpen, References)
		c.calls(probe, errServer)
		c.Reset()
		c.want(Closed, None)
		elapse(maxPause) // the timer does not open it
		c.want(Closed, None)
		if want := []State{Open, HalfOpen, Open, Closed}; !slices.Equal(c.states, want) {
			t.Errorf("the states were %v, want %v", c.states, want)
		}
		c.calls(probe, errServer)
		elapse(minPause)
		c.want(HalfOpen, References)
		c.calls(probe, errServer)
		c.stop() // the service is deleted, and what belongs to it is closed
		states := len(c.states)
		c.TestNow()
		elapse(maxPause)
		c.Reset()
		c.want(Open, References)
		if len(c.states) > states {
			t.Errorf("the circuit of a connection that is gone changed: %v", c.states[states:])
		}
		c = newCircuit(t)
		c.stop()
		c.calls(probe, errServer) // it was under way
		c.want(Closed, None)
	})
}
