package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// payloadReading is a body that an operation could want.
type payloadReading struct {
	body    []byte
	untyped bool // without a Content-Type
}

// payload is what is known about the body of an operation whose readings differ.
type payload struct {
	readings []payloadReading // the likeliest first
	learned  atomic.Pointer[payloadReading]
}

var (
	// undocumentedPayload is for operations of which the interface shows no payload: an empty object, unless the service takes
	// nothing but no body at all. No third one: each is a request more that could e-mail people.
	undocumentedPayload = []payloadReading{{body: emptyObject()}, {untyped: true}}
	// emptyPayload is for those that are documented to have none. Some frameworks take the Content-Type for the promise of one.
	emptyPayload = []payloadReading{{}, {untyped: true}}
)

// doWithReadings carries a call out with one reading of its body and, if the service refuses that, with the other. That is no
// repetition, e-mails or not: the refusal proves that nothing was done.
func (c *Client) doWithReadings(ctx context.Context, call call, known *payload) (*answer, error) {
	readings := known.readings
	if learned := known.learned.Load(); learned != nil {
		readings = []payloadReading{*learned}
	}
	var refusal error
	for _, reading := range readings {
		call.body, call.omitContentType = reading.body, reading.untyped
		answer, err := c.do(ctx, call)
		switch {
		case err == nil:
			known.learned.Store(&reading)
			return answer, nil
		case !refusesPayload(err): // what it says about anything else, it says after it was content with the body; and if it was not asked, it may be
			return nil, err
		case refusal == nil:
			refusal = err
		}
	}
	return nil, refusal
}

// refusesPayload tells whether a refusal could be about the body as a whole.
func refusesPayload(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Outcome == Refused && (e.Kind == KindInvalid && len(e.Problem.Fields()) == 0 || e.Status == http.StatusUnsupportedMediaType)
}
