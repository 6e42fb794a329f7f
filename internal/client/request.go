package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// request is one use of an operation on its way through the chain, and what came of it.
type request struct {
	op Operation
	operationSpec
	id            int64 // the path parameter, 0 where the operation has none
	query         string
	deadline      time.Duration
	maxBody       int64
	body          []byte
	accept        string // "" is application/json
	contentType   string // "" is none
	reference     string // of a create: the one that it sends
	authorization Secret // of a login

	answer *answer // the last one that says that the operation succeeded
	// slowest is how long the longest HTTP request took, until its response was read.
	slowest time.Duration
}

// newRequest is a request with the documented method.
func newRequest(op Operation, id int64) *request {
	spec := operations[op]
	bounds := effects[spec.effect]
	return &request{
		op: op, operationSpec: spec, id: id, deadline: bounds.deadline, maxBody: bounds.maxBody,
		// The interface lists it for every request (interface: Endpoints), also for one without a body.
		contentType: "application/json",
	}
}

// sending sets the body of a request.
func (q *request) sending(body any) *request {
	q.body = encode(body)
	return q
}

type requestKey struct{}

func requestOf(r *http.Request) *request {
	q, _ := r.Context().Value(requestKey{}).(*request)
	return q
}

// do carries out an operation, reads the response, and reports both to Config.ObserveOperation. Every error is an
// *Error.
func do[T any](ctx context.Context, c *Client, q *request, decode func(*answer) (T, error)) (result T, err error) {
	started := time.Now()
	if c.config.ObserveOperation != nil {
		defer func() {
			c.config.ObserveOperation(OperationResult{
				Operation: q.op, Started: started, Slowest: q.slowest, UntrustedID: hasUntrustedID(ctx), Err: err,
			})
		}()
	}
	if strings.Contains(q.path, "{id}") && q.id <= 0 {
		return result, invalid(q.op, "the id must be greater than 0")
	}
	if q.deadline == 0 {
		q.deadline = c.config.RequestTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, q.deadline, errDeadline)
	defer cancel()
	r, err := c.httpRequest(ctx, q)
	if err != nil {
		return result, err
	}
	response, err := c.chain.RoundTrip(r)
	if err != nil {
		return result, failureOf(err)
	}
	defer response.Body.Close()
	return decode(q.answer)
}

// httpRequest is without the body, which the bottom of the chain adds each time that it sends the request.
func (c *Client) httpRequest(ctx context.Context, q *request) (*http.Request, error) {
	// The path parameter is an int64, so it needs no escaping and cannot change the path.
	url := c.baseURL + strings.Replace(q.path, "{id}", strconv.FormatInt(q.id, 10), 1)
	r, err := http.NewRequestWithContext(context.WithValue(ctx, requestKey{}, q), q.method, url, http.NoBody)
	if err != nil {
		return nil, invalid(q.op, "the request could not be made")
	}
	r.URL.RawQuery = q.query
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.config.UserAgent)
	for name, value := range map[string]string{
		"Accept": q.accept, "Content-Type": q.contentType, "Authorization": q.authorization.Reveal(),
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r, nil
}

type untrustedIDKey struct{}

// WithUntrustedID is for an operation with an id that somebody else has named, and that may be of nothing. It may fail
// because of the id and not of the service. So it is sent once, and an observer sees OperationResult.UntrustedID.
func WithUntrustedID(ctx context.Context) context.Context {
	return context.WithValue(ctx, untrustedIDKey{}, true)
}

func hasUntrustedID(ctx context.Context) bool { return ctx.Value(untrustedIDKey{}) != nil }

// Change is the response to a request that changed something.
type Change struct {
	// Accepted: the service carries it out later (202). Read what has become of it.
	Accepted bool
	// Message is what the service says (interface: Accept check and Reject check), "" if nothing.
	Message Secret
	// Application is the application in the response (interface: Archive application), nil if it shows none.
	Application *Application
	// Raw is the whole response, which may have personal data; empty if it is empty.
	Raw Raw
}

// change carries out an operation whose response need not say anything.
func (c *Client) change(ctx context.Context, q *request) (*Change, error) {
	return do(ctx, c, q, func(a *answer) (*Change, error) {
		change := &Change{
			Accepted: a.accepted(), Message: Hide(a.value.Object().Text("message")), Raw: a.raw(),
		}
		shown, err := parseApplication(a)
		ofApplication := strings.HasPrefix(q.path, operations[OpRetrieveApplication].path)
		if err == nil && ofApplication && shown.ID == q.id && shown.State != (State{}) {
			change.Application = shown
		}
		return change, nil
	})
}
