package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// unclear is the record of a create that has ended without a clear outcome.
func unclear(ago time.Duration, change func(*recordFacts)) recordFacts {
	return sent(ago, func(r *recordFacts) {
		r.result = v1alpha1.CallUnknown
		if change != nil {
			change(r)
		}
	})
}

// settlements are the cases of creates whose outcome stays unknown, and of what a person says of them.
func settlements() map[string]decideCase {
	doubtful := func(ago time.Duration, change func(*facts)) facts {
		return newMandate(func(f *facts) {
			f.record = sent(ago, func(r *recordFacts) { r.sends = ledger.MaxSends(v1alpha1.CallCreate) })
			if change != nil {
				change(f)
			}
		})
	}
	saying := func(change func(*facts)) facts {
		return doubtful(day, func(f *facts) {
			f.record.result, f.record.notCreated = v1alpha1.CallUnknown, true
			if change != nil {
				change(f)
			}
		})
	}
	return map[string]decideCase{
		"too many unknown attempts, of which the last may be under way": {
			facts: doubtful(time.Minute, nil), want: waitFor(v1alpha1.ReasonOutcomeUnknown, 30*time.Second),
		},
		"too many unknown attempts, and the record does not say so": {
			facts: doubtful(day, nil), want: decision{Step: stepSettle},
		},
		"too many unknown attempts, and the record says so": {
			facts: doubtful(day, func(f *facts) { f.record.result = v1alpha1.CallUnknown }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt under another reference ends": {
			facts: newMandate(func(f *facts) {
				f.record = sent(5*time.Minute, func(r *recordFacts) { r.otherReference = true })
			}),
			want: decision{Step: stepSettle},
		},
		"a person says that nothing was created": {
			facts: saying(nil), want: decision{Step: stepSettle},
		},
		"a person says so after a duplicate": {
			why:   "the application of that reference can be somebody else's",
			facts: saying(func(f *facts) { f.record.answer = v1alpha1.AnswerDuplicate }), want: decision{Step: stepSettle},
		},
		"a person says so after a refusal of the last request": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(time.Minute, func(r *recordFacts) { r.answer, r.inputs = v1alpha1.AnswerRefused, "now" })
				f.record.notCreated = true
			}),
			want: decision{Step: stepSettle},
		},
		"a person says so, and the reference was edited": {
			facts: saying(func(f *facts) { f.record.otherReference = true }), want: decision{Step: stepSettle},
		},
		"a person says so, and a notification names an application": {
			facts: saying(func(f *facts) { f.create.candidates = []int64{7} }), want: decision{Step: stepReadCandidate},
		},
		"a person says so, and an application cannot be read yet": {
			facts: saying(func(f *facts) { f.create.candidatePending = true }), want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"what a person says is recorded": {
			facts: newMandate(func(f *facts) { f.record = refused(v1alpha1.AnswerNotCreated) }),
			want:  decision{Step: stepBegin},
		},
	}
}
