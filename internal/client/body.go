package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyReader reads the body of one response within its limit, and large ones within the Budget.
type bodyReader struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc // of ctx
	response *http.Response
	op       Operation
	limit    int64
	budget   *budgetShare // nil: none is needed
	giveBack func()       // gives back what was acquired of it
	timer    *time.Timer
}

const usualLength = 4 << 10

// read gives the body without byte order mark and surrounding white space.
func (b *bodyReader) read() ([]byte, *Error) {
	var body bytes.Buffer
	length := b.response.ContentLength
	body.Grow(int(min(max(length, usualLength), smallBody)) + bytes.MinRead)
	// Beyond smallBody, the buffer is made large at once: to let it grow would take three times as much.
	_, err := io.CopyN(&body, b.response.Body, min(smallBody, b.limit)+1)
	if err == nil && b.limit > smallBody {
		if failure := b.admit(bodyCost); failure != nil {
			return nil, failure
		}
		body.Grow(int(b.limit) - body.Len() + 1 + bytes.MinRead)
		_, err = body.ReadFrom(io.LimitReader(b.response.Body, b.limit+1-int64(body.Len())))
		b.arrived()
	}
	switch {
	case err != nil && err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a broken connection
		return nil, b.failed(err)
	case int64(body.Len()) > b.limit:
		return nil, tooLarge(b.op, b.response.StatusCode)
	}
	return bytes.TrimSpace(bytes.TrimPrefix(body.Bytes(), []byte("\ufeff"))), nil
}

var errSlowBody = errors.New("a large response took too long")

// admit takes what a large body costs of the Budget. From then on, the body has to arrive soon.
func (b *bodyReader) admit(cost int64) *Error {
	if b.budget == nil {
		return nil
	}
	var ok bool
	if b.giveBack, ok = b.budget.acquire(b.ctx, cost); !ok {
		return &Error{
			Operation: b.op, Kind: KindRateLimited, Status: b.response.StatusCode,
			detail: "too many large responses are read at the same time; try again later",
		}
	}
	b.timer = time.AfterFunc(largeBodyTime, func() { b.cancel(errSlowBody) })
	return nil
}

// failed is the error of a body that did not arrive completely.
func (b *bodyReader) failed(err error) *Error {
	if errors.Is(context.Cause(b.ctx), errSlowBody) {
		return &Error{
			Operation: b.op, Kind: KindTimeout, Status: b.response.StatusCode,
			detail: "the service took too long to send a large response",
		}
	}
	return truncated(b.ctx, b.op, b.response.StatusCode, err)
}

// arrived ends the time that the body has.
func (b *bodyReader) arrived() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

// release gives back what was taken of the Budget.
func (b *bodyReader) release() {
	b.arrived()
	if b.giveBack != nil {
		b.giveBack()
		b.giveBack = nil
	}
}
