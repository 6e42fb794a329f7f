package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// httpRequest is what one HTTP request is made of.
type httpRequest struct {
	op                                      Operation
	method, url, contentType, authorization string
	body                                    []byte
	report                                  *report
}

// roundTrip sends one HTTP request, exactly once, and classifies the result.
func (c *Client) roundTrip(ctx context.Context, req httpRequest) (*response, *Error) {
	if operation := operations[req.op]; operation.emailsPeople {
		// From here on, neither a shutdown nor the caller's context may cut the request short: the service would go on,
		// and the response with the id would be lost.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), operation.deadline, errDeadline)
		defer cancel()
	}
	start := time.Now()
	response, err := c.exchange(ctx, req)
	if err != nil && err.RetryAfter > 0 {
		c.limits.holdOff(err.RetryAfter)
	}
	c.observe(req, time.Since(start), response, err)
	return response, err
}

func (c *Client) exchange(ctx context.Context, req httpRequest) (*response, *Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var progress requestProgress
	httpReq, err := c.newHTTPRequest(progress.trace(ctx), req)
	if err != nil {
		return nil, &Error{Operation: req.op, Outcome: NotSent, Kind: KindInvalid, detail: "the request could not be made"}
	}
	operation := operations[req.op]
	httpResponse, err := c.transport(operation).RoundTrip(httpReq)
	if err != nil {
		return nil, transportError(ctx, req.op, err, progress.mayHaveArrived(ctx))
	}
	defer httpResponse.Body.Close()
	switch status := httpResponse.StatusCode; {
	case status < 200: // 101: its body is the connection itself, and no context ends a read from it
		return nil, statusError(req.op, httpResponse, nil)
	case status >= 300: // a body that cannot be read does not matter
		body, _ := (&bodyReader{ctx: ctx, response: httpResponse, op: req.op, limit: operation.maxProblem()}).read()
		return nil, statusError(req.op, httpResponse, body)
	}
	reader := &bodyReader{ctx: ctx, cancel: cancel, response: httpResponse, op: req.op, limit: operation.maxBody}
	if operation.retry == retrySafe {
		reader.budget = c.budget
	}
	response := &response{
		operation: req.op, status: httpResponse.StatusCode, contentType: httpResponse.Header.Get("Content-Type"),
		nextPage: hasNextLink(httpResponse.Header), release: reader.release, discardRaw: c.discardRaw,
	}
	if req.report != nil {
		response.release = func() {} // the report keeps what it takes
		return response, req.report.receive(reader)
	}
	body, failure := reader.read()
	if failure != nil && !operation.bodyOptional {
		reader.release()
		return nil, failure
	}
	response.body = body
	return response, nil
}

func (c *Client) newHTTPRequest(ctx context.Context, req httpRequest) (*http.Request, error) {
	var body io.Reader
	if req.body != nil {
		body = bytes.NewReader(req.body)
	}
	r, err := http.NewRequestWithContext(ctx, req.method, req.url, body)
	if err != nil {
		return nil, err
	}
	// With GetBody, net/http itself sends a POST again after an HTTP/2 REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR.
	r.GetBody = nil
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.userAgent)
	if req.contentType != "" {
		r.Header.Set("Content-Type", req.contentType)
	}
	if req.authorization != "" {
		r.Header.Set("Authorization", req.authorization)
	}
	return r, nil
}

// observe reports a request to Config.Observe.
func (c *Client) observe(req httpRequest, duration time.Duration, response *response, err *Error) {
	if c.observer == nil {
		return
	}
	result := RequestResult{Operation: req.op, Method: req.method, Duration: duration}
	if err != nil {
		result.Failed = true
		result.Status = err.Status
		result.Outcome = err.Outcome
		result.Kind = err.Kind
	} else {
		result.Status = response.status
	}
	c.observer(result)
}
