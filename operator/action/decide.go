package action

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// missingAllowance is how long an order waits for a Mandate that does not exist: things are applied in any order. An order
// that waited for ever would one day e-mail somebody to everybody's surprise.
const missingAllowance = 10 * time.Minute

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between steps.
type step string

const (
	stepRest            step = "Rest"            // nothing to do now
	stepReadMandate     step = "ReadMandate"     // past the cache
	stepReadApplication step = "ReadApplication" // whom would the order be carried out on?
	stepStart           step = "Start"           // record the start
	stepSend            step = "Send"            // resend or reset: the one call that e-mails
	stepLookForSecret   step = "LookForSecret"   // was the report stored, by us or by somebody else?
	stepDownload        step = "Download"
	stepStore           step = "Store" // create the Secret
	stepDelete          step = "Delete"
)

// next is what decide decides: a step or, for stepRest, why there is none and, if that is not up to the reason, when to
// look again.
type next struct {
	step   step
	reason string
	after  time.Duration
}

func rest(reason string) next { return next{step: stepRest, reason: reason} }

// decide is the only place that decides, and pure: the same facts give the same step.
//
// What it promises, whatever the facts: stepSend only for an attempt that this pass has recorded and not made yet; none
// while the status tells of another one, and none after the end; and an end stays.
func decide(f facts) next {
	switch {
	case f.attempt.sent:
		return decideAnswer(f) // before anything else: what became of it is known nowhere but here
	case f.attempt.mine:
		return next{step: stepSend}
	case f.trouble != "":
		return next{stepRest, f.trouble, f.retryAfter}
	case f.deleting:
		return rest(reasonDeleting)
	case f.ended && !f.expires.IsZero() && !f.now.Before(f.expires):
		return next{step: stepDelete}
	case f.ended && !f.expires.IsZero():
		return next{stepRest, reasonEnded, f.expires.Sub(f.now)}
	case f.ended:
		return rest(reasonEnded)
	case f.attempt.open && f.now.Before(f.attempt.observed.Add(f.handover)):
		return next{stepRest, reasonAwaiting, f.attempt.observed.Add(f.handover).Sub(f.now)}
	case f.attempt.open:
		return rest(v1alpha1.ReasonOutcomeUnknown)
	case f.emails:
		return decideEmail(f)
	default:
		return decideDownload(f)
	}
}

func decideEmail(f facts) next {
	if waiting := decideMandate(f); waiting.step != "" {
		return waiting
	}
	if open := decideSubject(f); open.step != "" {
		return open
	}
	return next{step: stepStart}
}

// decideAnswer says what the answer to the call means for the order.
func decideAnswer(f facts) next {
	a := f.attempt
	switch {
	case a.success:
		return rest(v1alpha1.ReasonCarriedOut)
	case a.outcome == client.Unknown:
		return rest(v1alpha1.ReasonOutcomeUnknown)
	case !a.refusal: // nothing was done, and nothing said about the order
		return next{stepRest, v1alpha1.ReasonRetrying, f.retryAfter}
	case a.kind == client.KindNotFound:
		return rest(v1alpha1.ReasonIndividualNotFound)
	default:
		return rest(v1alpha1.ReasonRefused)
	}
}

// decideMandate is for what has to be there before the service can be asked; no step if all of it is.
func decideMandate(f facts) next {
	m := f.mandate
	switch {
	case m.deleting, !m.exists && (m.seen || f.now.Sub(f.created) >= missingAllowance):
		return rest(v1alpha1.ReasonMandateGone)
	case !m.exists:
		return next{stepRest, v1alpha1.ReasonMandateNotFound, missingAllowance - f.now.Sub(f.created)}
	case m.gone:
		return rest(v1alpha1.ReasonApplicationGone)
	case m.suspended:
		return rest(v1alpha1.ReasonSuspended)
	case !m.applied && m.stalled:
		return rest(v1alpha1.ReasonMandateStalled)
	case !m.applied:
		return rest(v1alpha1.ReasonMandateNotReady)
	case !m.named: // with an application, no individual can be added
		return rest(v1alpha1.ReasonIndividualNotFound)
	case m.individual == 0:
		return rest(v1alpha1.ReasonMandateNotReady)
	case !f.service.exists:
		return rest(v1alpha1.ReasonServiceNotFound)
	case f.service.denied:
		return rest(v1alpha1.ReasonServiceNotAllowed)
	case !f.service.known, !f.service.ready:
		return rest(v1alpha1.ReasonServiceNotReady)
	default:
		return next{}
	}
}

// decideSubject makes sure that the id is the right person's; no step if it is. The IdentityService may have been pointed
// to another service since the Mandate learnt its ids, where they are other people's.
func decideSubject(f facts) next {
	s := f.subject
	switch {
	case !f.mandate.live:
		return next{step: stepReadMandate}
	case !s.read && !s.missing:
		return next{step: stepReadApplication}
	case s.missing && f.mandate.final:
		return rest(v1alpha1.ReasonApplicationGone)
	case s.missing: // whether that is to be believed, the Mandate finds out
		return rest(v1alpha1.ReasonRetrying)
	case !s.sameReference:
		return rest(v1alpha1.ReasonReferenceConflict)
	case !s.member:
		return rest(v1alpha1.ReasonIndividualNotFound)
	default:
		return next{}
	}
}

// decideDownload is for an order that changes nothing at the service, and so may be begun again after a crash.
func decideDownload(f facts) next {
	switch {
	case f.started && !f.secret.looked: // it may be stored already
		return next{step: stepLookForSecret}
	case f.secret.mine:
		return rest(v1alpha1.ReasonCarriedOut)
	case f.secret.exists:
		return rest(v1alpha1.ReasonSecretExists)
	case f.report.tooLarge:
		return rest(v1alpha1.ReasonReportTooLarge)
	case f.report.isURL:
		return rest(v1alpha1.ReasonReportIsURL)
	case f.report.downloaded:
		return next{step: stepStore}
	}
	if waiting := decideMandate(f); waiting.step != "" {
		return waiting
	}
	switch {
	case f.report.refused && f.mandate.final:
		return rest(v1alpha1.ReasonRefused)
	case f.report.refused, f.report.held && !f.mandate.final:
		return rest(v1alpha1.ReasonReportNotReady)
	}
	if open := decideSubject(f); open.step != "" {
		return open
	}
	switch {
	case !f.secret.looked:
		return next{step: stepLookForSecret}
	case !f.started:
		return next{step: stepStart}
	default:
		return next{step: stepDownload}
	}
}
