package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// exchange is the bottom of the chain: it sends one HTTP request, once, reads the response, and says what it proves.
type exchange struct {
	client            *Client
	shared, dedicated *http.Transport
	service           *url.URL
}

func (t *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	q, ctx := requestOf(r), r.Context()
	if q.effect.emails() {
		// Neither a shutdown nor the caller's context may cut it short: the service would go on, and the id be lost.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), q.deadline, errDeadline)
		defer cancel()
	}
	started := time.Now()
	received, failure := t.send(ctx, r, q)
	duration := time.Since(started)
	q.slowest = max(q.slowest, duration)
	t.observe(q, duration, received, failure)
	if failure != nil {
		q.outcome = q.effect.worst(q.outcome, failure.Outcome)
		t.client.limits.holdOff(failure.RetryAfter)
		return nil, failure
	}
	q.answer = received
	return received.Response, nil
}

// send gives what was received, also with a failure.
func (t *exchange) send(ctx context.Context, r *http.Request, q *request) (*answer, *Error) {
	transport := http.RoundTripper(t.shared)
	if q.isAlone() {
		conn := q.conn
		if q.conn = nil; conn == nil {
			var failure *Error
			if conn, failure = t.connect(ctx, q.op); failure != nil {
				return nil, failure
			}
		}
		defer conn.Close() //nolint:errcheck // everything was read
		transport = conn
	}
	if t.client.config.Wrap != nil {
		transport = t.client.config.Wrap(transport)
	}
	var wroteHeaders atomic.Bool
	r = r.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wroteHeaders.Store(true) }}))
	if q.body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
	}
	// With GetBody, net/http itself sends a POST again after an HTTP/2 REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR.
	r.GetBody = nil
	response, err := transport.RoundTrip(r) //nolint:bodyclose // here, or by who takes the answer
	switch {
	// Without its headers no server can act. But when a context ends, HTTP/2 may have written them unnoticed.
	case err != nil && !wroteHeaders.Load() && ctx.Err() == nil:
		return nil, transportError(ctx, q.op, err, NotSent)
	case err != nil:
		return nil, transportError(ctx, q.op, err, Unknown)
	}
	received := t.client.read(ctx, q, response)
	failure := received.judge()
	if failure != nil {
		_ = received.Body.Close()
	}
	return received, failure
}

// isAlone: on a shared connection, what must not be repeated would be Unknown for no reason if the server closed it at
// that moment. A report may begin later than the shared transport waits.
func (q *request) isAlone() bool { return q.effect != effectNone || q.op == OpIndividualReport }

// observe reports a request to Config.Observe, and what was received to Config.Inspect.
func (t *exchange) observe(q *request, duration time.Duration, received *answer, failure *Error) {
	config := &t.client.config
	if config.Observe != nil {
		result := RequestResult{Operation: q.op, Method: q.method, Duration: duration}
		if received != nil {
			result.Status = received.StatusCode
		}
		if failure != nil { // a nil *Error is an error that is not nil
			result.Err = failure
		}
		config.Observe(result)
	}
	if config.Inspect != nil && received != nil {
		config.Inspect(Exchange{q.op, received.StatusCode, received.Header, Hide(received.content)})
	}
}
