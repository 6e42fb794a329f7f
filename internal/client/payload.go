package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// payload is what is known about the body of an operation of which the interface shows none: an empty object, unless
// the service takes nothing but no body at all.
type payload struct {
	learned atomic.Bool // the service took one
	none    atomic.Bool // and it was no body
}

func (p *payload) body() []byte {
	if p.none.Load() {
		return nil
	}
	return emptyObject()
}

// doOpen carries a call out with one reading of its body and, if the service refuses that, with the other. That is no
// repetition, e-mails or not: the refusal proves that nothing was done.
func (c *Client) doOpen(ctx context.Context, call call, known *payload) (*answer, error) {
	call.body = known.body()
	answer, refusal := c.do(ctx, call)
	if refusal == nil {
		known.learned.Store(true)
	}
	if known.learned.Load() || !aboutBody(refusal) {
		return answer, refusal
	}
	call.body = nil
	answer, err := c.do(ctx, call)
	switch {
	case err == nil:
		known.none.Store(true)
		known.learned.Store(true)
		return answer, nil
	case aboutBody(err):
		return nil, refusal
	default: // what it says about anything else, it says after it was content with the body; and if it was not asked, it may be
		return nil, err
	}
}

// aboutBody tells whether a refusal could be about the body as a whole.
func aboutBody(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Outcome == Refused && (e.Kind == KindInvalid && len(e.Problem.Fields()) == 0 || e.Status == http.StatusUnsupportedMediaType)
}
