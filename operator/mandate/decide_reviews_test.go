package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/ledger"
)

// loggedCalls are archivings and reviews in the log.
func loggedCalls() map[string]decideCase {
	archived := func(result v1alpha1.CallResult, sends int32, changes ...func(*facts)) facts {
		return bound(func(f *facts) {
			f.act.archive, f.record = true, logged(archiveCall, result, sends)
			for _, change := range changes {
				change(f)
			}
		})
	}
	reviewed := func(result v1alpha1.CallResult, sends int32, changes ...func(*facts)) facts {
		return bound(func(f *facts) {
			f.application.reviews, f.record = reviews(), logged(firstReview, result, sends)
			for _, change := range changes {
				change(f)
			}
		})
	}
	isOpposite := func(f *facts) { f.record.calls[0].Kind = v1alpha1.CallRejectCheck }
	isEarlier := func(f *facts) {
		f.record.calls[0].Kind, f.record.calls[0].Evidence = v1alpha1.CallRejectCheck, "before-5"
	}
	onlyFirst := func(f *facts) { f.application.reviews = reviews()[:1] }
	return map[string]decideCase{
		"an archiving that was refused": {
			facts: archived(v1alpha1.CallRefused, 0, sentBefore(5*time.Minute-time.Second)),
			want:  wait(v1alpha1.ReasonNotArchived),
		},
		"an archiving that was refused five minutes ago": {
			why: "the application may have changed",
			facts: archived(v1alpha1.CallRefused, 0, func(f *facts) {
				started := ledger.MicroTime(now.Add(-5 * time.Minute))
				f.record.calls[0].FirstStartedTime, f.record.calls[0].StartedTime = started, started
			}),
			want: decision{Step: stepBegin}, call: archiveCall,
		},
		"an archiving that was refused to a process whose clock is fast": {
			why:   "it would never be sent again",
			facts: archived(v1alpha1.CallRefused, 0, sentBefore(-365*day)),
			want:  decision{Step: stepBegin}, call: archiveCall,
		},
		"an archiving that is refused for long": {
			why:   "it was refused for half an hour, which is not over again",
			facts: archived(v1alpha1.CallForbidden, 0, sentBefore(29*time.Minute)),
			want:  wait(v1alpha1.ReasonNotArchived),
		},
		"an archiving that was refused, on request": {
			facts: archived(v1alpha1.CallRefused, 0, sentBefore(0), onRequest),
			want:  decision{Step: stepBegin}, call: archiveCall,
		},
		"an archiving that the service does later": {
			facts: archived(v1alpha1.CallAccepted, 1), want: wait(v1alpha1.ReasonNotArchived),
		},
		"an archiving whose answer was lost": {
			facts: archived(v1alpha1.CallUnknown, 1), want: decision{Step: stepBegin}, call: archiveCall,
		},
		"an archiving whose answer was lost twice": {
			facts: archived(v1alpha1.CallUnknown, 2), want: wait(v1alpha1.ReasonNotArchived),
		},
		"an archiving whose answer was lost, and then it was refused": {
			facts: archived(v1alpha1.CallUnknown, 1, answeredBy(v1alpha1.AnswerRefused), sentBefore(0)),
			want:  wait(v1alpha1.ReasonNotArchived),
		},
		"a lost archiving that shows": {
			facts: archived("", 1, func(f *facts) { f.application.archived = true }),
			want:  decision{Step: stepResolveLost},
		},
		"a lost archiving that does not show": {
			facts: archived("", 1), want: decision{Step: stepBegin}, call: archiveCall,
		},
		"an application with an outcome is archived": {
			facts: bound(func(f *facts) {
				f.act.archive, f.outcome = true, v1alpha1.OutcomeCompleted
				f.application.stage = lifecycle.Completed
			}),
			want: decision{Step: stepBegin}, call: archiveCall,
		},
		"a review that was refused keeps no other from being sent": {
			facts: reviewed(v1alpha1.CallRefused, 0), want: decision{Step: stepBegin}, call: secondReview,
		},
		"a review that rejects a check": {
			facts: bound(func(f *facts) { f.application.reviews = reviews()[1:] }),
			want:  decision{Step: stepBegin}, call: secondReview,
		},
		"a review that rejects a check, and whose answer was lost": {
			facts: bound(func(f *facts) {
				f.application.reviews, f.record = reviews()[1:], logged(secondReview, v1alpha1.CallUnknown, 1)
			}),
			want: decision{Step: stepBegin}, call: secondReview,
		},
		"a lost review that rejects a check": {
			facts: bound(func(f *facts) {
				f.application.reviews, f.record = reviews()[1:], logged(secondReview, "", 1)
			}),
			want: decision{Step: stepBegin}, call: secondReview,
		},
		"a review that was refused": {
			facts: reviewed(v1alpha1.CallRefused, 0, onlyFirst), want: wait(v1alpha1.ReasonReviewRefused),
		},
		"a review that is forbidden": {
			facts: reviewed(v1alpha1.CallForbidden, 0, onlyFirst), want: wait(v1alpha1.ReasonReviewRefused),
		},
		"a review that was refused, on request": {
			facts: reviewed(v1alpha1.CallRefused, 0, onlyFirst, onRequest),
			want:  decision{Step: stepBegin}, call: firstReview,
		},
		"a review that was refused, about other evidence": {
			facts: reviewed(v1alpha1.CallRefused, 0, onlyFirst, func(f *facts) {
				f.record.calls[0].Evidence = "before-5"
			}),
			want: decision{Step: stepBegin}, call: firstReview,
		},
		"a review whose opposite the service carries out later": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst, isOpposite), want: wait(v1alpha1.ReasonAccepted),
		},
		"a review whose opposite was carried out, which does not show": {
			facts: reviewed(v1alpha1.CallDone, 1, onlyFirst, isOpposite), want: wait(v1alpha1.ReasonAccepted),
		},
		"a review whose opposite had no answer, on request": {
			facts: reviewed(v1alpha1.CallUnknown, 1, onlyFirst, isOpposite, onRequest), want: wait(v1alpha1.ReasonAccepted),
		},
		"a review a day after its opposite": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst, isOpposite, sentBefore(day)),
			want:  decision{Step: stepBegin}, call: firstReview,
		},
		"a review of a check that has changed otherwise since the service accepted another one": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst, isEarlier), want: wait(v1alpha1.ReasonAccepted),
		},
		"a review of a check that shows another one which the service accepted": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst, isEarlier, func(f *facts) {
				f.application.decidedChecks = map[int64]v1alpha1.CallKind{firstReview.Check: v1alpha1.CallRejectCheck}
			}),
			want: decision{Step: stepBegin}, call: firstReview,
		},
		"a review of a check that has changed since another one was carried out": {
			facts: reviewed(v1alpha1.CallDone, 1, onlyFirst, isEarlier),
			want:  decision{Step: stepBegin}, call: firstReview,
		},
		"a review whose opposite was refused": {
			facts: reviewed(v1alpha1.CallRefused, 0, onlyFirst, func(f *facts) {
				f.record.calls[0].Kind = v1alpha1.CallRejectCheck
			}),
			want: decision{Step: stepBegin}, call: firstReview,
		},
		"a review that the service carries out later": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst), want: wait(v1alpha1.ReasonAccepted),
		},
		"a review whose answer was lost": {
			facts: reviewed(v1alpha1.CallUnknown, 1), want: decision{Step: stepBegin}, call: firstReview,
		},
		"a review whose answer was lost twice": {
			facts: reviewed(v1alpha1.CallUnknown, 2, onlyFirst), want: wait(v1alpha1.ReasonReviewRefused),
		},
		"a review of another process": {
			why:   "one call at a time",
			facts: reviewed("", 1, firstSeenBefore(0)), want: waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
		},
		"a lost review that does not show": {
			facts: reviewed("", 1), want: decision{Step: stepBegin}, call: firstReview,
		},
		"a lost review that shows": {
			facts: reviewed("", 1, func(f *facts) {
				f.application.reviews, f.application.reviewShown = reviews()[1:], true
			}),
			want: decision{Step: stepResolveLost},
		},
		"a lost review of a check that has changed": {
			facts: reviewed("", 1, func(f *facts) {
				f.application.reviews, f.application.reviewOutdated = nil, true
			}),
			want: decision{Step: stepResolveLost},
		},
		"a lost review, and individuals that are unmatched": {
			facts: reviewed("", 1, func(f *facts) { f.application.individuals = individualsUnmatched }),
			want:  decision{Step: stepResolveLost},
		},
		"a review of an application with an outcome": {
			facts: reviewed(v1alpha1.CallNotSent, 0, func(f *facts) { f.application.stage = lifecycle.Completed }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"an archiving comes before a review, and a review before the decision": {
			facts: reviewed(v1alpha1.CallNotSent, 0, func(f *facts) {
				f.act.archive, f.act.decision = true, completeSeen
				f.application.stage = lifecycle.InReview
			}),
			want: decision{Step: stepBegin}, call: archiveCall,
		},
		"a review comes before the decision": {
			facts: reviewed(v1alpha1.CallNotSent, 0, func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
			}),
			want: decision{Step: stepBegin}, call: firstReview,
		},
		"a review that the service carries out later holds the decision": {
			facts: reviewed(v1alpha1.CallAccepted, 1, onlyFirst, func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
			}),
			want: wait(v1alpha1.ReasonAccepted), decided: v1alpha1.ReasonDecisionWaiting,
		},
	}
}
