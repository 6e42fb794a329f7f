package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// answers are the cases of what an answer proves.
func answers() map[string]decideCase {
	forbidden := func(changes ...func(*facts)) facts {
		return newMandate(func(f *facts) {
			f.record = refused(v1alpha1.AnswerForbidden)
			f.record.retryAt = now.Add(5 * time.Minute)
			for _, change := range changes {
				change(f)
			}
		})
	}
	return map[string]decideCase{
		"a restored record of a create that created nothing": {
			why: "it may have created the application since the backup",
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerRetryable)
				f.record.restored = true
			}),
			want: wait(v1alpha1.ReasonRecordRestored),
		},
		"an unknown attempt of a process with another clock": {
			why:   "how long ago it was is not known",
			facts: newMandate(func(f *facts) { f.record = unclear(-createWindow, nil) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"a create that the service does later is recorded": {
			facts: newMandate(func(f *facts) { f.record, f.attempt = sent(0, nil), createAnswered(client.Accepted) }),
			want:  decision{Step: stepConclude},
		},
		"a create whose answer shows somebody's id is recorded": {
			facts: newMandate(func(f *facts) { f.record, f.attempt = sent(0, nil), createAnswered(client.Candidate) }),
			want:  decision{Step: stepConclude},
		},
		"a create that is forbidden is recorded": {
			facts: newMandate(func(f *facts) { f.record, f.attempt = sent(0, nil), createAnswered(client.Forbidden) }),
			want:  decision{Step: stepConclude},
		},
		"an accepted create is never sent again": {
			why: "it may have been queued, and uniqueness may be checked when it is carried out",
			facts: newMandate(func(f *facts) {
				f.record = sent(5*time.Minute, func(r *recordFacts) { r.result = v1alpha1.CallAccepted })
			}),
			want: waitFor(v1alpha1.ReasonCreateAccepted, time.Hour),
		},
		"an accepted create of a clock that is fast is not sent again either": {
			why: "how long ago it was accepted is not known",
			facts: newMandate(func(f *facts) {
				f.record = sent(-30*time.Minute, func(r *recordFacts) { r.result = v1alpha1.CallAccepted })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"the id that its answer showed is read": {
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Hour, func(r *recordFacts) { r.result = v1alpha1.CallAccepted })
				f.create.candidates = []int64{7}
			}),
			want: decision{Step: stepReadCandidate},
		},
		"an accepted create that never came": {
			facts: newMandate(func(f *facts) {
				f.record = sent(day, func(r *recordFacts) { r.result = v1alpha1.CallAccepted })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an application whose id is too large": {
			why: "it may exist, and its id cannot be recorded",
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Hour, func(r *recordFacts) { r.answer = v1alpha1.AnswerIDTooLarge })
			}),
			want: wait(v1alpha1.ReasonApplicationIDTooLarge),
		},
		"a forbidden create waits": {facts: forbidden(), want: waitFor(v1alpha1.ReasonForbidden, 5*time.Minute)},
		"a forbidden create is tried again slowly": {
			facts: forbidden(func(f *facts) { f.record.retryAt = now }),
			want:  decision{Step: stepBegin},
		},
		"a forbidden create is tried again on request": {
			facts: forbidden(func(f *facts) { f.requested = true }),
			want:  decision{Step: stepBegin},
		},
		"a forbidden create is tried again after an edit": {
			facts: forbidden(func(f *facts) { f.record.inputs = "then" }),
			want:  decision{Step: stepBegin},
		},
		"a refusal that may pass": {
			facts: forbidden(func(f *facts) { f.record.answer = v1alpha1.AnswerRetryable }),
			want:  waitFor(v1alpha1.ReasonRefusedForNow, 5*time.Minute),
		},
		"a refusal that may pass, of a repeated attempt": {
			why: "it says nothing of the first one, whose answer was lost",
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Minute, func(r *recordFacts) {
					r.answer, r.inputs = v1alpha1.AnswerRetryable, "now"
					r.retryAt = now.Add(time.Minute)
				})
			}),
			want: waitFor(v1alpha1.ReasonSettling, time.Minute),
		},
		"a create that a gateway answered with 503, on request": {
			why: "it may be under way at the service",
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Minute, func(r *recordFacts) {
					r.answer, r.inputs = v1alpha1.AnswerRetryable, "now"
					r.started, r.retryAt = now.Add(-time.Second), now.Add(time.Minute)
				})
				f.requested = true
			}),
			want: waitFor(v1alpha1.ReasonSettling, 89*time.Second),
		},
		"a create that a gateway answered with 503 before, on request": {
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Minute, func(r *recordFacts) {
					r.answer, r.inputs = v1alpha1.AnswerRetryable, "now"
					r.started, r.retryAt = now.Add(-90*time.Second), now.Add(time.Minute)
				})
				f.requested = true
			}),
			want: decision{Step: stepBegin},
		},
		"somebody else's 404 does not end a deletion": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application = applicationFacts{lookup: applicationUnproven}
			}),
			want: wait(v1alpha1.ReasonDeletionWaiting),
		},
		"a deletion that the service does later is not sent again": {
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), logged(deleteCall, v1alpha1.CallAccepted, 1)
			}),
			want: wait(v1alpha1.ReasonDeletionWaiting),
		},
		"somebody else's 404 is not believed while nothing else is read": {
			facts: bound(func(f *facts) {
				f.application, f.observe.missingSince = applicationFacts{lookup: applicationUnproven}, now.Add(-2*day)
			}),
			want: waitFor(v1alpha1.ReasonApplicationMissing, time.Hour),
		},
		"somebody else's 404 is believed after a day in which others are read": {
			why: "a service may send no error bodies at all",
			facts: bound(func(f *facts) {
				f.application = applicationFacts{lookup: applicationMissingAlone}
				f.observe.missingSince = now.Add(-2 * day)
			}),
			want: decision{Step: stepProbe},
		},
		"an accepted create that no read shows yet": {
			facts: bound(func(f *facts) {
				f.application, f.observe.seen = applicationFacts{lookup: applicationMissing}, false
				f.record = sent(time.Hour, func(r *recordFacts) { r.result = v1alpha1.CallAccepted })
				f.createdTime, f.observe.missingSince = now.Add(-time.Hour), now.Add(-30*time.Minute)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, 450*time.Second),
		},
		"a decision whose answer was lost twice is not sent again": {
			facts: decided(completeSeen, func(f *facts) { f.record = logged(completeCall, v1alpha1.CallUnknown, 2) }),
			want:  wait(v1alpha1.ReasonDecisionUnknown),
		},
	}
}
