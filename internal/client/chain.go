package client

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
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
	if failure.contextErr != nil || ctx.Value(untrustedIDKey{}) != nil {
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
	q, ctx := requestOf(r), r.Context()
	if permit, _ := ctx.Value(permitKey{}).(*Permit); permit != nil && !permit.used.Swap(true) {
		q.token = permit.token
	} else if failure := t.admit(ctx, q.op); failure != nil {
		return nil, failure
	}
	return t.next.RoundTrip(r)
}

func (t *limiter) admit(ctx context.Context, op Operation) *Error {
	if tooLong := t.client.limits.wait(ctx); tooLong > 0 {
		return rateLimited(op, tooLong)
	}
	if ctx.Err() != nil {
		return contextEnded(ctx, op, NotSent, "before the request was sent")
	}
	return nil
}

// Permit is what one operation has waited for before its request: see Prepare.
type Permit struct {
	token *token
	used  atomic.Bool
}

type permitKey struct{}

// Context is for one operation, which then sends its request at once. A Permit that is nil changes nothing.
func (p *Permit) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, permitKey{}, p)
}

// Prepare waits for what an operation waits for before its request: the rate limit, and a token, which the service has
// accepted lately if the operation may e-mail people. Who looks once more before a request looks after this.
// Every error is an *Error, with the outcome NotSent.
func (c *Client) Prepare(ctx context.Context, op Operation) (*Permit, error) {
	q, started := newRequest(op, 0), time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(q.deadline, c.config.RequestTimeout), errDeadline)
	defer cancel()
	failure, permit := (&limiter{client: c}).admit(ctx, op), &Permit{}
	if failure == nil {
		permit.token, failure = (&authenticator{c, c.bottom}).token(ctx, q, nil)
	}
	if failure == nil {
		return permit, nil
	}
	if c.config.ObserveOperation != nil {
		c.config.ObserveOperation(OperationResult{Operation: op, Started: started, Err: failure})
	}
	return nil, failure
}
