package action

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/explore"
)

// What decide promises, whatever the facts.
func TestDecidePromises(t *testing.T) {
	var usual []facts
	cases := decideCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		usual = append(usual, cases[name].facts)
	}
	explore.Draw(t, explore.Steps[step](t), func(t *rapid.T) step {
		f := explore.Facts[facts](t, now,
			[]string{"", reasonStaleCache}, []int64{0, 7, 4711}, []time.Duration{0, 7 * time.Second},
			[]client.Outcome{client.Unknown, client.NotSent, client.Refused, client.Forbidden},
			[]client.Kind{"", client.KindInvalid, client.KindRateLimited, client.KindUnreachable},
		)
		f.now, f.handover = now, 30*time.Second
		f = explore.Mix(t, usual, f)
		f.record.used = f.record.used || f.record.mine
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
		return got.Step
	})
}
