package sandbox

import (
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

// call is one request of an operation.
type call struct {
	*http.Request
	operation operation
	// allowed lists the methods of the path if the request has another one.
	allowed []string
	// dialect is what was spoken when the request came.
	dialect dialect.Dialect
	body    []byte
	tooLong bool
	// id is the number in the path, if the operation has one there.
	id int64
}

// newCall picks the operation of a request among those of its path. The body is
// read at once, so that a delayed request can be carried out when its caller is gone.
func newCall(r *http.Request, ops []operation, spoken dialect.Dialect) *call {
	c := &call{Request: r, dialect: spoken, operation: operation{name: unknown}}
	for _, op := range ops {
		c.allowed = append(c.allowed, op.method(spoken))
	}
	if i := slices.Index(c.allowed, r.Method); i >= 0 {
		c.operation, c.allowed = ops[i], nil
	} else if len(ops) == 1 {
		c.operation = ops[0]
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c.body, c.tooLong = body, len(body) > bodyLimit
	return c
}

func (s *Service) serve(w http.ResponseWriter, c *call) {
	name, began := c.operation.name, time.Now()
	s.stats.request(name)
	answered := &statusWriter{ResponseWriter: w, count: func(status int) { s.stats.answer(name, status) }}
	defer func() {
		s.options.Logger.Info("request", "operation", name, "method", c.Method, "route", c.Pattern,
			"status", answered.status, "duration", time.Since(began).String())
	}()
	if wait := s.limit.wait(c.dialect.RateLimit); wait > 0 {
		limited(answered, c.dialect, wait)
		return
	}
	if fault, ok := s.faults.take(name); ok {
		(&strike{s, fault, answered, c}).run()
		return
	}
	s.work(answered, c)
}

func (s *Service) work(w http.ResponseWriter, c *call) {
	answer, err := s.carryOut(c)
	if err != nil {
		writeError(w, c, err)
		return
	}
	answer.write(w, c)
}

func (s *Service) carryOut(c *call) (reply, error) {
	if c.operation.name != control.Token {
		if err := s.admit(c); err != nil {
			return reply{}, err
		}
	}
	if len(c.allowed) > 0 {
		return reply{}, wrongMethod(c)
	}
	if c.operation.handle == nil {
		return reply{}, state.ErrNotFound
	}
	if text := c.PathValue("id"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return reply{}, state.ErrNotFound
		}
		c.id = id
	}
	if c.tooLong {
		return reply{}, &statusError{status: http.StatusRequestEntityTooLarge, title: "The request body is too large"}
	}
	if err := c.operation.body.check(c); err != nil {
		return reply{}, err
	}
	return c.operation.handle(s, c)
}

func wrongMethod(c *call) error {
	refused := &statusError{status: http.StatusMethodNotAllowed, title: "Method not allowed"}
	switch c.dialect.WrongMethod {
	case dialect.WrongMethod404:
		return state.ErrNotFound
	case dialect.WrongMethodBare:
	default:
		refused.header = map[string]string{"Allow": strings.Join(c.allowed, ", ")}
	}
	return refused
}
