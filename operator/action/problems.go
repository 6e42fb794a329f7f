package action

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
)

// tooSlow is the problem of a call that was given up because each last look took too long.
const tooSlow = "The API server, or the machine of the operator, is so slow that what was read right before the " +
	"request was over a second old. Nothing was sent."

// isForbidden reports whether the service itself forbids what was asked: an action ends then. A proxy may forbid a read
// for a moment.
func isForbidden(err error) bool { return idv.IsForbidden(err) && idv.ProblemOf(err) != nil }

// failed takes over why the service did not do what a request asked for.
func (r *reconciliation) failed(err error) {
	found := engine.ServiceProblem("spec.type", "", err)
	if idv.IsForbidden(err) && !isForbidden(err) {
		cause := fmt.Sprintf("HTTP %d without a problem body, perhaps of a proxy", idv.StatusOf(err))
		found = engine.FailedProblem("spec.type", "", cause)
	}
	r.facts.problems = []v1alpha1.Problem{found}
}

var writesRecord = engine.ServerRequest{Field: "ApplicationRecord", What: "write the ApplicationRecord"}

var reservesRequest = engine.ServerRequest{Field: "IdentityService", What: "reserve a request in status.creation"}

// serverRequests are those of the steps of an action that has not ended.
var serverRequests = map[step]engine.ServerRequest{
	stepReadRecord:      {Field: "ApplicationRecord", What: "read the ApplicationRecord"},
	stepReadMandate:     {Field: "spec.mandateRef", What: "read the Mandate"},
	stepReadApplication: {Field: "spec.mandateRef", What: "read the Secrets of the Mandate"},
	stepBegin:           writesRecord,
	stepVerify:          {Field: "spec.mandateRef", What: "read the Mandate and its service again"},
	stepEnd:             writesRecord,
	stepLookForSecret:   {Field: "spec.reportSecretRef", What: "look for the Secret"},
}

// stepFailed is for a step whose request to the API server may have failed.
func (r *reconciliation) stepFailed(ctx context.Context, s step, err error) error {
	if request, ok := serverRequests[s]; ok {
		return r.refused(ctx, request, err)
	}
	return err
}

// refused has the status say what the API server refuses.
func (r *reconciliation) refused(ctx context.Context, request engine.ServerRequest, err error) error {
	problems := request.Refused(ctx, "", err)
	if problems == nil {
		return err
	}
	r.facts.failureReason, r.facts.problems = v1alpha1.ReasonRetrying, problems
	return nil
}

// unrecorded: the API server did not record what became of the call. The status says so, and then only that is tried
// again.
func (r *reconciliation) unrecorded(err error) error {
	if r.facts.call.end != endOpen {
		return err
	}
	r.facts.call.end, r.notRecorded = endRefused, writesRecord.Problem("", err)
	return nil
}

// showPending writes that the result of the call is not recorded. Nothing depends on whether that succeeds.
func (r *reconciliation) showPending(ctx context.Context) error {
	r.facts.call.end = endShown
	if err := r.writeStatus(ctx, v1alpha1.ReasonRecordPending); err != nil {
		log.FromContext(ctx).Info("Failed to write the status", "error", apierror.Redact(err).Error())
	}
	return nil
}
