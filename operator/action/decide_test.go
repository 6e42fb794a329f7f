package action

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// emailing is an action that e-mails, with everything in place and known; change makes the case out of it.
func emailing(change func(*facts)) facts {
	f := facts{
		now: now, created: now.Add(-time.Minute), emails: true, handover: 30 * time.Second,
		record:  recordFacts{read: true, application: 4711},
		mandate: mandateFacts{exists: true, seen: true, live: true, named: true, application: 4711, individual: 7},
		service: serviceFacts{Exists: true, Known: true, Ready: true},
		subject: subjectFacts{read: true, sameReference: true, member: true},
	}
	change(&f)
	return f
}

func download(change func(*facts)) facts {
	return emailing(func(f *facts) {
		f.emails = false
		f.report.verified = true
		f.secret.checked, f.storing.checked = true, true
		change(f)
	})
}

// own is an action whose call this reconciliation has begun.
func own(call callFacts) facts {
	return emailing(func(f *facts) {
		f.record.name, f.record.open = ledger.UsedByThisObject, emailingCall
		f.call, f.retryAfter = call, 7*time.Second
	})
}

// answered is a call that was answered, and the answer is recorded.
func answered(outcome client.Outcome, kind client.Kind) facts {
	err := &client.Error{Outcome: outcome, Kind: kind}
	return own(callFacts{phase: recorded, result: resultOf(nil, err), notFound: client.IsNotFound(err)})
}

// usedName is an action under whose name there is a call with a result.
func usedName(use ledger.NameUse, result v1alpha1.CallResult) facts {
	return emailing(func(f *facts) {
		f.record.name, f.record.result = use, result
		f.mandate = mandateFacts{} // whatever became of it
	})
}

// waiting is an action that finds an open call, under its name or another one, seen so long ago.
func waiting(name ledger.NameUse, open openCall, ago time.Duration) facts {
	return emailing(func(f *facts) {
		f.record.name, f.record.open = name, open
		f.record.seen = now.Add(-ago)
	})
}

// decideCase is a case of TestDecide.
type decideCase struct {
	why   string
	facts facts
	want  decision
}

func TestDecide(t *testing.T) {
	for name, c := range decideCases() {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.facts); got != c.want {
				t.Errorf("%+v, want %+v\n%s", got, c.want, c.why)
			}
		})
	}
}

func decideCases() map[string]decideCase {
	return map[string]decideCase{
		"the call is recorded first": {facts: emailing(func(*facts) {}), want: decision{Step: stepBegin}},
		"then everything is looked at once more": {
			facts: own(callFacts{phase: begun, started: now}),
			want:  decision{Step: stepVerify},
		},
		"and then it is sent": {
			facts: own(callFacts{phase: verified, started: now, looked: now.Add(-time.Second)}),
			want:  decision{Step: stepSend},
		},
		"after a slow look, everything is looked at again": {
			facts: own(callFacts{phase: verified, started: now, looked: now.Add(-time.Second - 1)}),
			want:  decision{Step: stepVerify},
		},
		"after many slow looks, it is not sent": {
			facts: own(callFacts{phase: verified, started: now, looked: now.Add(-time.Minute), looks: engine.MaxLooks}),
			want:  decision{Step: stepEnd},
		},
		"in the second half of the handover, it is not sent": {
			why:   "another operator may soon end it",
			facts: own(callFacts{phase: verified, started: now.Add(-15*time.Second - 1), looked: now}),
			want:  decision{Step: stepEnd},
		},
		"nor looked at again": {
			facts: own(callFacts{phase: begun, started: now.Add(-time.Minute)}),
			want:  decision{Step: stepEnd},
		},
		"its result is recorded": {
			facts: own(callFacts{phase: over, result: v1alpha1.CallDone}),
			want:  decision{Step: stepEnd},
		},
		"its result is recorded, whatever failed": {
			facts: emailing(func(f *facts) {
				f.call.phase, f.failureReason = over, reasonStaleCache
				f.deleting, f.ended = true, true
			}),
			want: decision{Step: stepEnd},
		},
		"somebody has written the record since": {
			facts: emailing(func(f *facts) { f.call.phase, f.record = over, recordFacts{} }),
			want:  decision{Step: stepReadRecord},
		},

		"is the name free": {
			facts: emailing(func(f *facts) { f.record = recordFacts{} }),
			want:  decision{Step: stepReadRecord},
		},
		"done under this name": {
			facts: usedName(ledger.UsedForSameAction, v1alpha1.CallDone),
			want:  wait(v1alpha1.ReasonAlreadyDone),
		},
		"accepted under this name": {
			facts: usedName(ledger.UsedForSameAction, v1alpha1.CallAccepted),
			want:  wait(v1alpha1.ReasonAlreadyDone),
		},
		"the outcome of another object is unknown": {
			facts: usedName(ledger.UsedForSameAction, v1alpha1.CallUnknown),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"another object was refused": {
			facts: usedName(ledger.UsedForSameAction, v1alpha1.CallRefused),
			want:  wait(v1alpha1.ReasonRefused),
		},
		"another object was forbidden": {
			why:   "it is not sent on the day on which that is granted",
			facts: usedName(ledger.UsedForSameAction, v1alpha1.CallForbidden),
			want:  wait(v1alpha1.ReasonForbidden),
		},
		"another object was not sent": {
			facts: emailing(func(f *facts) {
				f.record.name, f.record.result = ledger.UsedForSameAction, v1alpha1.CallNotSent
			}),
			want: decision{Step: stepBegin},
		},
		"not sent before": {
			facts: emailing(func(f *facts) {
				f.record.name, f.record.result = ledger.UsedByThisObject, v1alpha1.CallNotSent
				f.record.full = true
			}),
			want: decision{Step: stepBegin},
		},
		"a crash before the status": {
			facts: usedName(ledger.UsedByThisObject, v1alpha1.CallDone),
			want:  wait(v1alpha1.ReasonCarriedOut),
		},
		"a crash before the status, of what was accepted": {
			facts: usedName(ledger.UsedByThisObject, v1alpha1.CallAccepted),
			want:  wait(v1alpha1.ReasonRequestAccepted),
		},
		"something else was done under this name": {
			facts: usedName(ledger.UsedForOtherAction, v1alpha1.CallNotSent),
			want:  wait(v1alpha1.ReasonNameUsed),
		},
		"something else is under way under this name": {
			facts: emailing(func(f *facts) { f.record.name, f.record.open = ledger.UsedForOtherAction, emailingCall }),
			want:  wait(v1alpha1.ReasonNameUsed),
		},
		"too many names": {
			facts: emailing(func(f *facts) { f.record.full = true }),
			want:  wait(v1alpha1.ReasonTooManyActions),
		},
		"another account": {
			why:   "it can have other people under the same ids",
			facts: emailing(func(f *facts) { f.record.otherAccount = true }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"another account, which does not have the application": {
			facts: emailing(func(f *facts) { f.record.otherAccount, f.subject = true, subjectFacts{missing: true} }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"another name of the account, which shows the reference": {
			facts: emailing(func(f *facts) { f.record.otherAccount, f.subject.sameAccount = true, true }),
			want:  decision{Step: stepBegin},
		},
		"a restored record": {
			why:   "the action may have been carried out since the backup",
			facts: emailing(func(f *facts) { f.record.restored = true }),
			want:  wait(v1alpha1.ReasonRecordRestored),
		},
		"a restored record that has the action": {
			facts: emailing(func(f *facts) {
				f.record.restored = true
				f.record.name, f.record.result = ledger.UsedForSameAction, v1alpha1.CallDone
			}),
			want: wait(v1alpha1.ReasonAlreadyDone),
		},
		"no record": {
			facts: emailing(func(f *facts) { f.record.application = 0 }),
			want:  wait(v1alpha1.ReasonRecordNotFound),
		},

		"done": {
			facts: own(callFacts{phase: recorded, result: v1alpha1.CallDone}),
			want:  wait(v1alpha1.ReasonCarriedOut),
		},
		"accepted": {
			facts: own(callFacts{phase: recorded, result: v1alpha1.CallAccepted}),
			want:  wait(v1alpha1.ReasonRequestAccepted),
		},
		"answer lost": {facts: answered(client.Unknown, client.KindTimeout), want: wait(v1alpha1.ReasonOutcomeUnknown)},
		"something has changed": {
			facts: own(callFacts{phase: recorded, result: v1alpha1.CallNotSent}),
			want:  waitFor(v1alpha1.ReasonRetrying, 7*time.Second),
		},
		"not sent": {
			facts: answered(client.NotSent, client.KindUnreachable),
			want:  waitFor(v1alpha1.ReasonRetrying, 7*time.Second),
		},
		"stopped": {
			facts: answered(client.NotSent, client.KindCanceled),
			want:  waitFor(v1alpha1.ReasonRetrying, 7*time.Second),
		},
		"too often": {
			facts: answered(client.Refused, client.KindRateLimited),
			want:  waitFor(v1alpha1.ReasonRetrying, 7*time.Second),
		},
		"a token that had expired": {
			facts: answered(client.Refused, client.KindExpiredToken),
			want:  waitFor(v1alpha1.ReasonRetrying, 7*time.Second),
		},
		"forbidden": {
			facts: answered(client.Forbidden, client.KindForbidden),
			want:  wait(v1alpha1.ReasonForbidden),
		},
		"not the service's own word": {
			facts: answered(client.Unknown, client.KindUnproven),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"refused": {facts: answered(client.Refused, client.KindInvalid), want: wait(v1alpha1.ReasonRefused)},
		"a 404": {
			facts: answered(client.Refused, client.KindNotFound),
			want:  wait(v1alpha1.ReasonIndividualNotFound),
		},
		"no such operation": {
			facts: answered(client.Refused, client.KindMethodNotAllowed),
			want:  wait(v1alpha1.ReasonRefused),
		},

		"a call of another operator": {
			facts: waiting(ledger.UsedByThisObject, emailingCall, 10*time.Second),
			want:  waitFor(reasonAwaiting, openInterval),
		},
		"a call without a result": {
			facts: waiting(ledger.UsedByThisObject, emailingCall, 30*time.Second),
			want:  decision{Step: stepEnd},
		},
		"a call without a result, of a deleted Mandate": {
			why: "nothing was sent would be a lie",
			facts: emailing(func(f *facts) {
				f.record.name, f.record.open = ledger.UsedForSameAction, emailingCall
				f.mandate = mandateFacts{seen: true}
			}),
			want: decision{Step: stepEnd},
		},
		"a call that was not sent": {
			why:   "this process knows that it has not sent it",
			facts: waiting(ledger.UsedByThisObject, unsentCall, 0),
			want:  decision{Step: stepEnd},
		},
		"a call of another action": {
			facts: waiting(ledger.Unused, emailingCall, 10*time.Second),
			want:  waitFor(reasonAwaiting, openInterval),
		},
		"a call of another action, without a result": {
			why:   "its object may be gone",
			facts: waiting(ledger.Unused, emailingCall, 30*time.Second),
			want:  decision{Step: stepEnd},
		},
		"a call of the Mandate": {
			why:   "the controller of the Mandate finds out what became of it",
			facts: waiting(ledger.Unused, otherCall, 30*time.Second),
			want:  waitFor(v1alpha1.ReasonMandateNotReady, 30*time.Second),
		},
		"a call of another action, and a suspended Mandate": {
			why: "the status says what is in the way of this action",
			facts: emailing(func(f *facts) {
				f.record.open, f.record.seen = emailingCall, now
				f.mandate.suspended = true
			}),
			want: wait(v1alpha1.ReasonSuspended),
		},

		"ended": {facts: emailing(func(f *facts) { f.ended = true }), want: wait(reasonEnded)},
		"ended, with time left": {
			facts: emailing(func(f *facts) { f.ended, f.expires = true, now.Add(time.Minute) }),
			want:  waitFor(reasonEnded, time.Minute),
		},
		"ended, and time is over": {
			facts: emailing(func(f *facts) { f.ended, f.expires = true, now }),
			want:  decision{Step: stepDelete},
		},
		"ended, and being deleted": {
			facts: emailing(func(f *facts) {
				f.ended = true
				f.expires = now
				f.deleting = true
			}),
			want: wait(reasonDeleting),
		},
		"being deleted": {facts: emailing(func(f *facts) { f.deleting = true }), want: wait(reasonDeleting)},

		"no Mandate yet": {
			why:   "things are applied in any order",
			facts: emailing(func(f *facts) { f.mandate = mandateFacts{} }),
			want:  waitFor(v1alpha1.ReasonMandateNotFound, 9*time.Minute),
		},
		"no Mandate for too long": {
			facts: emailing(func(f *facts) { f.mandate, f.created = mandateFacts{}, now.Add(-missingAllowance) }),
			want:  wait(v1alpha1.ReasonMandateGone),
		},
		"no Mandate, and the clock was fast when the action was created": {
			why:   "it would wait for a Mandate for as long as the clock was fast, and then e-mail somebody",
			facts: emailing(func(f *facts) { f.mandate, f.created = mandateFacts{}, now.Add(time.Hour) }),
			want:  wait(v1alpha1.ReasonMandateGone),
		},
		"no Mandate any more": {
			facts: emailing(func(f *facts) { f.mandate = mandateFacts{seen: true} }),
			want:  wait(v1alpha1.ReasonMandateGone),
		},
		"a Mandate that is being deleted": {
			facts: emailing(func(f *facts) { f.mandate.deleting = true }),
			want:  wait(v1alpha1.ReasonMandateGone),
		},
		"a vanished one": {
			facts: emailing(func(f *facts) { f.mandate.gone = true }),
			want:  wait(v1alpha1.ReasonApplicationGone),
		},
		"a suspended Mandate": {
			facts: emailing(func(f *facts) { f.mandate.suspended = true }),
			want:  wait(v1alpha1.ReasonSuspended),
		},
		"no application yet": {
			facts: emailing(func(f *facts) { f.mandate.application, f.mandate.named = 0, false }),
			want:  wait(v1alpha1.ReasonMandateNotReady),
		},
		"none without a person": {
			facts: emailing(func(f *facts) { f.mandate.application, f.mandate.stalled = 0, true }),
			want:  wait(v1alpha1.ReasonMandateStalled),
		},
		"a Mandate that is stalled, with an application": {
			facts: emailing(func(f *facts) { f.mandate.stalled = true }),
			want:  decision{Step: stepBegin},
		},
		"an unknown individual": {
			facts: emailing(func(f *facts) { f.mandate.named, f.mandate.individual = false, 0 }),
			want:  wait(v1alpha1.ReasonIndividualNotFound),
		},
		"an individual without id": {
			facts: emailing(func(f *facts) { f.mandate.individual = 0 }),
			want:  wait(v1alpha1.ReasonMandateNotReady),
		},
		"a ClusterIdentityService of others": {
			facts: emailing(func(f *facts) { f.service = serviceFacts{Exists: true, Denied: true} }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotAllowed),
		},
		"no IdentityService": {
			facts: emailing(func(f *facts) { f.service = serviceFacts{} }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotFound),
		},
		"one that was not reconciled": {
			facts: emailing(func(f *facts) { f.service.Known = false }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotReady),
		},
		"one that does not work": {
			facts: emailing(func(f *facts) { f.service.Ready = false }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotReady),
		},

		"the live Mandate": {
			facts: emailing(func(f *facts) { f.mandate.live = false }),
			want:  decision{Step: stepReadMandate},
		},
		"the application": {
			facts: emailing(func(f *facts) { f.subject = subjectFacts{} }),
			want:  decision{Step: stepReadApplication},
		},
		"another service's application": {
			why:   "the id belongs to an unrelated individual",
			facts: emailing(func(f *facts) { f.subject.sameReference = false }),
			want:  wait(v1alpha1.ReasonReferenceConflict),
		},
		"an individual of another application": {
			facts: emailing(func(f *facts) { f.subject.member = false }),
			want:  wait(v1alpha1.ReasonIndividualNotFound),
		},
		"a Mandate whose individuals are unmatched": {
			facts: emailing(func(f *facts) { f.mandate.unmatched, f.mandate.individual = true, 0 }),
			want:  wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"an answer whose individuals are unmatched": {
			facts: emailing(func(f *facts) { f.subject.unmatched, f.subject.member = true, false }),
			want:  wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"another individual of the application": {
			why:   "the Mandate has the wrong id",
			facts: emailing(func(f *facts) { f.subject.other = true }),
			want:  wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"no application at the service": {
			why:   "the Mandate finds out whether that is to be believed",
			facts: emailing(func(f *facts) { f.subject = subjectFacts{missing: true} }),
			want:  wait(v1alpha1.ReasonRetrying),
		},
		"no application, and the Mandate does not ask any more": {
			facts: emailing(func(f *facts) { f.subject, f.mandate.final = subjectFacts{missing: true}, true }),
			want:  wait(v1alpha1.ReasonApplicationGone),
		},

		"a download looks for the Secret": {
			why:   "it may be stored before a crash, and the Mandate may be gone since",
			facts: download(func(f *facts) { f.secret, f.mandate = secretFacts{}, mandateFacts{seen: true} }),
			want:  decision{Step: stepLookForSecret},
		},
		"a download looks at everything once more": {
			facts: download(func(f *facts) { f.report.verified = false }),
			want:  decision{Step: stepVerify},
		},
		"a download": {facts: download(func(*facts) {}), want: decision{Step: stepDownload}},
		"a download without a record": {
			facts: download(func(f *facts) { f.record.application = 0 }),
			want:  wait(v1alpha1.ReasonRecordNotFound),
		},
		"a download with a restored record": {
			facts: download(func(f *facts) { f.record.restored = true }),
			want:  decision{Step: stepDownload},
		},
		"a download from another account": {
			facts: download(func(f *facts) { f.record.otherAccount = true }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"downloaded": {
			facts: download(func(f *facts) { f.report.downloaded = true }),
			want:  decision{Step: stepStore},
		},
		"stored": {facts: download(func(f *facts) {
			f.secret.exists = true
			f.secret.mine = true
			f.report.downloaded = true
		}), want: wait(v1alpha1.ReasonCarriedOut)},
		"another user's Secret": {
			facts: download(func(f *facts) { f.secret.exists = true }),
			want:  wait(v1alpha1.ReasonSecretExists),
		},
		"another user's Secret, found when storing": {
			facts: download(func(f *facts) { f.secret.exists, f.report.downloaded = true, true }),
			want:  wait(v1alpha1.ReasonSecretExists),
		},
		"a report that is too large": {
			facts: download(func(f *facts) { f.report.downloaded, f.report.tooLarge = true, true }),
			want:  wait(v1alpha1.ReasonReportTooLarge),
		},
		"a URL": {
			facts: download(func(f *facts) { f.report.downloaded, f.report.isURL = true, true }),
			want:  wait(v1alpha1.ReasonReportIsURL),
		},
		"no report yet": {
			facts: download(func(f *facts) { f.report.refused = true }),
			want:  wait(v1alpha1.ReasonReportNotReady),
		},
		"no report, and nothing has changed since": {
			facts: download(func(f *facts) { f.report.alreadyRefused = true }),
			want:  wait(v1alpha1.ReasonReportNotReady),
		},
		"no report, and the verification is over": {
			facts: download(func(f *facts) { f.report.refused, f.mandate.final = true, true }),
			want:  wait(v1alpha1.ReasonRefused),
		},
		"no report before the outcome": {
			facts: download(func(f *facts) { f.report.alreadyRefused, f.mandate.final = true, true }),
			want:  decision{Step: stepDownload},
		},
	}
}
