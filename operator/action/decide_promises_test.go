package action

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// What decide promises, whatever the facts.
func TestDecidePromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := func(name string) bool { return rapid.Bool().Draw(t, name) }
		f := facts{
			now:      now,
			created:  now.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "age")) * time.Minute),
			handover: 30 * time.Second,
			emails:   truth("emails"),
			deleting: truth("deleting"),
			started:  truth("started"),
			ended:    truth("ended"),
			record: recordFacts{
				read:        truth("recordRead"),
				free:        truth("free"),
				application: rapid.Int64Range(0, 1).Draw(t, "recordedApplication"),
				used:        truth("used"),
				mine:        truth("recordedByThis"),
				alike:       truth("alike"),
				full:        truth("full"),
			},
			mandate: mandateFacts{
				exists:      truth("exists"),
				seen:        truth("seen"),
				live:        truth("live"),
				deleting:    truth("mandateDeleting"),
				suspended:   truth("suspended"),
				stalled:     truth("stalled"),
				application: rapid.Int64Range(0, 1).Draw(t, "application"),
				final:       truth("final"),
				gone:        truth("gone"),
				named:       truth("named"),
				unmatched:   truth("mandateUnmatched"),
				individual:  rapid.Int64Range(0, 1).Draw(t, "individual"),
			},
			service: serviceFacts{
				Exists: truth("service"),
				Denied: truth("denied"),
				Known:  truth("known"),
				Ready:  truth("ready"),
			},
			subject: subjectFacts{
				read:          truth("read"),
				missing:       truth("missing"),
				sameReference: truth("same"),
				member:        truth("member"),
				unmatched:     truth("unmatched"),
				other:         truth("other"),
			},
			secret:  secretFacts{checked: truth("checked"), exists: truth("secret"), mine: truth("mySecret")},
			storing: storingFacts{checked: truth("asked"), denied: truth("mayNotStore"), refused: truth("secretRefused")},
			report: reportFacts{
				alreadyRefused: truth("alreadyRefused"),
				downloaded:     truth("downloaded"),
				refused:        truth("refused"),
				tooLarge:       truth("tooLarge"),
				isURL:          truth("isURL"),
			},
			attempt: attemptFacts{
				open: truth("open"), mine: truth("mine"), sent: truth("sent"), success: truth("success"),
				verified: truth("verified"), canceled: truth("canceled"),
				observed: now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "observed")) * time.Second),
				outcome:  rapid.SampledFrom([]client.Outcome{client.Unknown, client.NotSent, client.Refused}).Draw(t, "outcome"),
			},
			failureReason: rapid.SampledFrom([]string{"", reasonStaleCache}).Draw(t, "failureReason"),
		}
		got := decide(f)
		own := f.attempt.mine
		switch got.Step {
		case stepSend:
			if !own || f.attempt.sent || f.attempt.canceled || !f.attempt.verified || !f.record.read || !f.record.mine {
				t.Fatalf("sent without a start of its own, or twice, or without a last look")
			}
		case stepStart:
			m, used := f.mandate, f.record.used && (f.emails || !f.record.mine)
			if own || f.ended || f.attempt.open || f.deleting || !f.record.read || used || m.suspended || !m.live ||
				m.individual == 0 || !f.service.Ready || f.service.Denied || !f.subject.member ||
				m.unmatched || f.subject.unmatched || f.subject.other {
				t.Fatalf("started although something is in the way")
			}
		case stepDownload, stepStore:
			if !f.storing.checked || f.storing.denied {
				t.Fatalf("%s although the operator may not store it", got.Step)
			}
		}
		switch got.Step {
		case stepRecord, stepStore:
			if !f.record.read || f.record.mine != (got.Step == stepStore) || f.record.used != f.record.mine {
				t.Fatalf("%s although the ledger says otherwise", got.Step)
			}
		case stepDelete:
			if !f.ended {
				t.Fatalf("deleted before its end")
			}
		case stepWait:
			_, shown := conditionSpecs[got.Reason]
			if f.attempt.open && !own && shown && got.Reason != v1alpha1.ReasonOutcomeUnknown {
				t.Fatalf("an attempt that may be under way was forgotten with reason %s", got.Reason)
			}
			if f.ended && !own && shown {
				t.Fatalf("an action that has ended was given the reason %s", got.Reason)
			}
		default:
			looked := f.attempt.verified && !f.attempt.canceled
			if f.emails && got.Step == stepStore || got.Step == stepDownload && (f.emails || !looked) {
				t.Fatalf("%s for an action that e-mails, or without a last look", got.Step)
			}
		}
	})
}
