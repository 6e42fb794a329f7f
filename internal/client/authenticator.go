package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// authenticator adds the token to a request, and renews it when the service refuses it.
//
// A request that may e-mail people is sent once, so it must not be the one that finds out whether the token is good. It
// is sent only with a token that the service has accepted within the last minute, if need be in a read for that
// purpose.
type authenticator struct {
	tokens *tokenSource
	check  func(context.Context) (*http.Request, error) // makes a read that every user may make
	next   http.RoundTripper
}

const (
	// maxLogins bounds the tokens that one request uses, each of which the service refused.
	maxLogins = 3
	// checkInterval is how long ago the service may have accepted the token of a request that may e-mail people.
	checkInterval = time.Minute
)

// RoundTrip implements http.RoundTripper.
func (t *authenticator) RoundTrip(r *http.Request) (*http.Response, error) {
	q := requestOf(r)
	if q.effect.emails() {
		return t.sendOnce(r, q)
	}
	var rejected *token
	outcome := NotSent
	for sent := 1; ; sent++ {
		current, failure := t.tokens.get(r.Context(), rejected)
		if failure != nil {
			failure.Outcome = outcome
			return nil, failure.before(q.op)
		}
		response, err := t.send(r, current)
		if err == nil {
			return response, nil
		}
		failure = failureOf(err)
		outcome = q.effect.worst(outcome, failure.Outcome)
		failure.Outcome = outcome
		if sent == maxLogins || !t.mayRenew(q.effect, current, failure, rejected != nil) {
			return nil, failure
		}
		rejected = current
	}
}

// mayRenew reports whether a request is sent again with another token. Some services, or what is before them, answer an
// expired token with a redirect to a login page, with HTML or with 403.
func (t *authenticator) mayRenew(of effect, current *token, failure *Error, afterLogin bool) bool {
	switch {
	case failure.Status == http.StatusUnauthorized:
		return (of != effectLasts || failure.Outcome.NothingDone()) && t.tokens.holdOff.mayRenew(current, afterLogin)
	case of == effectNone && failure.aboutToken:
		return !afterLogin && current.accepted.Load() != nil
	default:
		return false
	}
}

// sendOnce is for a request that may e-mail people.
func (t *authenticator) sendOnce(r *http.Request, q *request) (*http.Response, error) {
	current, failure := t.checkedToken(r.Context())
	if failure != nil {
		failure.Outcome = NotSent
		return nil, failure.before(q.op)
	}
	response, err := t.send(r, current)
	if err == nil {
		return response, nil
	}
	failure = failureOf(err)
	if failure.Status == http.StatusUnauthorized || failure.Status == http.StatusForbidden || failure.aboutToken {
		// Is it about the token, or about what was asked? If it is about the token, the read succeeds with another one.
		good := t.read(r.Context()) == nil
		now, _ := t.tokens.lookup(nil)
		switch {
		case !good:
			current.doubt() // the next such request has to find out
		case now != current && failure.Outcome == Forbidden:
			failure.Outcome, failure.Kind = Refused, KindExpiredToken
		}
	}
	return nil, failure
}

// checkedToken returns a token that the service has accepted lately.
func (t *authenticator) checkedToken(ctx context.Context) (*token, *Error) {
	current, failure := t.tokens.get(ctx, nil)
	if failure != nil || current.acceptedWithin(checkInterval) {
		return current, failure
	}
	if failure = t.read(ctx); failure != nil && !failure.acceptsToken() && failure.Status != http.StatusForbidden {
		return nil, failure
	}
	return t.tokens.get(ctx, nil)
}

// read finds out whether the service accepts the token, and renews one that it refuses.
func (t *authenticator) read(ctx context.Context) *Error {
	r, err := t.check(ctx)
	if err == nil {
		var response *http.Response
		if response, err = t.RoundTrip(r); err == nil {
			_ = response.Body.Close()
			return nil
		}
	}
	return failureOf(err)
}

// send sends a request with a token.
func (t *authenticator) send(r *http.Request, current *token) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+current.value.Reveal())
	response, err := t.next.RoundTrip(r)
	if err == nil || failureOf(err).acceptsToken() {
		current.accept()
	}
	return response, err
}

// acceptsToken reports whether a refusal is not about the token: the service looked at what was asked.
func (e *Error) acceptsToken() bool {
	return e.Problem != nil && e.Outcome == Refused && e.Kind != KindRateLimited
}

// before converts the failure of a login, or of a read that checks the token, into that of the operation after it.
func (e *Error) before(op Operation) *Error {
	outer := *e
	outer.Login = e.Login || e.Operation == OpToken
	if !outer.Login {
		outer.detail = "a read that checks the token before it failed: " + cmp.Or(e.detail, details[e.Kind], string(e.Kind))
	}
	outer.Operation = op
	return &outer
}
