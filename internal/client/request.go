package client

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// request is one use of an operation on its way through the chain, and what came of it.
type request struct {
	op Operation
	operationSpec
	id        int64 // the path parameter, 0 where the operation has none
	query     string
	header    http.Header
	body      []byte
	reference string        // of a create: the one that it sends
	deadline  time.Duration // of the operation; 0 is Config.RequestTimeout
	maxBody   int64

	outcome Outcome       // of all HTTP requests of the operation
	slowest time.Duration // how long the longest of them took, until its response was read
}

func newRequest(op Operation, id int64) *request {
	spec := operations[op]
	bounds := effects[spec.effect]
	return &request{
		op: op, operationSpec: spec, id: id, deadline: bounds.deadline, maxBody: bounds.maxBody, outcome: NotSent,
		// The interface lists Content-Type for every request (interface: Endpoints), also for one without a body.
		header: http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}},
	}
}

func (q *request) sending(body any) *request {
	q.body = encode(body)
	return q
}

// do carries out an operation, and reports it to Config.ObserveOperation. Every error is an *Error.
func do[T any](ctx context.Context, c *Client, q *request, decode func(*answer) (T, error)) (result T, err error) {
	started := time.Now()
	if c.config.ObserveOperation != nil {
		defer func() {
			c.config.ObserveOperation(OperationResult{
				Operation: q.op, Started: started, Slowest: q.slowest, UntrustedID: hasUntrustedID(ctx), Err: err,
			})
		}()
	}
	if strings.Contains(q.path, "{id}") && q.id <= 0 {
		return result, invalid(q.op, "the id must be greater than 0")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(q.deadline, c.config.RequestTimeout), errDeadline)
	defer cancel()
	a, failure := c.retry(ctx, q)
	if failure != nil {
		return result, failure
	}
	defer func() { _ = a.Close() }() // of what it has then: a report keeps the body
	return decode(a)
}

const maxAttempts = 3

// retry sends a request again after a fault, as far as its effect allows. It is the first of the methods that a request
// passes through, each of which has one concern and calls the next: retry, waitForLimit, authenticate, exchange.
func (c *Client) retry(ctx context.Context, q *request) (*answer, *Error) {
	for attempt := 1; ; attempt++ {
		a, failure := c.waitForLimit(ctx, q)
		if failure == nil {
			return a, nil
		}
		failure.Outcome = q.effect.worst(q.outcome, failure.Outcome)
		if attempt == maxAttempts || !retryable(ctx, q.effect, failure) || !c.admitsRetry() ||
			!c.limits.retries.Allow() || !c.limits.backOff(ctx, attempt, failure.RetryAfter) || !c.admitsRetry() {
			return nil, failure
		}
	}
}

func (c *Client) admitsRetry() bool { return c.config.MayRetry == nil || c.config.MayRetry() }

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

func (c *Client) waitForLimit(ctx context.Context, q *request) (*answer, *Error) {
	if tooLong := c.limits.wait(ctx); tooLong > 0 {
		return nil, rateLimited(q.op, tooLong)
	}
	if ctx.Err() != nil {
		return nil, contextEnded(ctx, q.op, NotSent, "before the request was sent")
	}
	return c.authenticate(ctx, q)
}

type untrustedIDKey struct{}

// WithUntrustedID is for an operation with an id that somebody else has named, and that may be of nothing. It may fail
// because of the id and not of the service. So it is sent once, and an observer sees OperationResult.UntrustedID.
func WithUntrustedID(ctx context.Context) context.Context {
	return context.WithValue(ctx, untrustedIDKey{}, true)
}

func hasUntrustedID(ctx context.Context) bool { return ctx.Value(untrustedIDKey{}) != nil }

// Change is the response to a request that changed something. The client reads nothing else of it.
type Change struct {
	// Accepted: the service carries it out later (202). Read what has become of it.
	Accepted bool
}

func (c *Client) change(ctx context.Context, q *request) (*Change, error) {
	return do(ctx, c, q, func(a *answer) (*Change, error) { return &Change{Accepted: a.accepted()}, nil })
}
