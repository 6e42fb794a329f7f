package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
)

// payloadReading is a body that an operation could expect.
type payloadReading struct {
	body            []byte
	omitContentType bool
}

// payload is what is known about the body of an operation that has several readings.
type payload struct {
	readings []payloadReading // the likeliest first
	learned  atomic.Pointer[payloadReading]
}

var (
	// undocumentedPayload is for operations whose payload is not documented: an empty object, or no body, with the
	// Content-Type that the interface lists for every request or without it. There are no further readings: each one is
	// another request that could e-mail people.
	undocumentedPayload = []payloadReading{{body: emptyObject()}, {}, {omitContentType: true}}
	// emptyPayload is for operations without a body. Some frameworks refuse a Content-Type without one.
	emptyPayload = []payloadReading{{}, {omitContentType: true}}
)

func emptyObject() []byte { return []byte("{}") }

// doWithReadings sends the request with one reading of its body and, if the service refuses that, with the next one.
// That is not a retry, even if the operation e-mails people: each refusal proves that nothing was done.
func (c *Client) doWithReadings(ctx context.Context, req request, known *payload) (*response, error) {
	readings := known.readings
	if learned := known.learned.Load(); learned != nil {
		readings = []payloadReading{*learned}
	}
	var refusal error
	for _, reading := range readings {
		req.body = reading.body
		req.omitContentType = reading.omitContentType
		response, err := c.do(ctx, req)
		switch {
		case err == nil:
			known.learned.Store(&reading)
			return response, nil
		case !refusesPayload(err): // the service accepted the body, or did not look at it
			return nil, err
		case refusal == nil:
			refusal = err
		}
	}
	return nil, refusal
}

// refusesPayload reports whether a refusal could be about the body as a whole.
func refusesPayload(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Outcome != Refused {
		return false
	}
	return e.Kind == KindInvalid && len(e.Problem.Fields()) == 0 || e.Status == http.StatusUnsupportedMediaType
}
