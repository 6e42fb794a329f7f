package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// problem is the body of every error (interface: Errors).
type problem struct {
	Title     string
	Exception map[string]any
	Detail    string
	Instance  string
}

func writeProblem(w http.ResponseWriter, d dialect.Dialect, status int, p problem) {
	var body []byte
	contentType := mediaProblem
	reason := strconv.Itoa(status) + " " + http.StatusText(status)
	switch d.ErrorBody {
	case dialect.ErrorBodyEmpty:
		contentType = ""
	case dialect.ErrorBodyText:
		contentType, body = "text/plain; charset=utf-8", []byte(reason+"\n")
	case dialect.ErrorBodyHTML:
		contentType, body = mediaHTML, htmlPage(reason)
	case dialect.ErrorBodyMessage:
		contentType, body = mediaJSON, mustMarshal(messageBody{http.StatusText(status)})
	case dialect.ErrorBodyJSON:
		contentType = mediaJSON
		fallthrough
	default:
		body = mustMarshal(p.members(status, d))
	}
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // the HTML has only the fixed phrase of a status code
}

// htmlPage is a page with a fixed text, as proxies send it.
func htmlPage(text string) []byte {
	return fmt.Appendf(nil, "<!doctype html>\n"+
		"<html><head><title>%s</title></head><body><h1>%[1]s</h1></body></html>\n", text)
}

func (p problem) members(status int, d dialect.Dialect) map[string]any {
	members := map[string]any{"type": "", "title": p.Title, "exception": p.Exception, "status": strconv.Itoa(status)}
	if p.Exception == nil {
		members["exception"] = map[string]any{}
	}
	if p.Detail != "" {
		members["detail"] = p.Detail
	}
	if p.Instance != "" {
		members["instance"] = p.Instance
	}
	switch d.ErrorShape {
	case dialect.ErrorShapeExtended:
		maps.Copy(members, map[string]any{
			"type": "https://idv.example/problems/refused", "instance": "/requests/7f3a",
			"detail": "The request was refused",
			"code":   "E-1001", "trace_id": "7f3a", "errors": []any{},
		})
	case dialect.ErrorShapeNumericID:
		maps.Copy(members, map[string]any{"id": 480017, "code": 4001, "retryable": false})
	case dialect.ErrorShapeNumberStatus:
		members["status"] = status
	case dialect.ErrorShapeNoException:
		if len(p.Exception) == 0 {
			delete(members, "exception")
		}
	}
	if d.ExtraMembers == dialect.ExtraMembersPresent {
		addExtraMembers(members)
	}
	return members
}

// statusError is an error with the status code of its response.
type statusError struct {
	status int
	title  string
	detail string
	header map[string]string
	// body is the value of errorBody that counts for this error; "" is that of the dialect.
	body string
	// json is the body itself, if it is not nil.
	json any
}

// Error implements error.
func (e *statusError) Error() string { return e.title }

func malformed(detail string) error {
	return &statusError{status: http.StatusBadRequest, title: "The request is malformed", detail: detail}
}

func writeError(w http.ResponseWriter, r *request, err error) {
	var invalid *state.InvalidError
	var refused *state.RefusedError
	var other *statusError
	switch {
	case errors.As(err, &invalid):
		status := statusOf(r.dialect.InvalidStatus)
		if invalid.UnknownType && len(invalid.Fields) == 1 && invalid.Individuals == nil {
			status = cmp.Or(statusIn(r.dialect.UnknownMandateType), status)
		}
		writeProblem(w, r.dialect, status, invalidProblem(invalid, r.dialect))
	case errors.As(err, &refused):
		writeProblem(w, r.dialect, r.refusalStatus(refused), problem{
			Title: "The request is not possible now", Detail: refused.Reason,
		})
	case errors.As(err, &other):
		for name, value := range other.header {
			w.Header().Set(name, value)
		}
		if other.json != nil {
			response{status: other.status, json: other.json, standard: true}.write(w, r)
			return
		}
		d := r.dialect
		d.ErrorBody = cmp.Or(other.body, d.ErrorBody)
		writeProblem(w, d, other.status, problem{Title: other.title, Detail: other.detail})
	case errors.Is(err, state.ErrGone):
		writeProblem(w, r.dialect, cmp.Or(statusIn(r.dialect.GoneAnswer), http.StatusNotFound), problem{Title: "Gone"})
	case errors.Is(err, state.ErrNotFound):
		writeProblem(w, r.dialect, http.StatusNotFound, problem{Title: "Not found"})
	default:
		writeProblem(w, r.dialect, http.StatusInternalServerError, problem{Title: "The sandbox failed"})
	}
}

// refusalStatus is the status code of a request that the state does not allow.
func (r *request) refusalStatus(refused *state.RefusedError) int {
	switch {
	case r.operation.name == control.IndividualReport:
		return statusOf(r.dialect.ReportNotReady)
	case refused.Undecided && r.dialect.UndecidedChecks == dialect.UndecidedBlock409:
		return http.StatusConflict
	default:
		return statusOf(r.dialect.TransitionRefusal)
	}
}

// statusOf parses the value of a switch whose default is 400.
func statusOf(value string) int { return cmp.Or(statusIn(value), http.StatusBadRequest) }

// statusIn parses a value that is a status code. It is 0 for any other.
func statusIn(value string) int {
	status, _ := strconv.Atoi(value)
	return status
}

func invalidProblem(invalid *state.InvalidError, d dialect.Dialect) problem {
	p := problem{Title: "A request parameter did not validate", Exception: map[string]any{}}
	for field, messages := range invalid.Fields {
		p.Exception[field] = messages
	}
	if invalid.Individuals != nil {
		p.Exception["individuals"] = invalid.Individuals
		if len(invalid.Individuals) == 0 {
			p.Detail = "individuals must be a list of at least one object"
		}
	}
	if invalid.Duplicate && d.DuplicateAnswer == dialect.DuplicateBeside {
		p.Exception["non_field_errors"] = []string{"the request was not carried out"}
		p.Detail, p.Instance = "the reference is not unique", "/problems/duplicate"
	}
	return p
}
