package client

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// link of the chain of http.RoundTrippers that a request passes. Each has one concern, and an *Error for everything but
// the response that the operation succeeded:
//
//	retrier        sends again what the operation allows
//	limiter        waits for the rate limit and for Retry-After
//	authenticator  adds the token, and renews it
//	exchange       sends one HTTP request, and says what the response proves
//	http.Transport
type link struct {
	client *Client
	next   http.RoundTripper
}

// retrier sends a request again after a fault, as far as its effect allows.
type retrier link

const maxAttempts = 3

func (t *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	q, ctx := requestOf(r), r.Context()
	for attempt := 1; ; attempt++ {
		response, err := t.next.RoundTrip(r)
		if err == nil {
			return response, nil
		}
		failure := failureOf(err)
		failure.Outcome = q.effect.worst(q.outcome, failure.Outcome)
		if attempt == maxAttempts || !retryable(ctx, q.effect, failure) || !t.admits() ||
			!t.client.limits.retries.Allow() || !t.backOff(ctx, attempt, failure) || !t.admits() {
			return nil, failure
		}
	}
}

func (t *retrier) admits() bool { return t.client.config.MayRetry == nil || t.client.config.MayRetry() }

func retryable(ctx context.Context, of effect, failure *Error) bool {
	if failure.contextErr != nil || hasUntrustedID(ctx) {
		return false
	}
	switch of {
	case effectNone:
		return slices.Contains([]Kind{KindUnreachable, KindConnection, KindTimeout, KindServer}, failure.Kind) ||
			failure.Kind == KindRateLimited && failure.Status/100 != 2 // else it is ErrBusy, and the service did the work
	case effectRepeatable, effectLasts:
		return failure.Outcome.NothingDone() && slices.Contains([]Kind{KindUnreachable, KindRateLimited}, failure.Kind)
	default:
		return false
	}
}

// backOff waits with jitter, or as long as the service asks. It returns false if the next attempt would come too late.
func (t *retrier) backOff(ctx context.Context, attempt int, failure *Error) bool {
	base := 100 * time.Millisecond << attempt
	jittered := base/4 + rand.N(base) //nolint:gosec // jitter needs no cryptographic randomness
	delay := cmp.Or(failure.RetryAfter, jittered)
	return t.client.limits.fits(ctx, delay) && Sleep(ctx, delay)
}

// limiter waits for the client's own limits.
type limiter link

func (t *limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	op := requestOf(r).op
	if tooLong := t.client.limits.wait(r.Context()); tooLong > 0 {
		return nil, rateLimited(op, tooLong)
	}
	if r.Context().Err() != nil {
		return nil, contextEnded(r.Context(), op, NotSent, "before the request was sent")
	}
	return t.next.RoundTrip(r)
}
