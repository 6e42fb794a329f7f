package service

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

var testKey = connection.Key{Kind: "IdentityService", Namespace: "a", Name: "b"}

// calls are results of calls that Mandates make.
func (f *fixture) calls(operation idv.Operation, errs ...error) {
	for _, err := range errs {
		f.e.breaker.Observe(idv.OperationResult{Operation: operation, Started: time.Now(), Slowest: 1, Err: err})
	}
}

// wantsRequests reconciles several times, and checks the reason and the number of requests for reference data.
func (f *fixture) wantsRequests(reason string, want int64) {
	f.Helper()
	before := f.requests.Load()
	for range 5 {
		if got := f.reconcile(); got != reason {
			f.Errorf("the reason is %s, want %s", got, reason)
		}
	}
	if got := f.requests.Load() - before; got != want {
		f.Errorf("%d requests for reference data, want %d", got, want)
	}
}

// While reads fail, the status says so, and the reference data, which proves nothing about them, is not read.
func TestReasonWhileReadsFail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.wantsRequests(v1alpha1.ReasonConnected, 1)
	failure := &idv.Error{Kind: idv.KindServer}
	f.calls(idv.OpRetrieveApplication, failure, failure, failure)
	f.wantsRequests(v1alpha1.ReasonReadsFailing, 0)
	f.e.breaker.TestNow()
	f.e.nextProbe = time.Time{}
	f.wantsRequests(v1alpha1.ReasonReadsFailing, 0)
	f.calls(idv.OpRetrieveApplication, nil)
	f.wantsRequests(v1alpha1.ReasonConnected, 1)
	f.calls(idv.OpRetrieveApplication, &idv.Error{Kind: idv.KindCredentials, Status: 401, Login: true})
	f.wantsRequests(v1alpha1.ReasonCredentialsInvalid, 0)
}

// Before a write tests the service, the reference data is read.
func TestReasonWhileWritesFail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.wantsRequests(v1alpha1.ReasonConnected, 1)
	lost := &idv.Error{Kind: idv.KindTimeout}
	f.calls(idv.OpCreateApplication, lost, lost, lost)
	f.wantsRequests(v1alpha1.ReasonWritesFailing, 0)
	f.broken.Store(true)
	f.e.breaker.TestNow()
	f.wantsRequests(v1alpha1.ReasonIdentityServiceError, 1)
	f.broken.Store(false)
	f.e.breaker.TestNow()
	f.wantsRequests(v1alpha1.ReasonConnected, 1)
}

// A service that fails is probed by one request at a time, without retries, and at once after an edit.
func TestProbeOfABrokenService(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.broken.Store(true)
	f.password("right")
	f.reconcile() // retries, because nothing is known yet
	f.wantsRequests(v1alpha1.ReasonIdentityServiceError, 0)
	if next := f.e.requeueAfter(time.Now()); next != secretInterval {
		t.Errorf("reconciled again after %s, although the circuit breaker says when it changes", next)
	}
	f.service.Spec.RequestsPerSecond++
	f.wantsRequests(v1alpha1.ReasonIdentityServiceError, 1)
	f.broken.Store(false)
	f.busy.Store(true)
	f.e.breaker.TestNow()
	f.wantsRequests(v1alpha1.ReasonIdentityServiceError, 1)
	if next := f.e.requeueAfter(time.Now()); next != secretInterval {
		t.Errorf("reconciled again after %s, during a Retry-After", next)
	}
}
