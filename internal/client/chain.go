package client

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// newChain sends a request through http.RoundTrippers in a row. Each has one concern, and an *Error for everything but
// the response that the operation succeeded:
//
//	retrier        sends again what the operation allows
//	limiter        waits for the rate limit and for Retry-After
//	authenticator  adds the token, and renews it
//	exchange       sends one HTTP request, and says what the response proves
//	http.Transport
func (c *Client) newChain() http.RoundTripper {
	c.bottom = &exchange{client: c, shared: c.transport()}
	check := func(ctx context.Context) (*http.Request, error) {
		return c.httpRequest(ctx, newRequest(OpRetrieveReferences, 0))
	}
	authenticator := &authenticator{tokens: c.tokens, check: check, next: c.bottom}
	return &retrier{
		limits: c.limits, allowed: c.config.MayRetry, next: &limiter{limits: c.limits, next: authenticator},
	}
}

// retrier sends a request again after a fault, as far as its effect allows.
type retrier struct {
	limits  *Limits
	allowed func() bool // nil: always
	next    http.RoundTripper
}

const maxAttempts = 3

// RoundTrip implements http.RoundTripper.
func (t *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	outcome := NotSent
	for attempt := 1; ; attempt++ {
		response, err := t.next.RoundTrip(r)
		if err == nil {
			return response, nil
		}
		failure := failureOf(err)
		outcome = requestOf(r).effect.worst(outcome, failure.Outcome)
		failure.Outcome = outcome
		if attempt == maxAttempts || !retryable(r.Context(), requestOf(r).effect, failure) || !t.admits() ||
			!t.limits.retries.Allow() || !t.backOff(r.Context(), attempt, failure) || !t.admits() {
			return nil, failure
		}
	}
}

func (t *retrier) admits() bool { return t.allowed == nil || t.allowed() }

// retryable reports whether the client may send a request again after a failure.
func retryable(ctx context.Context, of effect, failure *Error) bool {
	if failure.contextErr != nil || hasUntrustedID(ctx) {
		return false
	}
	switch of {
	case effectNone:
		if failure.Kind == KindRateLimited {
			return failure.Status/100 != 2 // else it is the Budget, and the service did the work
		}
		return slices.Contains([]Kind{KindUnreachable, KindConnection, KindTimeout, KindServer}, failure.Kind)
	case effectRepeatable, effectLasts:
		return failure.Outcome.NothingDone() && slices.Contains([]Kind{KindUnreachable, KindRateLimited}, failure.Kind)
	default:
		return false
	}
}

// backOff waits before the next attempt, with jitter or as long as the service asks. It returns false if the next
// attempt would come too late.
func (t *retrier) backOff(ctx context.Context, attempt int, failure *Error) bool {
	base := 100 * time.Millisecond << attempt
	delay := base/4 + rand.N(base) //nolint:gosec // jitter needs no cryptographic randomness
	if failure.RetryAfter > 0 {
		delay = failure.RetryAfter
	}
	return t.limits.sleep(ctx, delay)
}

// limiter waits for the client's own limits.
type limiter struct {
	limits *Limits
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	op := requestOf(r).op
	if tooLong := t.limits.wait(r.Context()); tooLong > 0 {
		return nil, rateLimited(op, tooLong)
	}
	if r.Context().Err() != nil {
		return nil, contextEnded(r.Context(), op, NotSent, "before the request was sent")
	}
	return t.next.RoundTrip(r)
}
