package engine

import (
	"cmp"
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/operator/apierror"
)

// maxMessage is what the CRDs allow for the message of a problem.
const maxMessage = 1024

// ServiceProblem is what a status shows of a request to the service that failed or was refused. Of the answer, it names
// the status and fields of the interface, and nothing else.
func ServiceProblem(field, reason string, err error) v1alpha1.Problem {
	cause := cmp.Or(idv.CauseOf(err), "the operator is shutting down")
	if idv.IsRefusal(err) {
		return v1alpha1.Problem{Field: field, Reason: reason, Message: cut("The service refused it: " + cause + ".")}
	}
	return FailedProblem(field, reason, cause)
}

// FailedProblem is that of a request to the service that failed for a cause, as idv.CauseOf says it.
func FailedProblem(field, reason, cause string) v1alpha1.Problem {
	message := cut("The request to the service failed: " + cause + ".")
	return v1alpha1.Problem{Field: field, Reason: reason, Message: message}
}

// cut makes a message fit, however many fields a service names.
func cut(message string) string { return printable.Cut(message, maxMessage) }

// ServerProblem is what a status shows of a request to the API server that failed. What is the object or its kind.
func ServerProblem(field, reason, what string, err error) v1alpha1.Problem {
	message := fmt.Sprintf("The operator cannot %s: %s.", what, apierror.Cause(err))
	return v1alpha1.Problem{Field: field, Reason: reason, Message: message}
}

// ServerRequest is what a step asks of the API server: the field of the object that is reconciled, or the kind of
// another one, and in words.
type ServerRequest struct{ Field, What string }

// Problem is what a status shows of the request if it fails.
func (q ServerRequest) Problem(reason string, err error) v1alpha1.Problem {
	return ServerProblem(q.Field, reason, q.What, err)
}

// Refused is what a status shows of an error that lasts: a policy, a quota or a role refuses the request, or an object
// cannot be decoded. Nobody would see that in a log. Other errors pass, and the workqueue backs off: it returns nil.
func (q ServerRequest) Refused(ctx context.Context, reason string, err error) []v1alpha1.Problem {
	if !apierror.IsRefusal(err) && !apierror.IsUnreadable(err) {
		return nil
	}
	log.FromContext(ctx).Info("The API server refuses what a step needs", "field", q.Field,
		"error", apierror.Redact(err).Error())
	return []v1alpha1.Problem{q.Problem(reason, err)}
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
