package client

import (
	"net/http"
	"testing"
)

// What a request waits for comes with its Permit: then it goes out at once, and alone.
func TestPrepare(t *testing.T) {
	s := newTokenService(t, answers(401, ""), answers(http.StatusOK, `{}`))
	c := s.client(t, func(config *Config) { config.RequestsPerSecond, config.MaxRateLimitWait = 0.001, 1 })
	permit, err := c.Prepare(t.Context(), OpResendInvites)
	if err != nil || s.did() != "login, GET/references" {
		t.Fatalf("before the request: %v", err)
	}
	age(c) // what the Permit has is not looked for again
	if _, err := c.ResendInvites(permit.Context(t.Context()), 1); err != nil {
		t.Fatal(err)
	}
	if did := s.did(); did != "POST/individuals/1/invites/resend" {
		t.Errorf("with the Permit: %s", did)
	}

	_, err = c.ResendInvites(permit.Context(t.Context()), 1) // it is for one
	expectFailure(t, err, NotSent, KindRateLimited)
	_, err = c.Prepare(t.Context(), OpResendInvites)
	expectFailure(t, err, NotSent, KindRateLimited)
	var none *Permit
	_, err = c.ResendInvites(none.Context(t.Context()), 1)
	expectFailure(t, err, NotSent, KindRateLimited)
	if did := s.did(); did != "" {
		t.Errorf("without one: %s", did)
	}
}

// A call that cannot be sent is observed like one that was tried.
func TestPrepareFails(t *testing.T) {
	s := newTokenService(t, answers(401, ""), answers(http.StatusOK, `{}`))
	s.login = answers(http.StatusUnauthorized, "")
	var observed []OperationResult
	c := s.client(t, func(config *Config) {
		config.ObserveOperation = func(r OperationResult) { observed = append(observed, r) }
	})
	_, err := c.Prepare(t.Context(), OpCreateApplication)
	failure := expectFailure(t, err, NotSent, KindCredentials)
	if !failure.Login || failure.Operation != OpCreateApplication {
		t.Errorf("login %t of %s", failure.Login, failure.Operation)
	}
	if len(observed) != 1 || observed[0].Operation != OpCreateApplication || observed[0].Err == nil {
		t.Errorf("observed %+v", observed)
	}
}
