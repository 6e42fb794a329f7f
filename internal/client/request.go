package client

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// request is one use of an operation on its way through the chain, and what came of it.
type request struct {
	op Operation
	operationSpec
	id        int64 // the path parameter, 0 where the operation has none
	query     string
	headers   http.Header
	body      []byte
	reference string        // of a create: the one that it sends
	deadline  time.Duration // of the operation; 0 is Config.RequestTimeout
	maxBody   int64
	token     *token           // of its Permit
	conn      *http.ClientConn // of its Permit

	answer  *answer       // the last one that says that the operation succeeded
	outcome Outcome       // of all HTTP requests of the operation
	slowest time.Duration // how long the longest of them took, until its response was read
}

// newRequest is a request with the documented method.
func newRequest(op Operation, id int64) *request {
	spec := operations[op]
	bounds := effects[spec.effect]
	return &request{
		op: op, operationSpec: spec, id: id, deadline: bounds.deadline, maxBody: bounds.maxBody, outcome: NotSent,
		// The interface lists Content-Type for every request (interface: Endpoints), also for one without a body.
		headers: http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}},
	}
}

func (q *request) sending(body any) *request {
	q.body = encode(body)
	return q
}

type requestKey struct{}

func requestOf(r *http.Request) *request {
	q, _ := r.Context().Value(requestKey{}).(*request)
	return q
}

// do carries out an operation, and reports it to Config.ObserveOperation. Every error is an *Error.
func do[T any](ctx context.Context, c *Client, q *request, decode func(*answer) (T, error)) (result T, err error) {
	started := time.Now()
	if c.config.ObserveOperation != nil {
		defer func() {
			caller, _ := ctx.Value(callerKey{}).(string)
			c.config.ObserveOperation(OperationResult{
				Operation: q.op, Started: started, Slowest: q.slowest, UntrustedID: ctx.Value(untrustedIDKey{}) != nil,
				Caller: caller, Err: err,
			})
		}()
	}
	if strings.Contains(q.path, "{id}") && q.id <= 0 {
		return result, invalid(q.op, "the id must be greater than 0")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(q.deadline, c.config.RequestTimeout), errDeadline)
	defer cancel()
	a, failure := c.send(ctx, c.chain, q)
	if failure != nil {
		return result, failure
	}
	defer func() { _ = a.Body.Close() }() // of what it has then: a report keeps the body
	return decode(a)
}

// send sends a request through the chain, or from some part of it on. The caller closes the answer.
func (c *Client) send(ctx context.Context, through http.RoundTripper, q *request) (*answer, *Error) {
	// The path parameter is an int64, so it needs no escaping and cannot change the path.
	url := c.baseURL + strings.Replace(q.path, "{id}", strconv.FormatInt(q.id, 10), 1)
	// The bottom of the chain adds the body, each time that it sends the request.
	r, err := http.NewRequestWithContext(context.WithValue(ctx, requestKey{}, q), q.method, url, http.NoBody)
	if err != nil {
		return nil, invalid(q.op, "the request could not be made")
	}
	r.URL.RawQuery, r.Header = q.query, q.headers
	r.Header.Set("User-Agent", c.config.UserAgent)
	if _, err = through.RoundTrip(r); err != nil { //nolint:bodyclose // it is the answer's
		return nil, failureOf(err)
	}
	return q.answer, nil
}

type untrustedIDKey struct{}

// WithUntrustedID is for an operation with an id that somebody else has named, and that may be of nothing. It may fail
// because of the id and not of the service. So it is sent once, and an observer sees OperationResult.UntrustedID.
func WithUntrustedID(ctx context.Context) context.Context {
	return context.WithValue(ctx, untrustedIDKey{}, true)
}

type callerKey struct{}

// WithCaller is for an operation on behalf of somebody, whom an observer sees.
func WithCaller(ctx context.Context, caller string) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// Change is the response to a request that changed something.
type Change struct {
	Accepted    bool         // the service carries it out later (202): read what has become of it
	Message     Secret       // what the service says (interface: Accept check and Reject check), "" if nothing
	Application *Application // that in the response (interface: Archive application), nil if it shows none
	Raw         Raw          // the whole response, which may have personal data; empty if it is empty
}

// change carries out an operation whose response need not say anything.
func (c *Client) change(ctx context.Context, q *request) (*Change, error) {
	return do(ctx, c, q, func(a *answer) (*Change, error) {
		change := &Change{Accepted: a.accepted(), Message: Hide(a.value.Object().Text("message")), Raw: a.raw()}
		shown, err := parseApplication(a)
		ofApplication := strings.HasPrefix(q.path, operations[OpRetrieveApplication].path)
		if err == nil && ofApplication && shown.ID == q.id && shown.State != (State{}) {
			change.Application = shown
		}
		return change, nil
	})
}

// withoutEmpty removes the fields that are not set.
func withoutEmpty(body map[string]any) map[string]any {
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == "" || value == int64(0) })
	return body
}

// encode writes a request body. Bodies consist of strings, numbers and lists of them, which always encode.
func encode(body any) []byte {
	encoded, _ := json.Marshal(body)
	return encoded
}
