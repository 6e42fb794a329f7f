package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// resetBefore has a reset that may still be carried out sent that long ago.
func resetBefore(ago time.Duration) func(*facts) {
	return func(f *facts) { f.application.resetSent = now.Add(-ago) }
}

// decisions on evidence and by rule.
func decisions() map[string]decideCase {
	return map[string]decideCase{
		"evidence that its author has not seen": {
			facts: decided(completeSeen, shows("new-2")),
			want:  wait(v1alpha1.ReasonDecisionOutdated),
		},
		"evidence that only a review of the spec has changed": {
			facts: decided(completeSeen, func(f *facts) { f.application.evidence.shown = "accepted-1" }),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"evidence that was there before": {
			why:   "an individual may have been reset in between",
			facts: decided(completeSeen, shows("seen-3")),
			want:  wait(v1alpha1.ReasonDecisionOutdated),
		},
		"no evidence, because the record is lost": {
			facts: decided(completeSeen, func(f *facts) { f.application.evidence = evidenceFacts{checks: checksOpen} }),
			want:  wait(v1alpha1.ReasonDecisionOutdated),
		},
		"evidence is not known before the record is read": {
			facts: decided(completeSeen, func(f *facts) { f.application.evidence = evidenceFacts{} }),
			want:  decision{Step: stepReadRecord},
		},
		"the rule holds": {
			facts: decided(completeRule, func(f *facts) {
				f.application.evidence.checks = checksPassed
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"the rule holds, and the record was restored": {
			why:   "the decision may have been sent since the backup",
			facts: decided(completeRule, allPassed, func(f *facts) { f.record.restored = true }),
			want:  wait(v1alpha1.ReasonDecisionUnknown),
		},
		"the rule does not hold": {
			facts: decided(completeRule, func(*facts) {}),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"the rule has to hold for some time": {
			why: "checks may come one after the other",
			facts: decided(completeRule, func(f *facts) {
				e := &f.application.evidence
				e.checks = checksPassed
				e.since = now.Add(-time.Minute)
			}),
			want: waitFor(v1alpha1.ReasonAccepted, 9*time.Minute),
		},
		"a review that is outdated holds the decision": {
			facts: decided(completeSeen, func(f *facts) { f.application.reviewOutdated = true }),
			want:  wait(v1alpha1.ReasonReviewOutdated),
		},
		"a review that is outdated, because the check has passed by itself": {
			why:   "the author of the decision has not seen that either",
			facts: decided(completeSeen, shows("new-2"), func(f *facts) { f.application.reviewOutdated = true }),
			want:  wait(v1alpha1.ReasonReviewOutdated), decided: v1alpha1.ReasonDecisionOutdated,
		},
		"a reset that may still be carried out holds the decision": {
			why:   "its author has seen the round that ends with it",
			facts: decided(completeSeen, resetBefore(day-time.Second)),
			want:  wait(v1alpha1.ReasonAccepted), decided: v1alpha1.ReasonDecisionWaiting,
		},
		"a reset that may still be carried out holds the decision by a rule, on request": {
			facts: decided(completeRule, allPassed, resetBefore(time.Hour), onRequest),
			want:  wait(v1alpha1.ReasonAccepted), decided: v1alpha1.ReasonDecisionWaiting,
		},
		"a reset that was not carried out in a day": {
			facts: decided(completeSeen, resetBefore(day)),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a review that was refused holds the decision": {
			facts: decided(completeSeen, func(f *facts) {
				f.application.reviews, f.record = reviews()[:1], logged(firstReview, v1alpha1.CallRefused, 0)
			}),
			want: wait(v1alpha1.ReasonReviewRefused),
		},
		"a state that nobody knows": {
			facts: decided(completeSeen, func(f *facts) {
				f.application.stage, f.application.evidence.since = lifecycle.Unknown, now
			}),
			want: wait(v1alpha1.ReasonStateUnknown),
		},
		"a state that nobody knows, and the rule holds": {
			facts: decided(completeRule, func(f *facts) {
				f.application.stage = lifecycle.Unknown
				f.application.evidence.checks, f.application.evidence.since = checksPassed, now
			}),
			want: wait(v1alpha1.ReasonStateUnknown),
		},
		"a state that nobody knows, and checks that the rule waits for": {
			facts: decided(completeRule, func(f *facts) { f.application.stage = lifecycle.Unknown }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"a state before the review, and checks that are settled": {
			facts: decided(completeSeen, func(f *facts) {
				f.application.stage, f.application.evidence.checks = lifecycle.Open, checksSettled
			}),
			want: wait(v1alpha1.ReasonStateUnknown),
		},
		"a state before the review, for a moment": {
			facts: decided(completeSeen, func(f *facts) {
				f.application.stage, f.application.evidence.checks = lifecycle.Open, checksSettled
				f.application.evidence.since = now.Add(-9 * time.Minute)
			}),
			want: waitFor(v1alpha1.ReasonAccepted, time.Minute),
		},
		"forbidden": {
			facts: decided(completeSeen, func(f *facts) { f.record = logged(completeCall, v1alpha1.CallForbidden, 0) }),
			want:  wait(v1alpha1.ReasonDecisionForbidden),
		},
		"a refused decision, on request": {
			facts: decided(completeSeen, func(f *facts) {
				f.record, f.requested = logged(completeCall, v1alpha1.CallRefused, 0), true
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a forbidden decision, on request": {
			facts: decided(completeSeen, func(f *facts) {
				f.record, f.requested = logged(completeCall, v1alpha1.CallForbidden, 0), true
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a decision by rule that was refused": {
			why: "it was about what shows now, though nobody has named it",
			facts: decided(completeRule, func(f *facts) {
				f.application.evidence.checks = checksPassed
				f.record = logged(completeCall, v1alpha1.CallRefused, 0)
			}),
			want: wait(v1alpha1.ReasonDecisionRefused),
		},
		"a decision by rule that was refused, and other evidence": {
			facts: decided(completeRule, func(f *facts) {
				shows("new-2")(f)
				f.application.evidence.checks = checksPassed
				f.record = logged(completeCall, v1alpha1.CallRefused, 0)
			}),
			want: decision{Step: stepBegin}, call: &v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: "new-2"},
		},
	}
}
