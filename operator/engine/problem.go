package engine

import (
	"cmp"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
)

// ServiceProblem is what a status shows of a request to the service that failed or was refused. Of the answer, it names
// the status and fields of the interface, and nothing else.
func ServiceProblem(field, reason string, err error) v1alpha1.Problem {
	cause := cmp.Or(idv.CauseOf(err), "the operator is shutting down")
	sentence := "The request to the service failed: %s."
	if idv.IsRefusal(err) {
		sentence = "The service refused it: %s."
	}
	return v1alpha1.Problem{Field: field, Reason: reason, Message: fmt.Sprintf(sentence, cause)}
}

// ServerProblem is what a status shows of a request to the API server that failed. What is the object or its kind.
func ServerProblem(field, reason, what string, err error) v1alpha1.Problem {
	message := fmt.Sprintf("The operator cannot %s: %s.", what, apierror.Cause(err))
	return v1alpha1.Problem{Field: field, Reason: reason, Message: message}
}

// KeptProblems are those of a reason that a status shows already, or else the ones that were found now: a request that
// is tried again may fail in another way each time, and that is not written each time.
func KeptProblems(shown, found []v1alpha1.Problem, reason string) []v1alpha1.Problem {
	if kept := ProblemsOf(shown, reason); len(kept) > 0 {
		return kept
	}
	return found
}

// ProblemsOf are those of a reason.
func ProblemsOf(problems []v1alpha1.Problem, reason string) (of []v1alpha1.Problem) {
	for _, p := range problems {
		if p.Reason == reason {
			of = append(of, p)
		}
	}
	return of
}
