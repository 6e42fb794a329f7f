package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// bound is a Mandate whose application was read before, and has just been read again.
func bound(change func(*facts)) facts {
	return newMandate(func(f *facts) {
		f.id = 7
		f.bound = true
		f.seen = true
		f.application = applicationFacts{read: true, sameReference: true}
		change(f)
	})
}

func applications() map[string]decideCase {
	return map[string]decideCase{
		"a recorded application is read, not created": {
			facts: newMandate(func(f *facts) { f.id, f.createBefore = 7, now.Add(-day) }),
			want:  decision{Step: stepRead},
		},
		"a recorded application with another reference binds nothing": {
			facts: newMandate(func(f *facts) { f.id, f.application = 7, applicationFacts{read: true} }),
			want:  wait(v1alpha1.ReasonServiceMismatch),
		},
		"in review without a decision": {
			facts: bound(func(f *facts) { f.application.stage = client.StageInReview }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"a review is recorded before it is sent": {
			facts: bound(func(f *facts) { f.application.reviews = 2 }),
			want:  decision{Step: stepRecordReview},
		},
		"a recorded review is sent": {
			facts: bound(func(f *facts) { f.application.reviews, f.application.reviewRecorded = 2, true }),
			want:  decision{Step: stepReview},
		},
		"the live Mandate is read before a call": {
			facts: bound(func(f *facts) {
				f.decision, f.application.stage = v1alpha1.DecisionComplete, client.StageInReview
				f.confirmed = false
			}),
			want: decision{Step: stepConfirm},
		},
		"what is left after a call waits for the next reconciliation": {
			facts: bound(func(f *facts) {
				f.decision, f.application.stage = v1alpha1.DecisionComplete, client.StageInReview
				f.acted = true
			}),
			want: waitFor(v1alpha1.ReasonAccepted, nextCallDelay),
		},
		"an archiving that is left after a call": {
			facts: bound(func(f *facts) { f.archive, f.acted = true, true }),
			want:  waitFor(v1alpha1.ReasonNotArchived, nextCallDelay),
		},
		"the read that follows a call waits for a slot": {
			facts: bound(func(f *facts) { f.noSlot, f.application = true, applicationFacts{} }),
			want:  waitFor(v1alpha1.ReasonAccepted, engine.MaxRequeue),
		},
		"a decision waits for review": {
			facts: bound(func(f *facts) { f.decision = v1alpha1.DecisionComplete }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"complete": {
			facts: bound(func(f *facts) { f.decision, f.application.stage = v1alpha1.DecisionComplete, client.StageInReview }),
			want:  decision{Step: stepComplete},
		},
		"reject": {
			facts: bound(func(f *facts) { f.decision, f.application.stage = v1alpha1.DecisionReject, client.StageInReview }),
			want:  decision{Step: stepReject},
		},
		"a decision, before the ledger was asked": {
			why: "the IdentityService may point to another service, where the id belongs to an unrelated application",
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.record.read = false
			}),
			want: decision{Step: stepReadRecord},
		},
		"a decision about an application of another service": {
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.record.otherURL = true
			}),
			want: wait(v1alpha1.ReasonServiceMismatch),
		},
		"a decision, and the service has moved": {
			why: "under the id there is the Mandate's reference: no other application has both",
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.application.referenceMatched = true
				f.record.otherURL = true
			}),
			want: decision{Step: stepComplete},
		},
		"a 404 after eight weeks, and the service has moved": {
			facts: bound(func(f *facts) {
				f.application = applicationFacts{missing: true}
				f.record.otherURL = true
				f.createdTime = now.Add(-56 * day)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, 5*time.Minute),
		},
		"individuals that are unmatched": {
			facts: bound(func(f *facts) { f.application.unmatched = true }),
			want:  wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a new application that does not show all individuals yet": {
			facts: bound(func(f *facts) {
				f.createdTime = now
				f.application.unmatched, f.application.fewer = true, true
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"an application that does not show all individuals any more": {
			facts: bound(func(f *facts) {
				f.createdTime = now.Add(-lagAllowance)
				f.application.unmatched, f.application.fewer = true, true
			}),
			want: wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a recorded review, and individuals that are unmatched": {
			facts: bound(func(f *facts) {
				f.application.reviews, f.application.reviewRecorded = 2, true
				f.application.unmatched = true
			}),
			want: wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a decision, and individuals that are unmatched": {
			why: "it is about the application",
			facts: bound(func(f *facts) {
				f.decision, f.application.stage = v1alpha1.DecisionReject, client.StageInReview
				f.application.unmatched = true
			}),
			want: decision{Step: stepReject},
		},
		"an outcome, and individuals that were unmatched": {
			why: "a report needs them",
			facts: bound(func(f *facts) {
				f.outcome, f.unmatched = v1alpha1.OutcomeCompleted, true
				f.application = applicationFacts{}
			}),
			want: decision{Step: stepRead},
		},
		"an outcome, and an application that is gone": {
			facts: bound(func(f *facts) {
				f.outcome, f.unmatched = v1alpha1.OutcomeCompleted, true
				f.application = applicationFacts{missing: true}
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"an application that was created from another spec": {
			facts: bound(func(f *facts) {
				f.bound, f.application.differs = false, true
				f.decision, f.archive = v1alpha1.DecisionComplete, true
				f.application.stage, f.application.reviews = client.StageInReview, 1
			}),
			want: wait(v1alpha1.ReasonSpecDiffers),
		},
		"another reference under the id": {
			why: "the spec does not apply to an unrelated application",
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.application.sameReference = false
			}),
			want: wait(v1alpha1.ReasonServiceMismatch),
		},
		"a decision is sent once a reconciliation": {
			why: "a service that answers 202 is still in review",
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionReject
				f.application.stage = client.StageInReview
				f.application.decided = true
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a refused decision is not repeated while nothing changes": {
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.application.digest = "a"
				f.refusedDigest = "a"
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a refused decision is repeated when something changed": {
			facts: bound(func(f *facts) {
				f.decision = v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
				f.application.digest = "b"
				f.refusedDigest = "a"
			}),
			want: decision{Step: stepComplete},
		},
		"archive": {
			facts: bound(func(f *facts) { f.archive, f.application.stage = true, client.StageCompleted }),
			want:  decision{Step: stepArchive},
		},
		"a refused archiving keeps nothing else from being done": {
			facts: bound(func(f *facts) {
				f.archive = true
				f.application.archiveSent = true
				f.application.stage = client.StageInReview
				f.decision = v1alpha1.DecisionComplete
			}),
			want: decision{Step: stepComplete},
		},
		"what is not archived yet is not done": {
			facts: bound(func(f *facts) { f.archive, f.application.archiveSent = true, true }),
			want:  wait(v1alpha1.ReasonNotArchived),
		},
		"an application that was gone stays so": {
			facts: bound(func(f *facts) {
				f.outcome = v1alpha1.OutcomeDeleted
				f.vanished = true
				f.application = applicationFacts{}
			}),
			want: wait(reasonVanished),
		},
		"a final Mandate is left alone": {
			facts: bound(func(f *facts) { f.outcome, f.application = v1alpha1.OutcomeCompleted, applicationFacts{} }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"the first 404 is not believed": {
			facts: bound(func(f *facts) { f.application = applicationFacts{missing: true} }),
			want:  waitFor(v1alpha1.ReasonConfirming, 5*time.Minute),
		},
		"a 404 asks the ledger where the application is": {
			facts: bound(func(f *facts) { f.application, f.record.read = applicationFacts{missing: true}, false }),
			want:  decision{Step: stepReadRecord},
		},
		"a 404 from another service says nothing": {
			why: "once it is believed there is no way back, and the IdentityService may be corrected",
			facts: bound(func(f *facts) {
				f.application = applicationFacts{missing: true}
				f.record.otherURL = true
				f.missingSince = now.Add(-time.Hour)
			}),
			want: wait(v1alpha1.ReasonServiceMismatch),
		},
		"an early second 404 neither": {
			facts: bound(func(f *facts) {
				f.application, f.missingSince = applicationFacts{missing: true}, now.Add(-4*time.Minute)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, time.Minute),
		},
		"the second 404 is believed only from a healthy service": {
			facts: bound(func(f *facts) {
				f.application, f.missingSince = believable(), now.Add(-5*time.Minute)
			}),
			want: decision{Step: stepProbe},
		},
		"a 404 to credentials that have read nothing yet is not believed": {
			facts: bound(func(f *facts) {
				f.application, f.missingSince = applicationFacts{missing: true}, now.Add(-2*time.Hour)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, 30*time.Minute),
		},
		"for a day": {
			facts: bound(func(f *facts) {
				f.application, f.missingSince = applicationFacts{missing: true}, now.Add(-day)
			}),
			want: decision{Step: stepProbe},
		},
		"what is Deleted is looked for again": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{}
			}),
			want: decision{Step: stepRead},
		},
		"not before it is time": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{}
				f.readAt = now.Add(time.Hour)
			}),
			want: waitFor(reasonNotDue, time.Hour),
		},
		"it is still missing": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{missing: true}
			}),
			want: wait(reasonVanished),
		},
		"another application has the id": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{read: true}
			}),
			want: wait(reasonVanished),
		},
		"it is found, and nothing is done before the status says so": {
			facts: bound(func(f *facts) {
				f.outcome, f.decision = v1alpha1.OutcomeDeleted, v1alpha1.DecisionComplete
				f.application.stage = client.StageInReview
			}),
			want: waitFor(v1alpha1.ReasonAccepted, time.Second),
		},
		"it may be another service's, which shows no references": {
			facts: bound(func(f *facts) {
				f.outcome = v1alpha1.OutcomeDeleted
				f.record.otherURL = true
			}),
			want: wait(reasonVanished),
		},
		"then it is": {
			facts: bound(func(f *facts) {
				f.application = believable()
				f.missingSince = now.Add(-5 * time.Minute)
				f.probed = true
			}),
			want: wait(reasonVanished),
		},
		"a 404 right after the create may be lag": {
			facts: bound(func(f *facts) {
				f.seen = false
				f.application = applicationFacts{missing: true}
				f.createdTime = now.Add(-20 * time.Second)
				f.missingSince, f.confirmDelay = now.Add(-15*time.Second), 10*time.Second
			}),
			want: waitFor(v1alpha1.ReasonConfirming, lagRequeue),
		},
	}
}

// believable is the 404 of an account that has read the application before.
func believable() applicationFacts { return applicationFacts{missing: true, believable: true} }
