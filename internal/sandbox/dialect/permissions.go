package dialect

import (
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The values other than the default of the switches about permissions. The default is "".
const (
	// ForbiddenChanges and ForbiddenDecisions are groups of operations; the other values are operations.
	ForbiddenChanges         = "changes"
	ForbiddenDecisions       = "decisions"
	ForbiddenUnknown         = "unknown"
	ForbiddenOdd             = "odd"
	ForbiddenMandateTypeLast = "last"
	ForbiddenBodyApostrophe  = "apostrophe"
	ForbiddenStatus401       = "401"
)

var permissions = []definition{
	{"forbiddenOperation", "what the user may not do: one operation, every change, or every decision about " +
		"an application or a check",
		forbiddenOperations()},
	{"forbiddenObject", "which objects the user may not see: those that do not exist, instead of 404, " +
		"or applications with an odd id and what belongs to them",
		[]string{"none", ForbiddenUnknown, ForbiddenOdd}},
	{"forbiddenMandateType", "whether the user may not create applications of the last mandate type",
		[]string{"none", ForbiddenMandateTypeLast}},
	{"forbiddenBody", "which request bodies a filter in front of the service refuses: those with an apostrophe",
		[]string{"none", ForbiddenBodyApostrophe}},
	{"forbiddenStatus", "the status code of what the switches above forbid",
		[]string{"403", ForbiddenStatus401}},
	{"forbiddenAnswer", "the body of such a response: a problem, HTML, no body, or JSON that is no problem",
		[]string{"problem", ErrorBodyHTML, ErrorBodyEmpty, ErrorBodyMessage}},
}

func forbiddenOperations() []string {
	values := []string{"none", ForbiddenChanges, ForbiddenDecisions}
	for _, op := range control.Operations() {
		if op != control.Token {
			values = append(values, string(op))
		}
	}
	return values
}

// Forbids reports whether forbiddenOperation names the operation or a group that it belongs to.
func (d Dialect) Forbids(op control.Operation) bool {
	switch d.ForbiddenOperation {
	case ForbiddenChanges:
		return IsChange(op)
	case ForbiddenDecisions:
		return slices.Contains([]control.Operation{
			control.CompleteApplication, control.RejectApplication, control.AcceptCheck, control.RejectCheck,
		}, op)
	default:
		return d.ForbiddenOperation == string(op)
	}
}

// IsChange reports whether an operation changes something at the service.
func IsChange(op control.Operation) bool {
	switch op {
	case control.RetrieveApplication, control.RetrieveIndividual, control.IndividualReport, control.References,
		control.RetrieveWebhook, control.Token:
		return false
	default:
		return slices.Contains(control.Operations(), op)
	}
}
