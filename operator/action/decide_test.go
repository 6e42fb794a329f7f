package action

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
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
		f.started, f.attempt.verified = true, true
		f.secret.checked, f.storing.checked = true, true
		change(f)
	})
}

// recorded is an action that e-mails, and whose attempt is in the status and in the ledger.
func recorded(change func(*facts)) facts {
	return emailing(func(f *facts) {
		f.attempt.mine = true
		f.record.used, f.record.mine = true, true
		change(f)
	})
}

func answered(outcome client.Outcome, kind client.Kind) facts {
	return emailing(func(f *facts) {
		f.attempt = attemptFacts{
			mine:    true,
			sent:    true,
			outcome: outcome,
			kind:    kind,
			refusal: client.IsRefusal(&client.Error{Outcome: outcome, Kind: kind}),
		}
		f.retryAfter = 7 * time.Second
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
		"the start is recorded first": {facts: emailing(func(*facts) {}), want: decision{Step: stepStart}},
		"a start that failed may be written": {
			facts: emailing(func(f *facts) { f.attempt.startUnknown = true }),
			want:  decision{Step: stepReadStart},
		},
		"then the ledger is asked": {
			facts: emailing(func(f *facts) { f.attempt.mine, f.record = true, recordFacts{} }),
			want:  decision{Step: stepReadRecord},
		},
		"then the name is recorded": {
			facts: emailing(func(f *facts) { f.attempt.mine = true }),
			want:  decision{Step: stepRecord},
		},
		"then everything is looked at once more": {
			facts: recorded(func(*facts) {}),
			want:  decision{Step: stepVerify},
		},
		"and then it is sent": {
			facts: recorded(func(f *facts) { f.attempt.verified = true }),
			want:  decision{Step: stepSend},
		},
		"something has changed": {
			facts: recorded(func(f *facts) { f.attempt.canceled = true }),
			want:  decision{Step: stepCancel},
		},
		"something has changed, and the name is free again": {
			facts: emailing(func(f *facts) { f.attempt.mine, f.attempt.canceled = true, true }),
			want:  wait(v1alpha1.ReasonRetrying),
		},
		"the name may be in the ledger": {
			facts: recorded(func(f *facts) { f.attempt.canceled, f.record = true, recordFacts{} }),
			want:  decision{Step: stepReadRecord},
		},
		"another action of the name came first": {
			facts: recorded(func(f *facts) { f.record.mine, f.record.alike = false, true }),
			want:  wait(v1alpha1.ReasonAlreadyDone),
		},
		"the record is gone": {
			facts: emailing(func(f *facts) { f.attempt.mine, f.record.application = true, 0 }),
			want:  wait(v1alpha1.ReasonRecordNotFound),
		},

		"is the name free": {
			facts: emailing(func(f *facts) { f.record = recordFacts{} }),
			want:  decision{Step: stepReadRecord},
		},
		"the name was free": {
			why:   "the ledger is asked again before the start",
			facts: emailing(func(f *facts) { f.record, f.mandate.suspended = recordFacts{free: true}, true }),
			want:  wait(v1alpha1.ReasonSuspended),
		},
		"the name was free, and is about to be used": {
			facts: emailing(func(f *facts) { f.record = recordFacts{free: true} }),
			want:  decision{Step: stepReadRecord},
		},
		"done under this name": {
			why: "whatever became of the Mandate",
			facts: emailing(func(f *facts) {
				f.mandate = mandateFacts{}
				f.record.used, f.record.alike = true, true
			}),
			want: wait(v1alpha1.ReasonAlreadyDone),
		},
		"something else was done under this name": {
			facts: emailing(func(f *facts) { f.record.used = true }),
			want:  wait(v1alpha1.ReasonNameUsed),
		},
		"too many names": {
			facts: emailing(func(f *facts) { f.record.full = true }),
			want:  wait(v1alpha1.ReasonTooManyActions),
		},
		"started, and no attempt in the status": {
			why:   "somebody has edited the status",
			facts: emailing(func(f *facts) { f.record.used, f.record.mine = true, true }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
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
			want:  decision{Step: stepStart},
		},
		"another account that a person vouches for": {
			facts: emailing(func(f *facts) { f.record.otherAccount, f.vouched = true, true }),
			want:  decision{Step: stepStart},
		},
		"recorded, and another account since": {
			facts: recorded(func(f *facts) { f.record.otherAccount = true }),
			want:  decision{Step: stepCancel},
		},
		"a start, and another account since": {
			facts: emailing(func(f *facts) { f.attempt.mine, f.record.otherAccount = true, true }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"no record": {
			facts: emailing(func(f *facts) { f.record.application = 0 }),
			want:  wait(v1alpha1.ReasonRecordNotFound),
		},

		"done": {
			facts: recorded(func(f *facts) { f.attempt = attemptFacts{mine: true, sent: true, success: true} }),
			want:  wait(v1alpha1.ReasonCarriedOut),
		},
		"answer lost": {facts: answered(client.Unknown, client.KindTimeout), want: wait(v1alpha1.ReasonOutcomeUnknown)},
		"not sent, and still in the ledger": {
			facts: recorded(func(f *facts) { f.attempt.sent, f.attempt.outcome = true, client.NotSent }),
			want:  decision{Step: stepCancel},
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

		"an attempt of another operator": {
			facts: emailing(func(f *facts) { f.attempt = attemptFacts{open: true, observed: now.Add(-10 * time.Second)} }),
			want:  waitFor(reasonAwaiting, 20*time.Second),
		},
		"an attempt without a result": {
			facts: emailing(func(f *facts) { f.attempt = attemptFacts{open: true, observed: now.Add(-30 * time.Second)} }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an attempt without a result, of a deleted Mandate": {
			why:   "nothing was sent would be a lie",
			facts: emailing(func(f *facts) { f.attempt.open, f.mandate = true, mandateFacts{seen: true} }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
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
			want:  decision{Step: stepStart},
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
			facts: download(func(f *facts) { f.started, f.secret = false, secretFacts{} }),
			want:  decision{Step: stepLookForSecret},
		},
		"a download is recorded": {
			facts: download(func(f *facts) { f.started = false }),
			want:  decision{Step: stepStart},
		},
		"a download": {facts: download(func(*facts) {}), want: decision{Step: stepDownload}},
		"downloaded": {
			facts: download(func(f *facts) { f.report.downloaded = true }),
			want:  decision{Step: stepRecord},
		},
		"downloaded and recorded": {
			facts: download(func(f *facts) {
				f.report.downloaded = true
				f.record.used, f.record.mine = true, true
			}),
			want: decision{Step: stepStore},
		},
		"downloaded before under this name": {
			facts: download(func(f *facts) { f.record.used, f.record.alike = true, true }),
			want:  wait(v1alpha1.ReasonAlreadyDone),
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
		"stored before a crash": {
			why:   "the Mandate may be gone since, and the report is there nevertheless",
			facts: download(func(f *facts) { f.secret, f.mandate = secretFacts{}, mandateFacts{seen: true} }),
			want:  decision{Step: stepLookForSecret},
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
