package action

import (
	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// decideAttempt is for the attempt that this reconciliation has recorded in the status.
func decideAttempt(f facts) decision {
	switch a := f.attempt; {
	case a.canceled || a.sent && !a.success && a.outcome.NothingDone() && !a.refusal:
		return decideCanceled(f)
	case a.sent:
		return decideAnswer(f)
	case !f.record.read:
		return decision{Step: stepReadRecord}
	}
	if used := decideName(f); used.Step != "" {
		return used
	}
	switch {
	case f.record.application != f.mandate.application:
		return wait(v1alpha1.ReasonRecordNotFound)
	case f.otherAccount() && f.record.mine: // somebody has written another one since
		return decision{Step: stepCancel}
	case f.otherAccount():
		return wait(v1alpha1.ReasonAccountChanged)
	case !f.record.mine:
		return decision{Step: stepRecord}
	case !f.attempt.verified:
		return decision{Step: stepVerify}
	default:
		return decision{Step: stepSend}
	}
}

// decideCanceled is for an attempt that certainly did nothing. The action is carried out later, under its name.
func decideCanceled(f facts) decision {
	switch {
	case !f.record.read:
		return decision{Step: stepReadRecord}
	case f.record.mine:
		return decision{Step: stepCancel}
	default:
		return waitFor(v1alpha1.ReasonRetrying, f.retryAfter)
	}
}

// decideAnswer says what the answer to the request means for the action.
func decideAnswer(f facts) decision {
	a := f.attempt
	switch {
	case a.accepted:
		return wait(v1alpha1.ReasonRequestAccepted)
	case a.success:
		return wait(v1alpha1.ReasonCarriedOut)
	case !a.outcome.NothingDone():
		return wait(v1alpha1.ReasonOutcomeUnknown)
	case a.outcome == client.Forbidden:
		return wait(v1alpha1.ReasonForbidden)
	case a.kind == client.KindNotFound:
		return wait(v1alpha1.ReasonIndividualNotFound)
	default:
		return wait(v1alpha1.ReasonRefused)
	}
}
