package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// httpRequest is a request as it goes out.
type httpRequest struct {
	op                                      Operation
	method, url, contentType, authorization string
	body                                    []byte
	report                                  *report
}

// roundTrip sends one request, exactly once, and classifies what comes of it.
func (c *Client) roundTrip(ctx context.Context, out httpRequest) (*answer, *Error) {
	if row := operations[out.op]; row.emailsPeople {
		// From here on a shutdown or a caller that gives up must not cut the request: the service would go on, and the
		// answer with the id would be lost.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), row.deadline, errDeadline)
		defer cancel()
	}
	begin := time.Now()
	answer, failure := c.exchange(ctx, out)
	if failure != nil && failure.RetryAfter > 0 {
		c.limits.holdOff(failure.RetryAfter)
	}
	c.observe(out, begin, answer, failure)
	return answer, failure
}

func (c *Client) exchange(ctx context.Context, out httpRequest) (*answer, *Error) {
	var wire requestProgress
	request, err := c.newHTTPRequest(wire.trace(ctx), out)
	if err != nil {
		return nil, &Error{Operation: out.op, Outcome: NotSent, Kind: KindInvalid, detail: "the request could not be made"}
	}
	row := operations[out.op]
	response, err := c.transport(row).RoundTrip(request)
	if err != nil {
		return nil, transportError(ctx, out.op, err, wire.mayHaveArrived(ctx))
	}
	defer response.Body.Close()
	status := response.StatusCode
	switch {
	case status < 200: // 101: its body is the connection itself, and reading from it ends with no context
		return nil, statusError(out.op, response, nil)
	case status >= 300: // judged without its body if that cannot be read
		body, _ := readBody(ctx, response, out.op)
		return nil, statusError(out.op, response, body)
	}
	answer := &answer{operation: out.op, status: status, contentType: response.Header.Get("Content-Type"), nextPage: hasNext(response.Header)}
	if out.report != nil {
		return answer, out.report.receive(ctx, response)
	}
	body, failure := readBody(ctx, response, out.op)
	if failure != nil && !row.bodyOptional {
		return nil, failure
	}
	answer.body = body
	return answer, nil
}

const (
	usualLength = 4 << 10
	// trustedLength is how much memory an announced length is worth before any of it has come.
	trustedLength = 64 << 10
)

func readBody(ctx context.Context, response *http.Response, op Operation) ([]byte, *Error) {
	limit := operations[op].maxBody
	var body bytes.Buffer
	body.Grow(int(min(max(response.ContentLength, usualLength), trustedLength)) + bytes.MinRead)
	if _, err := body.ReadFrom(io.LimitReader(response.Body, limit+1)); err != nil {
		return nil, truncated(ctx, op, response.StatusCode, err)
	}
	if int64(body.Len()) > limit {
		return nil, tooLarge(op, response.StatusCode)
	}
	return bytes.TrimSpace(bytes.TrimPrefix(body.Bytes(), []byte("\ufeff"))), nil
}

func (c *Client) newHTTPRequest(ctx context.Context, out httpRequest) (*http.Request, error) {
	var body io.Reader
	if out.body != nil {
		body = bytes.NewReader(out.body)
	}
	request, err := http.NewRequestWithContext(ctx, out.method, out.url, body)
	if err != nil {
		return nil, err
	}
	// With GetBody, net/http sends a POST again by itself after an HTTP/2 REFUSED_STREAM, GOAWAY or PROTOCOL_ERROR.
	request.GetBody = nil
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.userAgent)
	if out.contentType != "" {
		request.Header.Set("Content-Type", out.contentType)
	}
	if out.authorization != "" {
		request.Header.Set("Authorization", out.authorization)
	}
	return request, nil
}

func (c *Client) observe(out httpRequest, begin time.Time, answer *answer, failure *Error) {
	if c.observer == nil {
		return
	}
	r := RequestResult{Operation: out.op, Method: out.method, Duration: time.Since(begin)}
	if failure != nil {
		r.Failed, r.Status, r.Outcome, r.Kind = true, failure.Status, failure.Outcome, failure.Kind
	} else {
		r.Status = answer.status
	}
	c.observer(r)
}
