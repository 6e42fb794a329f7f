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

// call is one call of an operation, before it is a request.
type call struct {
	op     Operation
	method string // "" is the documented one
	id     int64  // the path parameter, 0 where the operation has none
	body   []byte // nil: none
	// omitContentType sends it without a Content-Type.
	omitContentType bool
	report  *report
}

// answer is a complete answer with a 2xx status.
type answer struct {
	operation   Operation
	status      int
	contentType string
	nextPage   bool   // its header names a next page
	body        []byte // without byte order mark and white space around it; empty if it went into a report
}

// raw is the body if it is JSON, and empty otherwise.
func (a *answer) raw() Sensitive[json.RawMessage] {
	if !json.Valid(a.body) {
		return Sensitive[json.RawMessage]{}
	}
	return Hide(json.RawMessage(a.body))
}

const (
	maxAttempts = 3
	// maxLogins bounds the requests of one attempt that meet a 401 each.
	maxLogins = 3
)

// do carries a call out: limits, token, retries as the operation's row allows. Every error is an *Error.
func (c *Client) do(ctx context.Context, call call) (*answer, error) {
	row := operations[call.op]
	if strings.Contains(row.path, "{id}") && call.id <= 0 {
		return nil, &Error{Operation: call.op, Outcome: NotSent, Kind: KindInvalid, detail: "the id must be greater than 0"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, orDefault(row.deadline, c.timeout), errDeadline)
	defer cancel()
	outcome := NotSent
	for attempt := 1; ; attempt++ {
		answer, err := c.doAuthenticated(ctx, call)
		if err == nil {
			return answer, nil
		}
		outcome = worstOutcome(outcome, err.Outcome)
		err.Outcome = outcome
		if attempt == maxAttempts || call.report.started() || !retryable(row.retry, err) || !c.limits.retries.Allow() {
			return nil, err
		}
		if !c.backoff(ctx, attempt, err) {
			return nil, err
		}
	}
}

// retryable decides whether the client may try again by itself.
func retryable(class retryClass, err *Error) bool {
	if err.contextErr != nil {
		return false
	}
	switch class {
	case retrySafe:
		switch err.Kind {
		case KindUnreachable, KindConnection, KindTimeout, KindServer, KindRateLimited:
			return true
		default:
			return err.Status == http.StatusTooEarly
		}
	case retryIfNotExecuted:
		return err.Outcome != Unknown && (err.Kind == KindUnreachable || err.Kind == KindRateLimited)
	default:
		return false
	}
}

// backoff waits with jitter, or as long as the service asks. False means that the wait is not worth it.
func (c *Client) backoff(ctx context.Context, attempt int, err *Error) bool {
	backoff := 100 * time.Millisecond << attempt
	delay := backoff/4 + rand.N(backoff) //nolint:gosec // jitter needs no cryptographic randomness
	if err.RetryAfter > 0 {
		delay = err.RetryAfter
	}
	return withinDeadline(ctx, delay, c.limits.maxWait) && sleep(ctx, delay)
}

// doAuthenticated sends the call with the shared token. A 401 is the documented answer to a request without valid
// credentials, so nothing was done, e-mailed people or not, and it may go out once more with another token.
func (c *Client) doAuthenticated(ctx context.Context, call call) (*answer, *Error) {
	var spent *token
	outcome := NotSent
	for sent := 1; ; sent++ {
		answer, token, e := c.doWithToken(ctx, call, spent)
		if e == nil {
			return answer, nil
		}
		outcome = worstOutcome(outcome, e.Outcome)
		e.Outcome = outcome
		if token == nil || e.Status != http.StatusUnauthorized || sent == maxLogins || !c.tokens.shouldLogin(token, spent != nil) {
			return nil, e
		}
		spent = token
	}
}

// doWithToken sends the call once, with a token other than spent. The token is nil if there was none.
func (c *Client) doWithToken(ctx context.Context, call call, spent *token) (*answer, *token, *Error) {
	// The turn before the token, which could die of old age while it waits for one.
	if e := c.waitRateLimit(ctx, call.op); e != nil {
		return nil, nil, e
	}
	token, e := c.tokens.get(ctx, spent)
	if e != nil {
		return nil, nil, e.asLoginFailure(call.op)
	}
	answer, e := c.roundTrip(ctx, c.httpRequest(call, token))
	if e == nil {
		token.accepted.Store(true)
	}
	return answer, token, e
}

// waitRateLimit waits for the client's own limits.
func (c *Client) waitRateLimit(ctx context.Context, op Operation) *Error {
	if tooFar := c.limits.wait(ctx); tooFar > 0 {
		return rateLimited(op, tooFar)
	}
	if ctx.Err() != nil {
		return contextEnded(ctx, op, NotSent, "before it was sent")
	}
	return nil
}

func (c *Client) httpRequest(call call, token *token) httpRequest {
	out := httpRequest{op: call.op, method: orDefault(call.method, operations[call.op].method), url: c.url(call), body: call.body,
		authorization: "Bearer " + token.value.Reveal(), report: call.report}
	if !call.omitContentType {
		out.contentType = "application/json" // interface: Common request headers, which are those of a GET too
	}
	return out
}

// url of the call. The path parameter is an int64, so nothing needs escaping and nothing can climb out of the path.
func (c *Client) url(call call) string {
	path := strings.Replace(operations[call.op].path, "{id}", strconv.FormatInt(call.id, 10), 1)
	return c.baseURL.String() + path
}
