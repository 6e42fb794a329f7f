package action

import (
	"cmp"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// missingAllowance is how long an action waits for a Mandate that does not exist: things are applied in any order. An
// action that waited for ever would one day e-mail somebody to everybody's surprise.
const missingAllowance = 10 * time.Minute

// decide is the only place that decides, and pure: the same facts give the same step. Of what it and its parts list,
// the first that applies is done. If none of a part does, it is no decision.
//
// What it promises, whatever the facts: stepSend only for a call that this reconciliation has begun, and not sent yet;
// stepBegin for none under a name that was used before, and none while another call of the record may be under way;
// none after the end, and an end stays.
func decide(f facts) decision {
	expires := f.ended && !f.expires.IsZero()
	switch {
	case f.call.phase != notBegun: // before anything else: what becomes of it is known nowhere but here
		return decideCall(f)
	case f.failureReason != "":
		return waitFor(f.failureReason, f.retryAfter)
	}
	return cmp.Or(
		when(f.deleting, wait(reasonDeleting)),
		when(expires && !f.now.Before(f.expires), perform(stepDelete)),
		when(expires, waitFor(reasonEnded, f.expires.Sub(f.now))),
		when(f.ended, wait(reasonEnded)),
		when(f.emails, decideEmail(f)),
		decideDownload(f),
	)
}

func perform(s step) decision { return decision{Step: s} }

func decideEmail(f facts) decision {
	return cmp.Or(
		when(!f.record.read, perform(stepReadRecord)),
		decideName(f),
		decideMandate(f),
		decideSubject(f),
		when(f.record.restored, wait(v1alpha1.ReasonRecordRestored)), // it may have been carried out since the backup
		perform(stepBegin),
	)
}

// decideMandate is for what has to be there before the service can be asked.
func decideMandate(f facts) decision {
	m, unusable := f.mandate, f.service.UnusableReason()
	mayCome := !m.seen && ledger.Within(missingAllowance, f.created, f.now)
	return cmp.Or(
		when(m.deleting || !m.exists && !mayCome, wait(v1alpha1.ReasonMandateGone)),
		when(!m.exists, waitFor(v1alpha1.ReasonMandateNotFound, missingAllowance-f.now.Sub(f.created))),
		when(m.gone, wait(v1alpha1.ReasonApplicationGone)),
		when(m.suspended, wait(v1alpha1.ReasonSuspended)),
		when(m.application == 0 && m.stalled, wait(v1alpha1.ReasonMandateStalled)),
		when(m.application == 0, wait(v1alpha1.ReasonMandateNotReady)),
		when(!m.named, wait(v1alpha1.ReasonIndividualNotFound)), // with an application, no individual can be added
		when(m.unmatched, wait(v1alpha1.ReasonIndividualsUnmatched)),
		when(m.individual == 0, wait(v1alpha1.ReasonMandateNotReady)),
		when(f.emails && f.service.CreationSuspended, wait(v1alpha1.ReasonCreationSuspended)),
		when(unusable != "", wait(unusable)),
		when(f.emails && f.budgetWait > 0, waitFor(v1alpha1.ReasonCreationBudgetReached, f.budgetWait)),
	)
}

// decideSubject makes sure that the id is the right person's. The IdentityService may have been pointed to another
// service since the Mandate learnt its ids, where they are other people's. An action that is forbidden ends: it would
// e-mail somebody on the day on which somebody grants the permission.
func decideSubject(f facts) decision {
	s := f.subject
	return cmp.Or(
		when(!f.mandate.live, perform(stepReadMandate)),
		when(!f.record.read, perform(stepReadRecord)),
		when(f.record.open != noCall, decideOpen(f)),
		when(s.forbidden, wait(v1alpha1.ReasonForbidden)),
		when(!s.read && !s.missing, perform(stepReadApplication)),
		when(f.otherAccount(), wait(v1alpha1.ReasonAccountChanged)),
		when(s.missing && f.mandate.final, wait(v1alpha1.ReasonApplicationGone)),
		when(s.missing, wait(v1alpha1.ReasonRetrying)), // whether that is to be believed, the Mandate finds out
		when(!s.sameReference, wait(v1alpha1.ReasonReferenceConflict)),
		when(s.unmatched, wait(v1alpha1.ReasonIndividualsUnmatched)),
		when(!s.member, wait(v1alpha1.ReasonIndividualNotFound)),
		when(s.other, wait(v1alpha1.ReasonIndividualsUnmatched)),
		// What was done before cannot be known.
		when(f.record.application != f.mandate.application, wait(v1alpha1.ReasonRecordNotFound)),
	)
}

// decideDownload is for an action that changes nothing at the service, so it is not in the log: it may be begun again
// after a crash, and under its name. What ends it is the Secret. If the operator may not create that, it ends at once:
// a report that nobody expects any more is personal data without a use.
func decideDownload(f facts) decision {
	report, final := f.report, f.mandate.final
	return cmp.Or(
		when(!f.secret.checked, perform(stepLookForSecret)), // it may be stored already
		when(f.secret.mine, wait(v1alpha1.ReasonCarriedOut)),
		when(f.secret.exists, wait(v1alpha1.ReasonSecretExists)),
		when(!f.storing.checked, perform(stepCheckAccess)),
		when(f.storing.denied, wait(v1alpha1.ReasonReportForbidden)),
		when(f.storing.refused, wait(v1alpha1.ReasonSecretRefused)),
		when(report.tooLarge, wait(v1alpha1.ReasonReportTooLarge)),
		when(report.isURL, wait(v1alpha1.ReasonReportIsURL)),
		when(report.downloaded, perform(stepStore)),
		decideMandate(f),
		when(report.forbidden, wait(v1alpha1.ReasonForbidden)),
		when(report.refused && final, wait(v1alpha1.ReasonRefused)),
		when(report.refused || report.alreadyRefused && !final, wait(v1alpha1.ReasonReportNotReady)),
		decideSubject(f),
		when(!report.verified, perform(stepVerify)),
		perform(stepDownload),
	)
}
