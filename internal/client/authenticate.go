package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

const (
	// maxLogins bounds the tokens that one request uses, each of which the service refused.
	maxLogins = 3
	// checkInterval is how long ago the service may have accepted the token of a request that may e-mail people.
	checkInterval = time.Minute
)

// authenticate adds the token to a request, and renews it when the service refuses it.
//
// A request that may e-mail people is sent once, so it must not be the one that finds out whether the token is good. It
// is sent only with a token that the service has accepted within the last minute, if need be in a read before it.
func (c *Client) authenticate(ctx context.Context, q *request) (*answer, *Error) {
	var rejected *token
	for sent := 1; ; sent++ {
		current, failure := c.token(ctx, q.effect, rejected)
		if failure != nil {
			return nil, failure.before(q.op)
		}
		q.header.Set("Authorization", "Bearer "+current.value.Reveal())
		a, failure := c.exchange(ctx, q)
		if failure == nil || failure.acceptsToken() {
			current.accept()
		}
		switch {
		case failure == nil:
			return a, nil
		case q.effect.emails():
			c.findReason(ctx, current, failure)
			return nil, failure
		case sent == maxLogins || !c.mayRenew(q.effect, current, failure, rejected != nil):
			return nil, failure
		}
		rejected = current
	}
}

// token returns a token other than rejected. For a request that may e-mail people, the service has accepted it lately.
func (c *Client) token(ctx context.Context, of effect, rejected *token) (*token, *Error) {
	current, failure := c.tokens.get(ctx, rejected)
	if failure != nil || !of.emails() || current.acceptedWithin(checkInterval) {
		return current, failure
	}
	if failure = c.checkToken(ctx); failure != nil && !failure.acceptsToken() && failure.Status != http.StatusForbidden {
		return nil, failure
	}
	return c.tokens.get(ctx, nil)
}

// mayRenew reports whether a request is sent again with another token. Some services, or what is before them, answer an
// expired token with a redirect to a login page, with HTML or with 403.
func (c *Client) mayRenew(of effect, current *token, failure *Error, afterLogin bool) bool {
	switch {
	case failure.Status == http.StatusUnauthorized:
		return (of != effectLasts || failure.Outcome.NothingDone()) &&
			c.tokens.holdOff.mayRenew(current, afterLogin)
	case of == effectNone && failure.aboutToken:
		return !afterLogin && current.accepted.Load() != nil
	default:
		return false
	}
}

// findReason finds out whether the failure of a request that is not sent again is about the token, or about what was
// asked. If it is about the token, a read succeeds with another one.
func (c *Client) findReason(ctx context.Context, used *token, failure *Error) {
	if failure.Status != http.StatusUnauthorized && failure.Status != http.StatusForbidden && !failure.aboutToken {
		return
	}
	if c.checkToken(ctx) != nil {
		used.doubt() // the next such request has to find out
		return
	}
	if now, _ := c.tokens.lookup(nil); now != used && failure.Outcome == Forbidden {
		failure.Outcome, failure.Kind = Refused, KindExpiredToken
	}
}

// checkToken finds out, by a read that every user may do, whether the service accepts the token, and renews one that it
// refuses.
func (c *Client) checkToken(ctx context.Context) *Error {
	a, failure := c.authenticate(ctx, newRequest(OpRetrieveReferences, 0))
	if failure == nil {
		_ = a.Close()
	}
	return failure
}

// acceptsToken reports whether a refusal is not about the token: the service looked at what was asked.
func (e *Error) acceptsToken() bool {
	return e.Problem != nil && e.Outcome == Refused && e.Kind != KindRateLimited
}

// before converts the failure of a login, or of a read that checks the token, into that of the operation not sent.
func (e *Error) before(op Operation) *Error {
	outer := *e
	outer.Login = e.Login || e.Operation == OpToken
	if !outer.Login {
		outer.detail = "a read that checks the token before it failed: " + cmp.Or(e.detail, details[e.Kind], string(e.Kind))
	}
	outer.Operation, outer.Outcome = op, NotSent
	return &outer
}
