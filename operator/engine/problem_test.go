package engine

import (
	"strings"
	"testing"
	"unicode/utf8"

	idv "github.com/mandate-io/idv/internal/client"
)

// However many fields a service names, and however deep, the status can be written.
func TestProblemsFit(t *testing.T) {
	deep := idv.FieldError{}
	for range 6 {
		deep.Path = append(deep.Path, idv.PathStep{Field: "suppress_email_notification", Index: -1})
	}
	problem := &idv.Problem{}
	for i := range 100 {
		problem.Errors = append(problem.Errors, idv.FieldError{Path: append(idv.Path{{Index: i}}, deep.Path...)})
	}
	err := &idv.Error{
		Operation: idv.OpCompleteApplication, Outcome: idv.Refused, Kind: idv.KindConflict, Status: 409, Problem: problem,
	}
	message := ServiceProblem("spec.decision", "DecisionRefused", err).Message
	n, says := utf8.RuneCountInString(message), strings.HasPrefix(message, "The service refused it: HTTP 409")
	if n > maxMessage || !says {
		t.Errorf("%d characters: %s", n, message)
	}
}
