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
// is sent only with a token that the service has accepted within the last minute, if need be in a read before it.
type authenticator link

const (
	maxLogins     = 3           // tokens that one request uses, each of which the service refused
	checkInterval = time.Minute // how long ago the service may have accepted the token of what may e-mail people
)

func (t *authenticator) RoundTrip(r *http.Request) (*http.Response, error) {
	q, ctx := requestOf(r), r.Context()
	rejected, before := (*token)(nil), 0 // before is the status of its response
	for sent := 1; ; sent++ {
		current, failure := t.token(ctx, q, rejected)
		if failure != nil {
			return nil, failure
		}
		r = r.Clone(ctx)
		r.Header.Set("Authorization", "Bearer "+current.value.Reveal())
		response, err := t.next.RoundTrip(r)
		failure = failureOf(err)
		accepted := err == nil || failure.acceptsToken()
		if accepted {
			current.accept()
		}
		if before == http.StatusUnauthorized && (accepted || failure.Status == http.StatusForbidden) {
			rejected.expired.Store(true)
		}
		if err == nil {
			return response, nil
		}
		isUntrusted := ctx.Value(untrustedIDKey{}) != nil // then a 403 is about the id, and costs no other read
		if q.effect.emails() || failure.Status == http.StatusForbidden && !failure.aboutToken && !isUntrusted {
			t.findReason(ctx, current, failure)
		}
		if q.effect.emails() || sent == maxLogins ||
			failure.Kind != KindExpiredToken && !t.mayRenew(q.effect, current, failure, rejected != nil) {
			return nil, failure
		}
		rejected, before = current, failure.Status
	}
}

// token returns a token other than rejected. For a request that may e-mail people, the service has accepted it lately.
func (t *authenticator) token(ctx context.Context, q *request, rejected *token) (*token, *Error) {
	if q.token != nil && rejected == nil {
		return q.token, nil
	}
	current, failure := t.client.tokens.get(ctx, rejected)
	if failure == nil && q.effect.emails() && !current.acceptedWithin(checkInterval) {
		failure = t.read(ctx)
		if failure == nil || failure.acceptsToken() || failure.Status == http.StatusForbidden {
			current, failure = t.client.tokens.get(ctx, nil)
		}
	}
	if failure != nil {
		return nil, failure.before(q.op)
	}
	return current, nil
}

// mayRenew reports whether a request is sent again with another token. Some services, or what is before them, answer an
// expired token with a redirect to a login page, with HTML or with 403.
func (t *authenticator) mayRenew(of effect, current *token, failure *Error, afterLogin bool) bool {
	if failure.Status == http.StatusUnauthorized {
		return (of != effectLasts || failure.Outcome.NothingDone()) &&
			t.client.tokens.holdOff.mayRenew(current, afterLogin)
	}
	return of == effectNone && failure.aboutToken && !afterLogin && current.accepted.Load() != nil
}

// findReason finds out whether a failure is about the token, or about what was asked. If it is about the token, a read
// that every user may do succeeds with another one, or finds that there is none now.
func (t *authenticator) findReason(ctx context.Context, used *token, failure *Error) {
	if failure.Status != http.StatusUnauthorized && failure.Status != http.StatusForbidden && !failure.aboutToken {
		return
	}
	unread := t.read(ctx)
	if unread != nil {
		used.doubt() // the next request has to find out
	}
	now, _ := t.client.tokens.lookup(nil)
	renewed := unread == nil && now != used || used.expired.Load()
	if failure.Outcome == Forbidden && (renewed || unread != nil && unread.Login) {
		failure.Outcome, failure.Kind = Refused, KindExpiredToken
	}
}

// read, which every user may do, finds out whether the service accepts the token, and renews one that it refuses.
func (t *authenticator) read(ctx context.Context) *Error {
	a, failure := t.client.send(ctx, t, newRequest(OpRetrieveReferences, 0))
	if failure == nil {
		_ = a.Body.Close()
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
