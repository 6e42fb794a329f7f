package client

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// link of the chain of http.RoundTrippers that a request passes: retrier, limiter, authenticator and exchange. Each has
// one concern, and an *Error for everything but the response that the operation succeeded.
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
	delay := cmp.Or(failure.RetryAfter, base/4+rand.N(base)) //nolint:gosec // jitter needs no cryptographic randomness
	return t.client.limits.fits(ctx, delay) && Sleep(ctx, delay)
}

// limiter waits for the client's own limits.
type limiter link

func (t *limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	q, ctx := requestOf(r), r.Context()
	admit := func() *Error { return t.admit(ctx, q.op) }
	if permit, ok := ctx.Value(permitKey{}).(*Permit); ok && permit.op == q.op {
		admit = func() *Error { return permit.use(ctx, t.client, q) }
	}
	if failure := admit(); failure != nil {
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

// Permit is what a request of one operation has waited for: see Prepare. Close it when the operation has ended.
type Permit struct {
	op    Operation
	token *token
	conn  *http.ClientConn
	used  bool
	look  func() bool
}

type permitKey struct{}

// Context is for one operation, which then sends its request at once. If the connection has ended, or the operation
// sends another request that may e-mail people, that waits again, and is sent only if look then says so.
func (p *Permit) Context(ctx context.Context, look func() bool) context.Context {
	if p == nil {
		return ctx
	}
	p.look = look
	return context.WithValue(ctx, permitKey{}, p)
}

// Close closes the connection. A Permit that is nil has none.
func (p *Permit) Close() {
	if p != nil && p.conn != nil {
		_ = p.conn.Close()
	}
}

// Prepare waits for what a change waits for: the rate limit, a connection, and a token, which the service has accepted
// lately if the change may e-mail people. The last look comes after it. Every error is an *Error with outcome NotSent.
func (c *Client) Prepare(ctx context.Context, op Operation) (*Permit, error) {
	q, started := newRequest(op, 0), time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(q.deadline, c.config.RequestTimeout), errDeadline)
	defer cancel()
	permit := &Permit{op: op}
	failure := permit.prepare(ctx, c, q)
	if failure == nil {
		return permit, nil
	}
	if c.config.ObserveOperation != nil {
		c.config.ObserveOperation(OperationResult{Operation: op, Started: started, Err: failure})
	}
	return nil, failure
}

func (p *Permit) prepare(ctx context.Context, c *Client, q *request) (failure *Error) {
	if failure = (&limiter{client: c}).admit(ctx, q.op); failure == nil {
		p.token, failure = (&authenticator{c, c.bottom}).token(ctx, q, nil)
	}
	if failure == nil {
		p.conn, failure = c.bottom.connect(ctx, q.op)
	}
	return failure
}

// use gives a request what the Permit has, or what it gets again.
func (p *Permit) use(ctx context.Context, c *Client, q *request) (failure *Error) {
	if p.used || p.conn.Err() != nil || p.conn.Available() == 0 {
		p.Close()
		failure = p.prepare(ctx, c, q)
		if failure == nil && q.effect.emails() && (!p.look() || ctx.Err() != nil) {
			failure = &Error{Operation: q.op, Outcome: NotSent, Kind: KindCanceled, detail: "canceled before it was sent"}
		}
	}
	p.used = true
	q.token, q.conn = p.token, p.conn
	return failure
}
