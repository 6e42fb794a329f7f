package sandbox

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// apiPrefix is the path of the service's interface.
const apiPrefix = "/api/v1"

// bodyLimit bounds every request body. The service's own limit is not documented.
const bodyLimit = 1 << 20

// unknown is the operation of a request that matches no documented one.
const unknown control.Operation = "unknown"

// operation is one documented operation.
type operation struct {
	name   control.Operation
	method func(dialect.Dialect) string
	path   string
	body   bodyRule
	handle func(*Service, *call) (reply, error)
}

// operations is the interface's summary table.
var operations = []operation{
	{control.Token, always(http.MethodPost), "/ext/authentications/token", formBody, (*Service).token},
	{control.CreateApplication, always(http.MethodPost), "/ext/applications", objectBody, (*Service).createApplication},
	{control.RetrieveApplication, always(http.MethodGet), "/ext/applications/{id}", noBody, (*Service).retrieveApplication},
	{control.DeleteApplication, always(http.MethodDelete), "/ext/applications/{id}", noBody, (*Service).deleteApplication},
	{control.ArchiveApplication, always(http.MethodPatch), "/ext/applications/{id}/archive", emptyObjectBody, (*Service).archiveApplication},
	{control.CompleteApplication, completeMethod, "/ext/applications/{id}/complete", anyObjectBody, (*Service).completeApplication},
	{control.RejectApplication, rejectMethod, "/ext/applications/{id}/reject", anyObjectBody, (*Service).rejectApplication},
	{control.AcceptCheck, always(http.MethodPatch), "/check/{id}/accept", objectBody, (*Service).acceptCheck},
	{control.RejectCheck, always(http.MethodPatch), "/check/{id}/reject", objectBody, (*Service).rejectCheck},
	{control.RetrieveIndividual, always(http.MethodGet), "/ext/individuals/{id}", noBody, (*Service).retrieveIndividual},
	{control.ResendInvites, always(http.MethodPost), "/ext/individuals/{id}/invites/resend", anyObjectBody, (*Service).resendInvites},
	{control.ResetIndividual, always(http.MethodPost), "/ext/individuals/{id}/reset", anyObjectBody, (*Service).resetIndividual},
	{control.IndividualReport, always(http.MethodGet), "/ext/individuals/{id}/report", noBody, (*Service).individualReport},
	{control.References, always(http.MethodGet), "/ext/references", noBody, (*Service).references},
	{control.SubscribeWebhook, always(http.MethodPost), "/ext/webhooks/subscribe", objectBody, (*Service).subscribeWebhook},
	{control.RetrieveWebhook, always(http.MethodGet), "/ext/webhooks/retrieve/{id}", noBody, (*Service).retrieveWebhook},
}

func always(method string) func(dialect.Dialect) string {
	return func(dialect.Dialect) string { return method }
}

func completeMethod(d dialect.Dialect) string { return cmp.Or(d.CompleteMethod, http.MethodPatch) }

func rejectMethod(d dialect.Dialect) string { return cmp.Or(d.RejectMethod, http.MethodPatch) }

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

func (s *Service) routeInterface() {
	paths := map[string][]operation{"/": nil}
	for _, op := range operations {
		paths[op.path] = append(paths[op.path], op)
	}
	for path, ops := range paths {
		s.mux.HandleFunc(apiPrefix+path, func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, newCall(r, ops, s.dialect.Get()))
		})
	}
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
	work := func(w http.ResponseWriter) { s.work(w, c) }
	if fault, ok := s.faults.take(name); ok {
		s.strike(fault, answered, work)
		return
	}
	work(answered)
}

func (s *Service) work(w http.ResponseWriter, c *call) {
	if c.operation.name != control.Token && !s.authorised(c.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		writeProblem(w, http.StatusUnauthorized, problem{Title: "Unauthorised"})
		return
	}
	if len(c.allowed) > 0 {
		w.Header().Set("Allow", strings.Join(c.allowed, ", "))
		writeProblem(w, http.StatusMethodNotAllowed, problem{Title: "Method not allowed"})
		return
	}
	answer, err := s.carryOut(c)
	if err != nil {
		writeError(w, c, err)
		return
	}
	answer.write(w, c)
}

func (s *Service) carryOut(c *call) (reply, error) {
	if c.operation.handle == nil {
		return reply{}, &statusError{status: http.StatusNotFound, title: "Not found"}
	}
	if text := c.PathValue("id"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return reply{}, &statusError{status: http.StatusNotFound, title: "Not found"}
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

// refusalStatus is what a refusal by the state answers to this call.
func (c *call) refusalStatus() int {
	transition := c.operation.name == control.CompleteApplication || c.operation.name == control.RejectApplication
	if transition && c.dialect.TransitionRefusal == dialect.Refusal409 {
		return http.StatusConflict
	}
	return http.StatusBadRequest
}
