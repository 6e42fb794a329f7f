package connection

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

var errForbidden = &client.Error{Outcome: client.Forbidden, Kind: client.KindForbidden, Status: 403}

// What the service forbids about one thing stops nobody else: the circuit stays closed, whatever is asked how often.
func TestOneForbiddenThingStopsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newCircuitBreaker(func(bool) {})
		b.setUsable(true)
		observe := func(operation client.Operation, err error) {
			b.Observe(client.OperationResult{Operation: operation, Started: time.Now(), Slowest: 1, Err: err})
		}
		observe(probe, nil)
		for range 50 {
			observe(client.OpCompleteApplication, errForbidden)
			observe(create, errForbidden)
			observe(read, nil)
			if !b.ready() || b.AwaitsProbe() {
				t.Fatal("a write that is forbidden keeps the others from the connection")
			}
		}
		for range 50 {
			observe(read, errForbidden)
		}
		if !b.ready() {
			t.Fatal("reads that are forbidden keep writes from the connection, which the reference data shows to work")
		}
		<-time.After(2 * evidencePeriod)
		observe(read, errForbidden)
		if !b.AwaitsProbe() {
			t.Fatal("nobody looks whether anything is permitted at all")
		}
		observe(probe, nil)
		if b.AwaitsProbe() || !b.ready() {
			t.Error("the reference data is permitted, and the circuit is not as before")
		}
	})
}

// What nobody can read about the requests of one namespace, or of one object of a namespace, stops nobody else:
// somebody in between may see something in them. The reference data shows whether that is so.
func TestPagesAboutOneCallerStopNobody(t *testing.T) {
	t.Parallel()
	page := &client.Error{Kind: client.KindUnreadable, Status: 200}
	for name, test := range map[string]struct {
		shared bool
		one    []string // who gets pages
		other  string
	}{
		"one object":    {false, []string{"a/acme", "a/acme", "a/acme"}, "a/globex"},
		"one namespace": {true, []string{"a/acme", "a/globex", "a/initech"}, "b/acme"},
	} {
		for _, operation := range []client.Operation{create, read, client.OpSubscribeWebhook} {
			t.Run(name+", "+string(operation), func(t *testing.T) {
				b := newCircuitBreaker(func(bool) {})
				defer b.stop()
				b.shared, b.usable = test.shared, true
				observe := func(operation client.Operation, caller string, err error) {
					b.Observe(client.OperationResult{Operation: operation, Started: time.Now(), Slowest: 1, Caller: caller, Err: err})
				}
				class := classOf(client.OperationResult{Operation: operation})
				var used [classes]int
				used[class] = 1
				works := func() bool { return b.ready() && b.admits(class, &used) } // beside another call
				for range 10 {
					for _, caller := range test.one {
						observe(operation, caller, page)
					}
				}
				if !works() || !b.AwaitsProbe() {
					t.Fatalf("it works for others: %t, and somebody looks whether it does: %t", works(), b.AwaitsProbe())
				}
				observe(probe, "", nil)
				observe(operation, test.other, nil)
				for range failureThreshold {
					observe(operation, test.one[0], page)
				}
				if !works() || b.AwaitsProbe() {
					t.Errorf("it works for others: %t, and somebody looks again: %t", works(), b.AwaitsProbe())
				}
				for range failureThreshold {
					observe(operation, test.other, page)
				}
				if works() {
					t.Error("nobody can read anything, and the connection is used")
				}
			})
		}
	}
}

// Credentials that permit nothing that was asked for are of no use, and are again when anything is permitted.
func TestNothingIsPermitted(t *testing.T) {
	t.Parallel()
	for name, forbids := range map[string][]client.Operation{
		"alone":            {probe},
		"beside reads":     {read, read, read, probe},
		"beside creates":   {create, probe},
		"beside decisions": {client.OpCompleteApplication, read, probe},
	} {
		t.Run(name, func(t *testing.T) {
			b := newCircuitBreaker(func(bool) {})
			defer b.stop()
			b.setUsable(true)
			for _, operation := range forbids {
				b.Observe(client.OperationResult{Operation: operation, Started: time.Now(), Slowest: 1, Err: errForbidden})
			}
			if !b.ready() || !b.AwaitsProbe() {
				t.Error("before anybody has asked whether reads are permitted, the connection is not used")
			}
			for range 2 {
				b.Permit(false)
				if state, class, kind := b.Status(); state != Open || class != References || kind != client.KindForbidden {
					t.Fatalf("the circuit is %s, %s, %s", state, class, kind)
				}
				b.TestNow()
				b.Observe(client.OperationResult{Operation: probe, Started: time.Now(), Slowest: 1, Err: errForbidden})
				if state, _, _ := b.Status(); state != HalfOpen {
					t.Errorf("the reference data is still forbidden, and the circuit is %s", state)
				}
			}
			b.Permit(true)
			if state, _, _ := b.Status(); state != Closed || !b.ready() || b.AwaitsProbe() {
				t.Errorf("reads are permitted, and the circuit is %s", state)
			}
		})
	}
}

// A doubt whether anything is permitted asks for no request while the circuit is open: its pause says when.
func TestDoubtRespectsThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		c.calls(read, errForbidden)
		if !c.AwaitsProbe() {
			t.Fatal("nobody looks whether anything is permitted")
		}
		c.calls(probe, errServer)
		elapse(minPause - 1)
		if c.AwaitsProbe() {
			t.Error("the service is tested before the pause is over")
		}
		elapse(1)
		if !c.AwaitsProbe() {
			t.Error("the service is not tested")
		}
	})
}

// One application of somebody else does not mean that reads are forbidden.
func TestSomeReadsAreForbidden(t *testing.T) {
	t.Parallel()
	b := newCircuitBreaker(func(bool) {})
	defer b.stop()
	b.setUsable(true)
	for _, err := range []error{nil, errForbidden, errForbidden} {
		result := client.OperationResult{Operation: read, Started: time.Now(), Slowest: 1}
		if err != nil {
			result.Err = err
		}
		b.Observe(result)
	}
	b.Observe(client.OperationResult{Operation: probe, Started: time.Now(), Slowest: 1, Err: errForbidden})
	b.Permit(false)
	if !b.ready() {
		t.Error("the reference data is forbidden, and reads are permitted, but the circuit is open")
	}
}
