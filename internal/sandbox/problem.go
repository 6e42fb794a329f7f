package sandbox

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// problem is the body of every error (interface: Errors).
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Exception map[string]any `json:"exception"`
	Status    string         `json:"status"`
	Detail    string         `json:"detail,omitempty"`
	Instance  string         `json:"instance,omitempty"`
}

func writeProblem(w http.ResponseWriter, status int, p problem) {
	p.Status = strconv.Itoa(status)
	if p.Exception == nil {
		p.Exception = map[string]any{}
	}
	encoded, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings only
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// statusError is an error whose status code is decided where it arises.
type statusError struct {
	status int
	title  string
	detail string
}

// Error implements error.
func (e *statusError) Error() string { return e.title }

func malformed(detail string) error {
	return &statusError{http.StatusBadRequest, "The request is malformed", detail}
}

// writeError answers an error of an operation.
func writeError(w http.ResponseWriter, c *call, err error) {
	var invalid *state.InvalidError
	var refused *state.RefusedError
	var other *statusError
	switch {
	case errors.As(err, &invalid):
		writeProblem(w, http.StatusBadRequest, invalidProblem(invalid, c.dialect))
	case errors.As(err, &refused):
		writeProblem(w, c.refusalStatus(), problem{Title: "The request is not possible now", Detail: refused.Reason})
	case errors.As(err, &other):
		writeProblem(w, other.status, problem{Title: other.title, Detail: other.detail})
	case errors.Is(err, state.ErrNotFound):
		writeProblem(w, http.StatusNotFound, problem{Title: "Not found"})
	default:
		writeProblem(w, http.StatusInternalServerError, problem{Title: "The sandbox failed"})
	}
}

func invalidProblem(invalid *state.InvalidError, spoken dialect.Dialect) problem {
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
	if invalid.Duplicate && spoken.DuplicateAnswer == dialect.DuplicateBeside {
		p.Exception["non_field_errors"] = []string{"the request was not carried out"}
		p.Detail, p.Instance = "a reference is taken", "/problems/duplicate"
	}
	return p
}
