package action

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// missingAllowance is how long an action waits for a Mandate that does not exist: things are applied in any order. An
// action that waited for ever would one day e-mail somebody to everybody's surprise.
const missingAllowance = 10 * time.Minute

// decide is the only place that decides, and pure: the same facts give the same step.
//
// What it promises, whatever the facts: stepSend only for a call that this reconciliation has begun, and not sent yet;
// stepBegin for none under a name that was used before, and none while another call of the record may be under way;
// none after the end, and an end stays.
func decide(f facts) decision {
	switch {
	case f.call.phase != notBegun: // before anything else: what becomes of it is known nowhere but here
		return decideCall(f)
	case f.failureReason != "":
		return waitFor(f.failureReason, f.retryAfter)
	case f.deleting:
		return wait(reasonDeleting)
	case f.ended && !f.expires.IsZero() && !f.now.Before(f.expires):
		return decision{Step: stepDelete}
	case f.ended && !f.expires.IsZero():
		return waitFor(reasonEnded, f.expires.Sub(f.now))
	case f.ended:
		return wait(reasonEnded)
	case f.emails:
		return decideEmail(f)
	default:
		return decideDownload(f)
	}
}

func decideEmail(f facts) decision {
	if !f.record.read {
		return decision{Step: stepReadRecord}
	}
	if used := decideName(f); used.Step != "" {
		return used
	}
	if waiting := decideMandate(f); waiting.Step != "" {
		return waiting
	}
	if subject := decideSubject(f); subject.Step != "" {
		return subject
	}
	if f.record.restored { // the action may have been carried out since the backup
		return wait(v1alpha1.ReasonRecordRestored)
	}
	return decision{Step: stepBegin}
}

// decideMandate is for what has to be there before the service can be asked; no step if all of it is.
func decideMandate(f facts) decision {
	m := f.mandate
	switch {
	case m.deleting, !m.exists && (m.seen || f.now.Sub(f.created) >= missingAllowance):
		return wait(v1alpha1.ReasonMandateGone)
	case !m.exists:
		return waitFor(v1alpha1.ReasonMandateNotFound, missingAllowance-f.now.Sub(f.created))
	case m.gone:
		return wait(v1alpha1.ReasonApplicationGone)
	case m.suspended:
		return wait(v1alpha1.ReasonSuspended)
	case m.application == 0 && m.stalled:
		return wait(v1alpha1.ReasonMandateStalled)
	case m.application == 0:
		return wait(v1alpha1.ReasonMandateNotReady)
	case !m.named: // with an application, no individual can be added
		return wait(v1alpha1.ReasonIndividualNotFound)
	case m.unmatched:
		return wait(v1alpha1.ReasonIndividualsUnmatched)
	case m.individual == 0:
		return wait(v1alpha1.ReasonMandateNotReady)
	case f.service.UnusableReason() != "":
		return wait(f.service.UnusableReason())
	default:
		return decision{}
	}
}

// decideSubject makes sure that the id is the right person's; no step if it is. The IdentityService may have been
// pointed to another service since the Mandate learnt its ids, where they are other people's.
func decideSubject(f facts) decision {
	s := f.subject
	switch {
	case !f.mandate.live:
		return decision{Step: stepReadMandate}
	case !f.record.read:
		return decision{Step: stepReadRecord}
	case f.record.open != noCall:
		return decideOpen(f)
	case s.forbidden: // it would e-mail somebody on the day on which somebody grants the permission
		return wait(v1alpha1.ReasonForbidden)
	case !s.read && !s.missing:
		return decision{Step: stepReadApplication}
	case f.otherAccount():
		return wait(v1alpha1.ReasonAccountChanged)
	case s.missing && f.mandate.final:
		return wait(v1alpha1.ReasonApplicationGone)
	case s.missing: // whether that is to be believed, the Mandate finds out
		return wait(v1alpha1.ReasonRetrying)
	case !s.sameReference:
		return wait(v1alpha1.ReasonReferenceConflict)
	case s.unmatched:
		return wait(v1alpha1.ReasonIndividualsUnmatched)
	case !s.member:
		return wait(v1alpha1.ReasonIndividualNotFound)
	case s.other:
		return wait(v1alpha1.ReasonIndividualsUnmatched)
	case f.record.application != f.mandate.application: // what was done before cannot be known
		return wait(v1alpha1.ReasonRecordNotFound)
	default:
		return decision{}
	}
}

// decideDownload is for an action that changes nothing at the service, so it is not in the log: it may be begun again
// after a crash, and under its name. What ends it is the Secret.
func decideDownload(f facts) decision {
	switch {
	case !f.secret.checked: // it may be stored already
		return decision{Step: stepLookForSecret}
	case f.secret.mine:
		return wait(v1alpha1.ReasonCarriedOut)
	case f.secret.exists:
		return wait(v1alpha1.ReasonSecretExists)
	case !f.storing.checked:
		return decision{Step: stepCheckAccess}
	case f.storing.denied: // at once: a report that nobody expects any more is personal data without a use
		return wait(v1alpha1.ReasonReportForbidden)
	case f.storing.refused:
		return wait(v1alpha1.ReasonSecretRefused)
	case f.report.tooLarge:
		return wait(v1alpha1.ReasonReportTooLarge)
	case f.report.isURL:
		return wait(v1alpha1.ReasonReportIsURL)
	case f.report.downloaded:
		return decision{Step: stepStore}
	}
	if waiting := decideMandate(f); waiting.Step != "" {
		return waiting
	}
	switch {
	case f.report.forbidden:
		return wait(v1alpha1.ReasonForbidden)
	case f.report.refused && f.mandate.final:
		return wait(v1alpha1.ReasonRefused)
	case f.report.refused, f.report.alreadyRefused && !f.mandate.final:
		return wait(v1alpha1.ReasonReportNotReady)
	}
	if subject := decideSubject(f); subject.Step != "" {
		return subject
	}
	if !f.report.verified {
		return decision{Step: stepVerify}
	}
	return decision{Step: stepDownload}
}
