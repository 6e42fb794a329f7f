package action

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// What decide promises, whatever the facts.
func TestDecidePromises(t *testing.T) {
	var usual []facts
	cases := decideCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		usual = append(usual, cases[name].facts)
	}
	explore.Draw(t, explore.Steps[step](t, "step.go"), func(t *rapid.T) step {
		f := explore.Facts[facts](t, now,
			[]string{"", reasonStaleCache}, []int64{0, 7, 4711}, []time.Duration{0, 7 * time.Second},
			[][]v1alpha1.Problem{nil}, []int{0, 1, engine.MaxLooks}, []phase{notBegun, begun, verified, over, recorded},
			[]connection.AccountState{connection.AccountConfirmed, connection.AccountSought, connection.AccountRefuted},
			[]endFacts{endOpen, endRefused, endShown},
			[]openCall{noCall, unsentCall, emailingCall, otherCall},
			[]ledger.NameUse{
				ledger.Unused, ledger.UsedByThisObject, ledger.UsedForSameAction, ledger.UsedForOtherAction,
			},
			[]v1alpha1.CallResult{
				"", v1alpha1.CallDone, v1alpha1.CallAccepted, v1alpha1.CallRefused, v1alpha1.CallForbidden,
				v1alpha1.CallNotSent, v1alpha1.CallUnknown,
			},
		)
		f.now, f.handover = now, 30*time.Second
		f = explore.Mix(t, usual, f)
		if r := &f.record; r.name != ledger.Unused && r.result == "" && r.open == noCall {
			r.open = emailingCall // the one under the name
		}
		got := decide(f)
		if broken := brokenPromise(&f, got); broken != "" {
			t.Fatalf("%s: %s", got.Step, broken)
		}
		return got.Step
	})
}

// brokenPromise says what a decision must not be for these facts; "" if nothing is wrong.
func brokenPromise(f *facts, got decision) string {
	m, r := f.mandate, f.record
	_, shown := conditionSpecs[got.Reason]
	switch got.Step {
	case stepSend:
		c := f.call
		if c.phase != verified || f.now.Sub(c.looked) > time.Second || f.now.Sub(c.started) > f.handover/2 {
			return "without a call of its own, or twice, or late, or without a last look"
		}
	case stepBegin:
		if f.call.phase != notBegun || f.ended || f.deleting || !f.emails || !r.read || !isFree(&r) || r.open != noCall ||
			m.suspended || !m.live || m.individual == 0 || !f.service.Ready || f.service.Denied || !f.subject.member ||
			m.unmatched || f.subject.unmatched || f.subject.other {
			return "something is in the way"
		}
	case stepShowPending:
		if f.call.phase != over {
			return "the result is recorded, or there is none"
		}
	case stepEnd:
		late := (f.call.phase == begun || f.call.phase == verified) &&
			(f.now.Sub(f.call.started) > f.handover/2 || f.call.looks >= engine.MaxLooks)
		if !late && f.call.phase != over && (f.call.phase != notBegun || r.open == noCall || r.open == otherCall) {
			return "there is no call that this operator may end"
		}
	case stepDownload, stepStore:
		if f.emails || !f.storing.checked || f.storing.denied || got.Step == stepDownload && !f.report.verified {
			return "it e-mails, or the operator may not store it, or has not looked once more"
		}
	case stepDelete:
		if !f.ended {
			return "before its end"
		}
	case stepWait:
		ended := shown && conditionSpecs[got.Reason].progress != progressing
		switch {
		case shown && f.call.phase == over, shown && f.call.phase == notBegun && f.ended:
			return "the result of the call is not recorded, or the action has ended: " + got.Reason
		case ended && f.emails && f.call.phase == notBegun && r.read && r.result == "" &&
			(r.name == ledger.UsedByThisObject || r.name == ledger.UsedForSameAction):
			return "a call that may be under way was forgotten with reason " + got.Reason
		}
	}
	return ""
}

// isFree reports whether a call can be begun under a name.
func isFree(r *recordFacts) bool {
	notSent := r.name != ledger.UsedForOtherAction && r.result == v1alpha1.CallNotSent
	return r.name == ledger.Unused && !r.full || r.name != ledger.Unused && notSent
}
