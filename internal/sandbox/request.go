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
	routed    []operation // those of the path, with or without a slash at its end
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

// newRequest reads the body at once, so that a delayed request can be carried out when its client is gone.
func newRequest(httpRequest *http.Request, ops []operation) *request {
	r := &request{Request: httpRequest, routed: ops}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.body, r.tooLong = body, len(body) > bodyLimit
	return r
}

// isLogin is true for a token request, with a slash at the end of its path too.
func (r *request) isLogin() bool { return len(r.routed) > 0 && r.routed[0].name == control.Token }

// setDialect picks the operation of a request among those of its path, which the dialect decides about.
func (r *request) setDialect(d dialect.Dialect) {
	r.dialect, r.operation = d, operation{name: control.Unknown}
	if strings.HasSuffix(r.URL.Path, "/") && d.TrailingSlash == "" {
		return
	}
	for _, op := range r.routed {
		r.allowed = append(r.allowed, op.method(d))
	}
	if i := slices.Index(r.allowed, r.Method); i >= 0 {
		r.operation, r.allowed = r.routed[i], nil
	} else if len(r.routed) == 1 {
		r.operation = r.routed[0]
	}
}

func (a *account) serve(w http.ResponseWriter, r *request) {
	start, name := time.Now(), r.operation.name
	a.stats.request(name)
	sequence := a.service.journal.add(a, r)
	writer := &statusWriter{ResponseWriter: w, count: func(status int) {
		a.stats.response(name, status)
		a.service.journal.answered(sequence, status)
	}}
	defer func() {
		a.service.logger.Info("Request served", "account", a.config.Name, "operation", name, "method", r.Method,
			"route", r.Pattern, "status", writer.status, "duration", time.Since(start).String())
	}()
	if delay := a.limiter.delay(r.dialect.RateLimit); delay > 0 {
		writeTooManyRequests(writer, r.dialect, delay)
		return
	}
	if fault, ok := a.faults.next(name); ok {
		(&faultInjector{a, fault, writer, r}).run()
		return
	}
	a.respond(writer, r)
}

// respond carries out a request and writes its response.
func (a *account) respond(w http.ResponseWriter, r *request) {
	resp, err := a.execute(r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	resp.inDialect(r).write(w, r)
}

func (a *account) execute(r *request) (response, error) {
	if err := r.filtered(); err != nil {
		return response{}, err
	}
	if r.operation.name != control.Token {
		if err := a.authorize(r); err != nil {
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
	if err := a.permitted(r); err != nil {
		return response{}, err
	}
	resp, err := r.operation.handle(a, r)
	if errors.Is(err, state.ErrNotFound) && r.dialect.ForbiddenObject == dialect.ForbiddenUnknown {
		if _, exists := a.data.ApplicationOf(r.operation.name, r.id); !exists {
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
