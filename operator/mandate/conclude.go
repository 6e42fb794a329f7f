package mandate

import (
	"cmp"
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// conclude records that an attempt created nothing, that it proved what an earlier one did, or that the service creates
// the application later.
func (r *reconciliation) conclude(ctx context.Context) error {
	attempt, conclusion := r.facts.attempt, r.conclusion()
	record, err := r.ledger.Conclude(context.WithoutCancel(ctx), r.record, conclusion)
	if err != nil && !errors.Is(err, ledger.ErrLost) {
		return r.unrecorded(err)
	}
	r.facts.attempt = attemptFacts{}
	switch {
	case attempt.changed:
		r.facts.failureReason = cmp.Or(attempt.why, reasonStaleCache)
	case conclusion.Verdict == v1alpha1.VerdictNotSent:
		r.facts.failureReason = v1alpha1.ReasonRetrying
	}
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.setRecord(record)
	return nil
}

// conclusion is what an attempt that created nothing says of itself, or of those before it.
func (r *reconciliation) conclusion() v1alpha1.Attempt {
	attempt, conclusion := r.facts.attempt, *r.record.Spec.Attempt
	switch verdict := verdictOf(attempt); {
	case verdict == v1alpha1.VerdictIDTooLarge:
		conclusion.Verdict = verdict
	case verdict == v1alpha1.VerdictAccepted:
		conclusion.Verdict = verdict
		if attempt.candidate != 0 {
			conclusion.CandidateID = &attempt.candidate
		}
	case conclusion.Ordinal == 1:
		conclusion.Sent = false
		conclusion.Verdict = verdict
	case attempt.duplicate:
		// The application of an earlier attempt whose answer was lost, or its individuals: there is no way to learn the id.
		conclusion.Verdict = v1alpha1.VerdictTaken
	default:
		conclusion.Ordinal-- // what became of the earlier attempts is still open
		conclusion.Verdict = verdict
	}
	return conclusion
}

// verdictOf says what an attempt that created nothing means for the next one: only what the service said about the
// application itself keeps it from being sent again.
func verdictOf(a attemptFacts) v1alpha1.Verdict {
	switch {
	case a.idTooLarge:
		return v1alpha1.VerdictIDTooLarge
	case a.posted && !a.outcome.NothingDone():
		return v1alpha1.VerdictAccepted
	case !a.posted || !a.refusal:
		return v1alpha1.VerdictNotSent
	case a.kind == idv.KindDuplicateReference:
		return v1alpha1.VerdictTaken
	case a.kind == idv.KindInvalid:
		return v1alpha1.VerdictRefused
	case a.outcome == idv.Forbidden:
		return v1alpha1.VerdictForbidden
	default:
		return v1alpha1.VerdictRetryable
	}
}

// unrecorded: the API server did not record how the attempt ended. The status says so, and then only that is tried
// again.
func (r *reconciliation) unrecorded(err error) error {
	if !r.facts.attempt.unrecorded {
		r.facts.attempt.unrecorded = true
		return nil
	}
	return &engine.UnrecordedError{Err: err}
}

// showPending writes that the attempt is not recorded. Nothing depends on whether that succeeds.
func (r *reconciliation) showPending(ctx context.Context) {
	r.facts.attempt.shown = true
	if err := r.writeStatus(context.WithoutCancel(ctx), v1alpha1.ReasonRecordPending, 0); err != nil {
		log.FromContext(ctx).Info("Failed to write the status", "error", apierror.Redact(err).Error())
	}
}
