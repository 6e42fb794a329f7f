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
			if state, class, kind := b.Status(); state != Open || class != References || kind != client.KindForbidden {
				t.Fatalf("the circuit is %s, %s, %s", state, class, kind)
			}
			b.Permit(false)
			if b.ready() {
				t.Error("the connection is used")
			}
			b.Permit(true)
			if state, _, _ := b.Status(); state != Closed || !b.ready() {
				t.Errorf("reads are permitted, and the circuit is %s", state)
			}
		})
	}
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
	if !b.ready() {
		t.Error("the reference data is forbidden, and reads are permitted, but the circuit is open")
	}
}
