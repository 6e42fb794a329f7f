package client

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// request is one use of an operation, before it becomes an HTTP request.
type request struct {
	op     Operation
	method string // "" is the documented one
	id     int64  // the path parameter, 0 where the operation has none
	body   []byte // nil: none
	// omitContentType sends it without a Content-Type.
	omitContentType bool
	report          *report
	// parse, if set, reads the response. Its error is that of the operation.
	parse func(*response) error
	// slowest is how long the longest HTTP request of the operation took, without waits. do sets it.
	slowest *time.Duration
}

// response is a complete response with a 2xx status.
type response struct {
	operation   Operation
	status      int
	contentType string
	nextPage    bool   // its header names a next page
	body        []byte // without byte order mark and surrounding white space; empty if it went into a report
	release     func() // gives back what it took of the Budget
	discardRaw  bool   // see Config.DiscardRaw
}

// raw is the body if it is JSON and to be kept, and empty otherwise.
func (r *response) raw() Sensitive[json.RawMessage] {
	if r.discardRaw || !json.Valid(r.body) {
		return Sensitive[json.RawMessage]{}
	}
	return Hide(json.RawMessage(r.body))
}

const (
	maxAttempts = 3
	// maxLogins bounds the tokens that one attempt uses, each of which met a 401.
	maxLogins = 3
)

// do carries out an operation and reports it to Config.ObserveOperation. Every error is an *Error.
func (c *Client) do(ctx context.Context, req request) (*response, error) {
	result := OperationResult{Operation: req.op, Started: time.Now(), UntrustedID: hasUntrustedID(ctx)}
	req.slowest = &result.Slowest
	response, err := c.doWithRetries(ctx, req)
	if err == nil {
		defer response.release()
	}
	if err == nil && req.parse != nil {
		err = req.parse(response)
	}
	if c.operationObserver != nil {
		result.Err = err
		c.operationObserver(result)
	}
	return response, err
}

// doWithRetries sends the requests of an operation: rate limit, token, and retries as the operation allows.
func (c *Client) doWithRetries(ctx context.Context, req request) (*response, error) {
	operation := operations[req.op]
	if strings.Contains(operation.path, "{id}") && req.id <= 0 {
		return nil, &Error{Operation: req.op, Outcome: NotSent, Kind: KindInvalid, detail: "the id must be greater than 0"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, orDefault(operation.deadline, c.timeout), errDeadline)
	defer cancel()
	outcome := NotSent
	for attempt := 1; ; attempt++ {
		response, err := c.doAuthenticated(ctx, req)
		if err == nil {
			return response, nil
		}
		outcome = worstOutcome(outcome, err.Outcome)
		err.Outcome = outcome
		if attempt == maxAttempts || req.report.started() || hasUntrustedID(ctx) {
			return nil, err
		}
		if !retryable(operation.retry, err) || !c.mayRetry(ctx, attempt, err) {
			return nil, err
		}
	}
}

// mayRetry takes one of the budget of retries and waits, if Config.MayRetry allows it before and after.
func (c *Client) mayRetry(ctx context.Context, attempt int, err *Error) bool {
	return c.retryAllowed() && c.limits.retries.Allow() && c.backoff(ctx, attempt, err) && c.retryAllowed()
}

// retryable reports whether the client may send an operation again after a failure.
func retryable(class retryClass, err *Error) bool {
	if err.contextErr != nil {
		return false
	}
	switch class {
	case retrySafe:
		switch err.Kind {
		case KindUnreachable, KindConnection, KindTimeout, KindServer:
			return true
		case KindRateLimited:
			return err.Status/100 != 2 // else it is the Budget, and the service did the work
		default:
			return err.Status == http.StatusTooEarly
		}
	case retryIfNotExecuted:
		return err.Outcome != Unknown && (err.Kind == KindUnreachable || err.Kind == KindRateLimited)
	default:
		return false
	}
}

// backoff waits before the next attempt, with jitter or as long as the service asks. It returns false if the next
// attempt would come too late.
func (c *Client) backoff(ctx context.Context, attempt int, err *Error) bool {
	base := 100 * time.Millisecond << attempt
	delay := base/4 + rand.N(base) //nolint:gosec // jitter needs no cryptographic randomness
	if err.RetryAfter > 0 {
		delay = err.RetryAfter
	}
	return c.limits.worthWaiting(ctx, delay) && Sleep(ctx, delay)
}

// doAuthenticated sends the request with the shared token. A 401 is the documented response to a request without valid
// credentials. It proves that nothing was done, so any request may be sent again with another token.
func (c *Client) doAuthenticated(ctx context.Context, req request) (*response, *Error) {
	var rejected *token
	outcome := NotSent
	for sent := 1; ; sent++ {
		response, token, err := c.doWithToken(ctx, req, rejected)
		if err == nil {
			return response, nil
		}
		outcome = worstOutcome(outcome, err.Outcome)
		err.Outcome = outcome
		if token == nil || err.Status != http.StatusUnauthorized || sent == maxLogins {
			return nil, err
		}
		if !c.tokens.shouldLogin(token, rejected != nil) {
			return nil, err
		}
		rejected = token
	}
}

// doWithToken sends the request once, with a token other than rejected. It returns the token that it used, or nil.
func (c *Client) doWithToken(ctx context.Context, req request, rejected *token) (*response, *token, *Error) {
	// The rate limit comes first: a token could expire during the wait.
	if err := c.waitRateLimit(ctx, req.op); err != nil {
		return nil, nil, err
	}
	token, err := c.tokens.get(ctx, rejected)
	if err != nil {
		return nil, nil, err.asLoginFailure(req.op)
	}
	started := time.Now()
	response, err := c.roundTrip(ctx, c.httpRequest(req, token))
	*req.slowest = max(*req.slowest, time.Since(started))
	if err == nil {
		token.accepted.Store(true)
	}
	return response, token, err
}

// waitRateLimit waits for the client's own limits.
func (c *Client) waitRateLimit(ctx context.Context, op Operation) *Error {
	if tooLong := c.limits.wait(ctx); tooLong > 0 {
		return rateLimited(op, tooLong)
	}
	if ctx.Err() != nil {
		return contextEnded(ctx, op, NotSent, "before the request was sent")
	}
	return nil
}

func (c *Client) httpRequest(req request, token *token) httpRequest {
	out := httpRequest{
		op: req.op, method: orDefault(req.method, operations[req.op].method), url: c.url(req), body: req.body,
		authorization: "Bearer " + token.value.Reveal(), report: req.report,
	}
	if !req.omitContentType {
		out.contentType = "application/json" // interface: Endpoints, common request headers; a GET has it as well
	}
	return out
}

// url of the request. The path parameter is an int64, so it needs no escaping and cannot change the path.
func (c *Client) url(req request) string {
	path := strings.Replace(operations[req.op].path, "{id}", strconv.FormatInt(req.id, 10), 1)
	return c.baseURL.String() + path
}

type untrustedIDKey struct{}

// WithUntrustedID is for an operation with an id that somebody else has named, and that may be of nothing. It may fail
// because of the id and not of the service. So one call is one request, and an observer sees
// OperationResult.UntrustedID.
func WithUntrustedID(ctx context.Context) context.Context {
	return context.WithValue(ctx, untrustedIDKey{}, true)
}

func hasUntrustedID(ctx context.Context) bool { return ctx.Value(untrustedIDKey{}) != nil }
