package client

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange sends one HTTP request, once, reads the response, and says what it proves. The caller closes the answer.
func (c *Client) exchange(ctx context.Context, q *request) (*answer, *Error) {
	if q.effect.emails() {
		// Neither a shutdown nor the caller's context may cut it short: the service would go on, and the id be lost.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), q.deadline, errDeadline)
		defer cancel()
	}
	started := time.Now()
	received, failure := c.send(ctx, q)
	duration := time.Since(started)
	q.slowest = max(q.slowest, duration)
	c.observe(q, duration, received, failure)
	if failure != nil {
		q.outcome = q.effect.worst(q.outcome, failure.Outcome)
		c.limits.holdOff(failure.RetryAfter)
		return nil, failure
	}
	return received, nil
}

func (c *Client) send(ctx context.Context, q *request) (*answer, *Error) {
	var progress requestProgress
	r, err := c.httpRequest(progress.trace(ctx), q)
	if err != nil {
		return nil, invalid(q.op, "the request could not be made")
	}
	response, err := c.transport(q).RoundTrip(r) //nolint:bodyclose // the answer closes it
	if err != nil {
		return nil, transportError(ctx, q.op, err, progress.outcome(ctx))
	}
	received := c.read(ctx, q, response)
	failure := received.judge()
	if failure != nil {
		_ = received.Close()
	}
	return received, failure
}

func (c *Client) httpRequest(ctx context.Context, q *request) (*http.Request, error) {
	// The path parameter is an int64, so it needs no escaping and cannot change the path.
	url := c.baseURL + strings.Replace(q.path, "{id}", strconv.FormatInt(q.id, 10), 1)
	r, err := http.NewRequestWithContext(ctx, q.method, url, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery, r.Header = q.query, q.header.Clone()
	r.Header.Set("User-Agent", c.config.UserAgent)
	// With GetBody, net/http itself sends a POST again after an HTTP/2 REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR.
	r.GetBody = nil
	return r, nil
}

// transport returns the transport for one request.
//
// A request that must not be repeated gets a connection of its own. If it reused one that the server closes at that
// moment, that would look like a lost response, and the outcome would be Unknown for no reason. A transport of its own
// makes sure of that: concurrent HTTP/2 requests of one transport share a connection.
//
// So does a report, which may begin later than the shared transport waits.
func (c *Client) transport(q *request) http.RoundTripper {
	transport := c.shared.Reveal()
	if q.effect != effectNone || q.op == OpIndividualReport {
		transport = dedicated(transport)
	}
	if c.config.Wrap != nil {
		return c.config.Wrap(transport)
	}
	return transport
}

// observe reports a request to Config.Observe, and what was received to Config.Inspect.
func (c *Client) observe(q *request, duration time.Duration, received *answer, failure *Error) {
	if c.config.Observe != nil {
		result := RequestResult{Operation: q.op, Method: q.method, Duration: duration}
		if received != nil {
			result.Status = received.status
		}
		if failure != nil {
			result.Failed, result.Outcome = true, failure.Outcome
			result.Kind = failure.Kind
		}
		c.config.Observe(result)
	}
	if c.config.Inspect != nil && received != nil {
		c.config.Inspect(Exchange{
			Operation: q.op, Status: received.status, Header: received.header, Body: Hide(received.content),
		})
	}
}
