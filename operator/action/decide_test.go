package action

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// order is one that e-mails, with everything in place and known; change makes the case out of it.
func order(change func(*facts)) facts {
	f := facts{
		now: now, created: now.Add(-time.Minute), emails: true, handover: 30 * time.Second,
		mandate: mandateFacts{exists: true, seen: true, live: true, applied: true, named: true, individual: 7},
		service: serviceFacts{exists: true, known: true, ready: true},
		subject: subjectFacts{read: true, sameReference: true, member: true},
	}
	change(&f)
	return f
}

func download(change func(*facts)) facts {
	return order(func(f *facts) {
		f.emails, f.started, f.secret.looked = false, true, true
		change(f)
	})
}

func answered(outcome client.Outcome, kind client.Kind) facts {
	return order(func(f *facts) {
		f.attempt = attemptFacts{mine: true, sent: true, outcome: outcome, kind: kind, refusal: client.IsRefusal(&client.Error{Outcome: outcome, Kind: kind})}
		f.retryAfter = 7 * time.Second
	})
}

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		why   string
		facts facts
		want  next
	}{
		"the start is recorded first": {facts: order(func(*facts) {}), want: next{step: stepStart}},
		"and then it is sent": {
			why:   "whatever has changed meanwhile: a start that is followed by nothing would be taken for a lost answer",
			facts: order(func(f *facts) { f.attempt.mine, f.deleting, f.mandate.suspended = true, true, true }),
			want:  next{step: stepSend},
		},
		"done":         {facts: order(func(f *facts) { f.attempt = attemptFacts{mine: true, sent: true, success: true} }), want: rest(v1alpha1.ReasonCarriedOut)},
		"answer lost":  {facts: answered(client.Unknown, client.KindTimeout), want: rest(v1alpha1.ReasonOutcomeUnknown)},
		"not sent":     {facts: answered(client.NotSent, client.KindUnreachable), want: next{stepRest, v1alpha1.ReasonRetrying, 7 * time.Second}},
		"stopped":      {facts: answered(client.NotSent, client.KindCanceled), want: next{stepRest, v1alpha1.ReasonRetrying, 7 * time.Second}},
		"too often":    {facts: answered(client.Refused, client.KindRateLimited), want: next{stepRest, v1alpha1.ReasonRetrying, 7 * time.Second}},
		"credentials":  {facts: answered(client.Refused, client.KindCredentials), want: next{stepRest, v1alpha1.ReasonRetrying, 7 * time.Second}},
		"refused":      {facts: answered(client.Refused, client.KindInvalid), want: rest(v1alpha1.ReasonRefused)},
		"a 404":        {facts: answered(client.Refused, client.KindNotFound), want: rest(v1alpha1.ReasonIndividualNotFound)},
		"no such call": {facts: answered(client.Refused, client.KindMethodNotAllowed), want: rest(v1alpha1.ReasonRefused)},

		"an attempt of another operator": {
			facts: order(func(f *facts) { f.attempt = attemptFacts{open: true, observed: now.Add(-10 * time.Second)} }),
			want:  next{stepRest, reasonAwaiting, 20 * time.Second},
		},
		"an attempt that nobody ended": {
			facts: order(func(f *facts) { f.attempt = attemptFacts{open: true, observed: now.Add(-30 * time.Second)} }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an attempt that nobody ended, of a Mandate that is gone": {
			why:   "nothing was sent would be a lie",
			facts: order(func(f *facts) { f.attempt.open, f.mandate = true, mandateFacts{seen: true} }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},

		"ended":                   {facts: order(func(f *facts) { f.ended = true }), want: rest(reasonEnded)},
		"ended, with time left":   {facts: order(func(f *facts) { f.ended, f.expires = true, now.Add(time.Minute) }), want: next{stepRest, reasonEnded, time.Minute}},
		"ended, and time is over": {facts: order(func(f *facts) { f.ended, f.expires = true, now }), want: next{step: stepDelete}},
		"ended, and being deleted": {
			facts: order(func(f *facts) { f.ended, f.expires, f.deleting = true, now, true }),
			want:  rest(reasonDeleting),
		},
		"being deleted": {facts: order(func(f *facts) { f.deleting = true }), want: rest(reasonDeleting)},

		"no Mandate yet": {
			why:   "things are applied in any order",
			facts: order(func(f *facts) { f.mandate = mandateFacts{} }),
			want:  next{stepRest, v1alpha1.ReasonMandateNotFound, 9 * time.Minute},
		},
		"no Mandate for too long": {
			facts: order(func(f *facts) { f.mandate, f.created = mandateFacts{}, now.Add(-missingAllowance) }),
			want:  rest(v1alpha1.ReasonMandateGone),
		},
		"no Mandate any more":   {facts: order(func(f *facts) { f.mandate = mandateFacts{seen: true} }), want: rest(v1alpha1.ReasonMandateGone)},
		"a Mandate that goes":   {facts: order(func(f *facts) { f.mandate.deleting = true }), want: rest(v1alpha1.ReasonMandateGone)},
		"a vanished one":        {facts: order(func(f *facts) { f.mandate.gone = true }), want: rest(v1alpha1.ReasonApplicationGone)},
		"a suspended Mandate":   {facts: order(func(f *facts) { f.mandate.suspended = true }), want: rest(v1alpha1.ReasonSuspended)},
		"no application yet":    {facts: order(func(f *facts) { f.mandate.applied, f.mandate.named = false, false }), want: rest(v1alpha1.ReasonMandateNotReady)},
		"none without a person": {facts: order(func(f *facts) { f.mandate.applied, f.mandate.stalled = false, true }), want: rest(v1alpha1.ReasonMandateStalled)},
		"a Mandate that is stalled, with an application": {
			facts: order(func(f *facts) { f.mandate.stalled = true }),
			want:  next{step: stepStart},
		},
		"an unknown individual":              {facts: order(func(f *facts) { f.mandate.named, f.mandate.individual = false, 0 }), want: rest(v1alpha1.ReasonIndividualNotFound)},
		"an individual without id":           {facts: order(func(f *facts) { f.mandate.individual = 0 }), want: rest(v1alpha1.ReasonMandateNotReady)},
		"a ClusterIdentityService of others": {facts: order(func(f *facts) { f.service = serviceFacts{exists: true, denied: true} }), want: rest(v1alpha1.ReasonServiceNotAllowed)},
		"no IdentityService":                 {facts: order(func(f *facts) { f.service = serviceFacts{} }), want: rest(v1alpha1.ReasonServiceNotFound)},
		"one that was not looked at":         {facts: order(func(f *facts) { f.service.known = false }), want: rest(v1alpha1.ReasonServiceNotReady)},
		"one that does not work":             {facts: order(func(f *facts) { f.service.ready = false }), want: rest(v1alpha1.ReasonServiceNotReady)},

		"the live Mandate": {facts: order(func(f *facts) { f.mandate.live = false }), want: next{step: stepReadMandate}},
		"the application":  {facts: order(func(f *facts) { f.subject = subjectFacts{} }), want: next{step: stepReadApplication}},
		"another service's application": {
			why:   "its individual of that id is somebody else",
			facts: order(func(f *facts) { f.subject.sameReference = false }),
			want:  rest(v1alpha1.ReasonReferenceConflict),
		},
		"an individual of another application": {facts: order(func(f *facts) { f.subject.member = false }), want: rest(v1alpha1.ReasonIndividualNotFound)},
		"no application at the service": {
			why:   "the Mandate finds out whether that is to be believed",
			facts: order(func(f *facts) { f.subject = subjectFacts{missing: true} }),
			want:  rest(v1alpha1.ReasonRetrying),
		},
		"no application, and the Mandate does not ask any more": {
			facts: order(func(f *facts) { f.subject, f.mandate.final = subjectFacts{missing: true}, true }),
			want:  rest(v1alpha1.ReasonApplicationGone),
		},

		"a download looks for the Secret":     {facts: download(func(f *facts) { f.started, f.secret = false, secretFacts{} }), want: next{step: stepLookForSecret}},
		"a download is recorded":              {facts: download(func(f *facts) { f.started = false }), want: next{step: stepStart}},
		"a download":                          {facts: download(func(*facts) {}), want: next{step: stepDownload}},
		"downloaded":                          {facts: download(func(f *facts) { f.report.downloaded = true }), want: next{step: stepStore}},
		"stored":                              {facts: download(func(f *facts) { f.secret.exists, f.secret.mine, f.report.downloaded = true, true, true }), want: rest(v1alpha1.ReasonCarriedOut)},
		"somebody else's Secret":              {facts: download(func(f *facts) { f.secret.exists = true }), want: rest(v1alpha1.ReasonSecretExists)},
		"somebody else's, found when storing": {facts: download(func(f *facts) { f.secret.exists, f.report.downloaded = true, true }), want: rest(v1alpha1.ReasonSecretExists)},
		"stored before a crash": {
			why:   "the Mandate may be gone since, and the report is there nevertheless",
			facts: download(func(f *facts) { f.secret, f.mandate = secretFacts{}, mandateFacts{seen: true} }),
			want:  next{step: stepLookForSecret},
		},
		"a report that is too large": {facts: download(func(f *facts) { f.report.downloaded, f.report.tooLarge = true, true }), want: rest(v1alpha1.ReasonReportTooLarge)},
		"a URL":                      {facts: download(func(f *facts) { f.report.downloaded, f.report.isURL = true, true }), want: rest(v1alpha1.ReasonReportIsURL)},
		"no report yet":              {facts: download(func(f *facts) { f.report.refused = true }), want: rest(v1alpha1.ReasonReportNotReady)},
		"no report, and nothing has changed since": {
			facts: download(func(f *facts) { f.report.held = true }),
			want:  rest(v1alpha1.ReasonReportNotReady),
		},
		"no report, and the verification is over": {facts: download(func(f *facts) { f.report.refused, f.mandate.final = true, true }), want: rest(v1alpha1.ReasonRefused)},
		"no report before the outcome":            {facts: download(func(f *facts) { f.report.held, f.mandate.final = true, true }), want: next{step: stepDownload}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.facts); got != c.want {
				t.Errorf("%+v, want %+v\n%s", got, c.want, c.why)
			}
		})
	}
}

// What decide promises, whatever the facts.
func TestDecidePromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := func(name string) bool { return rapid.Bool().Draw(t, name) }
		f := facts{
			now: now, created: now.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "age")) * time.Minute), handover: 30 * time.Second,
			emails: truth("emails"), deleting: truth("deleting"), started: truth("started"), ended: truth("ended"),
			mandate: mandateFacts{
				exists: truth("exists"), seen: truth("seen"), live: truth("live"), deleting: truth("mandateDeleting"), suspended: truth("suspended"),
				stalled: truth("stalled"), applied: truth("applied"), final: truth("final"), gone: truth("gone"), named: truth("named"),
				individual: rapid.Int64Range(0, 1).Draw(t, "individual"),
			},
			service: serviceFacts{exists: truth("service"), denied: truth("denied"), known: truth("known"), ready: truth("ready")},
			subject: subjectFacts{read: truth("read"), missing: truth("missing"), sameReference: truth("same"), member: truth("member")},
			secret:  secretFacts{looked: truth("looked"), exists: truth("secret"), mine: truth("mySecret")},
			report:  reportFacts{held: truth("held"), downloaded: truth("downloaded"), refused: truth("refused"), tooLarge: truth("tooLarge"), isURL: truth("isURL")},
			attempt: attemptFacts{
				open: truth("open"), mine: truth("mine"), sent: truth("sent"), success: truth("success"),
				observed: now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "observed")) * time.Second),
				outcome:  rapid.SampledFrom([]client.Outcome{client.Unknown, client.NotSent, client.Refused}).Draw(t, "outcome"),
			},
			trouble: rapid.SampledFrom([]string{"", reasonBehind}).Draw(t, "trouble"),
		}
		got := decide(f)
		own := f.attempt.mine || f.attempt.sent
		switch got.step {
		case stepSend:
			if !f.attempt.mine || f.attempt.sent {
				t.Fatalf("sent without a start of its own, or twice")
			}
		case stepStart:
			if own || f.ended || f.attempt.open || f.deleting || f.mandate.suspended || !f.mandate.live || f.mandate.individual == 0 || !f.service.ready || f.service.denied || !f.subject.member {
				t.Fatalf("started although something is in the way")
			}
		case stepDelete:
			if !f.ended {
				t.Fatalf("deleted before its end")
			}
		case stepRest:
			_, shown := verdicts[got.reason]
			if f.attempt.open && !own && shown && got.reason != v1alpha1.ReasonOutcomeUnknown {
				t.Fatalf("an attempt that may be under way was forgotten with reason %s", got.reason)
			}
			if f.ended && !own && shown {
				t.Fatalf("an order that has ended was given the reason %s", got.reason)
			}
		default:
			if f.emails && (got.step == stepDownload || got.step == stepStore) {
				t.Fatalf("%s for an order that e-mails", got.step)
			}
		}
	})
}
