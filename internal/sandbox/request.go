package sandbox

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// request is a request to the service's interface.
type request struct {
	*http.Request
	operation operation
	// allowed lists the methods of the path if the request has another one.
	allowed []string
	// dialect is the one that was set when the request came.
	dialect dialect.Dialect
	body    []byte
	tooLong bool
	// id is the number in the path, if the operation has one there.
	id int64
}

// newRequest picks the operation of a request among those of its path. It reads the body at once, so that a delayed
// request can be carried out when its client is gone.
func newRequest(httpRequest *http.Request, ops []operation, d dialect.Dialect) *request {
	r := &request{Request: httpRequest, dialect: d, operation: operation{name: unknownOperation}}
	for _, op := range ops {
		r.allowed = append(r.allowed, op.method(d))
	}
	if i := slices.Index(r.allowed, r.Method); i >= 0 {
		r.operation, r.allowed = ops[i], nil
	} else if len(ops) == 1 {
		r.operation = ops[0]
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.body, r.tooLong = body, len(body) > bodyLimit
	return r
}

func (s *Service) serve(w http.ResponseWriter, r *request) {
	start := time.Now()
	name := r.operation.name
	s.stats.request(name)
	writer := &statusWriter{ResponseWriter: w, count: func(status int) { s.stats.response(name, status) }}
	defer func() {
		s.options.Logger.Info("Request served", "operation", name, "method", r.Method, "route", r.Pattern,
			"status", writer.status, "duration", time.Since(start).String())
	}()
	if delay := s.limiter.delay(r.dialect.RateLimit); delay > 0 {
		writeTooManyRequests(writer, r.dialect, delay)
		return
	}
	if fault, ok := s.faults.next(name); ok {
		(&faultInjector{s, fault, writer, r}).run()
		return
	}
	s.respond(writer, r)
}

// respond carries out a request and writes its response.
func (s *Service) respond(w http.ResponseWriter, r *request) {
	resp, err := s.execute(r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	resp.inDialect(r).write(w, r)
}

func (s *Service) execute(r *request) (response, error) {
	if err := r.filtered(); err != nil {
		return response{}, err
	}
	if r.operation.name != control.Token {
		if err := s.authorize(r); err != nil {
			return response{}, err
		}
	}
	if len(r.allowed) > 0 {
		return response{}, wrongMethod(r)
	}
	if r.operation.handle == nil {
		return response{}, state.ErrNotFound
	}
	if text := r.PathValue("id"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return response{}, state.ErrNotFound
		}
		r.id = id
	}
	if r.tooLong {
		return response{}, &statusError{
			status: http.StatusRequestEntityTooLarge, title: "The request body is too large",
		}
	}
	if err := r.operation.body.check(r); err != nil {
		return response{}, err
	}
	if err := s.permitted(r); err != nil {
		return response{}, err
	}
	resp, err := r.operation.handle(s, r)
	if errors.Is(err, state.ErrNotFound) && r.dialect.ForbiddenObject == dialect.ForbiddenUnknown {
		if _, exists := s.account.ApplicationOf(r.operation.name, r.id); !exists {
			err = r.forbidden()
		}
	}
	return resp, err
}

func wrongMethod(r *request) error {
	err := &statusError{status: http.StatusMethodNotAllowed, title: "Method not allowed"}
	switch r.dialect.WrongMethod {
	case dialect.WrongMethod404:
		return state.ErrNotFound
	case dialect.WrongMethodBare:
	case dialect.WrongMethodAll:
		err.header = map[string]string{"Allow": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}
		if r.Method == http.MethodOptions {
			err.status, err.body = http.StatusNoContent, dialect.ErrorBodyEmpty
		}
	default:
		err.header = map[string]string{"Allow": strings.Join(r.allowed, ", ")}
	}
	return err
}
