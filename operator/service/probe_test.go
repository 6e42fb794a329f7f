package service

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// ingress answers as an ingress does that has no route to the service.
var ingress http.HandlerFunc = func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "<html>not found</html>")
}

// A probe that fails is not repeated at once, whatever it shows of the circuit: neither the request for the reference
// data nor the login, which has the credentials.
func TestFailedProbesPause(t *testing.T) {
	t.Parallel()
	login := &idv.Error{Kind: idv.KindServer, Login: true, Outcome: idv.NotSent}
	for name, fail := range map[string]func(*fixture){
		"reference data": func(f *fixture) { f.calls(idv.OpRetrieveReferences, &idv.Error{Kind: idv.KindServer}) },
		"login":          func(f *fixture) { f.calls(idv.OpRetrieveApplication, login, login, login) },
		"write":          func(f *fixture) { f.calls(idv.OpCreateApplication, login, login, login) },
	} {
		f := newFixture(t)
		f.password("right")
		f.wantsRequests(v1alpha1.ReasonConnected, 1)
		fail(f)
		f.answer.Store(&ingress)
		f.service.Spec.RequestsPerSecond++ // a new client, which has to log in
		reason, before := f.reconcile(), f.requests.Load()+f.logins.Load()
		for range 5 {
			f.wantsRequests(reason, 0)
		}
		if state, _, _ := f.e.breaker.Status(); state != connection.HalfOpen || f.requests.Load()+f.logins.Load() > before {
			t.Errorf("%s: the circuit is %s, after %d requests and %d logins", name, state, f.requests.Load(), f.logins.Load())
		}
		if now := time.Now(); !f.e.probeDue(now.Add(busyInterval)) || f.e.requeueAfter(now) > busyInterval {
			t.Errorf("%s: the next probe is after %s", name, f.e.requeueAfter(now))
		}
	}
}

// Something was denied, and the probe that has to show whether anything is permitted fails: the circuit opens.
func TestDoubtDuringAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	if _, err := f.connect(t.Context(), f.service, f.e); err != nil {
		t.Fatal(err)
	}
	f.e.connected = true // long ago
	f.calls(idv.OpRetrieveApplication, &idv.Error{Kind: idv.KindForbidden, Outcome: idv.Forbidden})
	f.broken.Store(true)
	if reason := f.reconcile(); reason != v1alpha1.ReasonIdentityServiceError {
		t.Errorf("the reason is %s", reason)
	}
	f.wantsRequests(v1alpha1.ReasonIdentityServiceError, 0)
}

// A user may read applications, and not the reference data. While the operator finds that out, everything is as before.
func TestReferencesForbidden(t *testing.T) {
	t.Parallel()
	for want, application := range map[string]int{
		v1alpha1.ReasonReferencesForbidden: http.StatusNotFound, v1alpha1.ReasonCredentialsInvalid: http.StatusForbidden,
	} {
		f := newFixture(t)
		f.password("right")
		asked, known := make(chan struct{}), make(chan struct{})
		var answer http.HandlerFunc = func(w http.ResponseWriter, r *http.Request) {
			status, body := http.StatusForbidden, `{"title": "no"}`
			switch {
			case strings.HasSuffix(r.URL.Path, "/token"):
				status, body = http.StatusOK, `{"access_token": "t", "expires_in": 3600}`
			case strings.HasSuffix(r.URL.Path, fmt.Sprint(idv.NoSuchID)):
				close(asked)
				<-known
				status = application
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
		f.answer.Store(&answer)
		if _, err := f.connect(t.Context(), f.service, f.e); err != nil {
			t.Fatal(err)
		}
		f.e.connected = true
		f.probe(t.Context(), testKey, f.e)
		<-asked
		if state, _, _ := f.e.breaker.Status(); state != connection.Closed || f.e.reason() != v1alpha1.ReasonConnected {
			t.Errorf("the circuit is %s, and the reason %s", state, f.e.reason())
		}
		close(known)
		if reason := f.reconcile(); reason != want {
			t.Errorf("the reason is %s, want %s", reason, want)
		}
	}
}

// The circuit of a service that is deleted stays as it is, although its client is closed.
func TestRemovedWhileOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.wantsRequests(v1alpha1.ReasonConnected, 1)
	f.calls(idv.OpRetrieveReferences, &idv.Error{Kind: idv.KindServer})
	f.config.Connections.ServiceChanged = func(connection.Key) { t.Error("a service that is gone is reconciled") }
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	f.remove(nobodyListens, testKey)
	if state, _, _ := f.e.breaker.Status(); state != connection.Open {
		t.Errorf("the circuit is %s", state)
	}
}
