package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// bound is a Mandate whose application was read before, and has just been read again.
func bound(change func(*facts)) facts {
	return newMandate(func(f *facts) {
		f.id = 7
		f.bound = true
		f.observe.seen, f.observe.ownAccount = true, true
		f.application = applicationFacts{lookup: applicationFound, reference: referenceHidden, evidence: seen}
		change(f)
	})
}

// recordOfAnother is the record of the application, which another account created.
func recordOfAnother() recordFacts {
	return recordFacts{lookup: recordFound, id: 7, account: accountOther}
}

// seen is what the application shows, and what the authors of these decisions have seen.
var (
	seen         = evidenceFacts{checks: checksOpen, shown: "seen-1", reviewed: "seen-1", since: now.Add(-time.Hour)}
	completeSeen = v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, Evidence: "seen-1"}
	rejectSeen   = v1alpha1.Decision{Outcome: v1alpha1.DecisionReject, Evidence: "seen-1"}
	completeRule = v1alpha1.Decision{
		Outcome: v1alpha1.DecisionComplete, When: v1alpha1.DecisionRuleAllChecksPassed,
	}
)

// The calls that the spec of the cases asks for.
var (
	completeCall = &v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: "seen-1"}
	rejectCall   = &v1alpha1.Call{Kind: v1alpha1.CallReject, Evidence: "seen-1"}
	archiveCall  = &v1alpha1.Call{Kind: v1alpha1.CallArchive}
	deleteCall   = &v1alpha1.Call{Kind: v1alpha1.CallDelete}
	firstReview  = &v1alpha1.Call{Kind: v1alpha1.CallAcceptCheck, Individual: "jane", Check: 5, Evidence: "check-5"}
	secondReview = &v1alpha1.Call{Kind: v1alpha1.CallRejectCheck, Individual: "jane", Check: 6, Evidence: "check-6"}
)

// reviews are what spec.checkReviews asks for.
func reviews() []v1alpha1.Call { return []v1alpha1.Call{*firstReview, *secondReview} }

// logged is the record of the application, with what became of a call that was sent an hour ago for the last time. The
// result "" is of one that another process has sent, and that this one has seen ever since.
func logged(call *v1alpha1.Call, result v1alpha1.CallResult, sends int32) recordFacts {
	entry := *call
	entry.Seq, entry.Nonce = 2, "nonce"
	entry.Result, entry.Sends = result, sends
	entry.StartedTime = ledger.MicroTime(now.Add(-time.Hour))
	entry.FirstStartedTime = entry.StartedTime
	r := recordFacts{lookup: recordFound, id: 7, calls: []v1alpha1.Call{entry}}
	if result == "" {
		r.observed = now.Add(-time.Hour)
	}
	return r
}

// decided is an application in review whose Mandate has a decision.
func decided(by v1alpha1.Decision, changes ...func(*facts)) facts {
	return bound(func(f *facts) {
		f.act.decision, f.act.ruleDelay = by, 10*time.Minute
		f.application.stage = lifecycle.InReview
		for _, change := range changes {
			change(f)
		}
	})
}

// shows other evidence than seen.
func shows(digest string) func(*facts) {
	return func(f *facts) { f.application.evidence.shown, f.application.evidence.reviewed = digest, digest }
}

func applications() map[string]decideCase {
	return map[string]decideCase{
		"a recorded application is read, not created": {
			facts: newMandate(func(f *facts) { f.id, f.create.createBefore = 7, now.Add(-day) }),
			want:  decision{Step: stepRead},
		},
		"a recorded application with another reference binds nothing": {
			facts: newMandate(func(f *facts) { f.id, f.application = 7, applicationFacts{lookup: applicationFound} }),
			want:  wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"in review without a decision": {
			facts: bound(func(f *facts) { f.application.stage = lifecycle.InReview }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"a review is recorded before it is sent": {
			facts: bound(func(f *facts) { f.application.reviews = reviews() }),
			want:  decision{Step: stepBegin}, call: firstReview,
		},
		"a recorded review is sent": {
			facts: bound(func(f *facts) {
				f.application.reviews, f.attempt = reviews(), calling(v1alpha1.CallAcceptCheck, attemptVerified)
			}),
			want: decision{Step: stepSend},
		},
		"the live Mandate is read before a call": {
			facts: bound(func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
				f.attempt = calling(v1alpha1.CallComplete, attemptBegun)
			}),
			want: decision{Step: stepVerify},
		},
		"what is left after a call waits for the next reconciliation": {
			facts: bound(func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
				f.act.phase = actSent
			}),
			want: waitFor(v1alpha1.ReasonAccepted, nextCallDelay),
		},
		"an archiving that is left after a call": {
			facts: bound(func(f *facts) { f.act.archive, f.act.phase = true, actSent }),
			want:  waitFor(v1alpha1.ReasonNotArchived, nextCallDelay),
		},
		"the read that follows a call waits for a slot": {
			facts: bound(func(f *facts) { f.act.phase, f.application = actReadWaits, applicationFacts{} }),
			want:  waitFor(v1alpha1.ReasonAccepted, engine.MaxRequeue),
		},
		"a decision waits for review": {
			facts: bound(func(f *facts) { f.act.decision = completeSeen }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
		"complete": {
			facts: bound(func(f *facts) { f.act.decision, f.application.stage = completeSeen, lifecycle.InReview }),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"reject": {
			facts: bound(func(f *facts) { f.act.decision, f.application.stage = rejectSeen, lifecycle.InReview }),
			want:  decision{Step: stepBegin}, call: rejectCall,
		},
		"a decision, before the ledger was asked": {
			why: "the IdentityService may point to another service, where the id belongs to an unrelated application",
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.record.lookup = recordUnread
			}),
			want: decision{Step: stepReadRecord},
		},
		"a decision about an application of another service": {
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.record.otherURL = true
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"a decision, and the service has moved": {
			why: "under the id there is the Mandate's reference: no other application has both",
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.application.reference = referenceMatched
				f.record.otherURL = true
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a 404 after eight weeks, and the service has moved": {
			facts: bound(func(f *facts) {
				f.application = applicationFacts{lookup: applicationMissing}
				f.record.otherURL = true
				f.createdTime = now.Add(-56 * day)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, 5*time.Minute),
		},
		"individuals that are unmatched": {
			facts: bound(func(f *facts) { f.application.individuals = individualsUnmatched }),
			want:  wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a new application that does not show all individuals yet": {
			facts: bound(func(f *facts) {
				f.createdTime = now
				f.application.individuals = individualsFewer
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"an application that does not show all individuals any more": {
			facts: bound(func(f *facts) {
				f.createdTime = now.Add(-lagAllowance)
				f.application.individuals = individualsFewer
			}),
			want: wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a recorded review, and individuals that are unmatched": {
			facts: bound(func(f *facts) {
				f.application.reviews, f.application.individuals = reviews(), individualsUnmatched
				f.record = logged(firstReview, v1alpha1.CallNotSent, 0)
			}),
			want: wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"a decision, and individuals that are unmatched": {
			why: "nobody knows whom it is about",
			facts: bound(func(f *facts) {
				f.act.decision, f.application.stage = rejectSeen, lifecycle.InReview
				f.application.individuals = individualsUnmatched
			}),
			want: wait(v1alpha1.ReasonIndividualsUnmatched),
		},
		"an outcome, and individuals that were unmatched": {
			why: "a report needs them",
			facts: bound(func(f *facts) {
				f.outcome, f.observe.unmatched = v1alpha1.OutcomeCompleted, true
				f.application = applicationFacts{}
			}),
			want: decision{Step: stepRead},
		},
		"an outcome, and an application that is gone": {
			facts: bound(func(f *facts) {
				f.outcome, f.observe.unmatched = v1alpha1.OutcomeCompleted, true
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"an application that was created from another spec": {
			facts: bound(func(f *facts) {
				f.bound, f.application.differs = false, true
				f.act.decision, f.act.archive = completeSeen, true
				f.application.stage, f.application.reviews = lifecycle.InReview, reviews()
			}),
			want: wait(v1alpha1.ReasonSpecDiffers),
		},
		"another reference under the id": {
			why: "the spec does not apply to an unrelated application",
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.application.reference = referenceOther
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"a decision is sent once a reconciliation": {
			why: "a service that answers 202 is still in review",
			facts: bound(func(f *facts) {
				f.act.decision = rejectSeen
				f.application.stage = lifecycle.InReview
				f.record = logged(rejectCall, v1alpha1.CallAccepted, 1)
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a refused decision is not repeated while nothing changes": {
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.record = logged(completeCall, v1alpha1.CallRefused, 0)
			}),
			want: wait(v1alpha1.ReasonDecisionRefused),
		},
		"a refused decision about other evidence than now": {
			facts: bound(func(f *facts) {
				f.act.decision = completeSeen
				f.application.stage = lifecycle.InReview
				f.record = logged(&v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: "before-1"}, v1alpha1.CallRefused, 0)
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"archive": {
			facts: bound(func(f *facts) { f.act.archive, f.application.stage = true, lifecycle.Completed }),
			want:  decision{Step: stepBegin}, call: archiveCall,
		},
		"a refused archiving keeps nothing else from being done": {
			facts: bound(func(f *facts) {
				f.act.archive = true
				f.record = logged(archiveCall, v1alpha1.CallRefused, 0)
				f.record.calls[0].StartedTime = ledger.MicroTime(now)
				f.application.stage = lifecycle.InReview
				f.act.decision = completeSeen
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"what is not archived yet is not done": {
			facts: bound(func(f *facts) { f.act.archive, f.record = true, logged(archiveCall, v1alpha1.CallDone, 1) }),
			want:  wait(v1alpha1.ReasonNotArchived),
		},
		"an application that was gone stays so": {
			facts: bound(func(f *facts) {
				f.outcome = v1alpha1.OutcomeDeleted
				f.observe.vanished = true
				f.application = applicationFacts{}
			}),
			want: wait(reasonVanished),
		},
		"a final Mandate is left alone": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeCompleted, applicationFacts{}
				f.observe.readAt = now.Add(time.Second)
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a final Mandate is looked at again, rarely": {
			facts: bound(func(f *facts) { f.outcome, f.application = v1alpha1.OutcomeRejected, applicationFacts{} }),
			want:  decision{Step: stepRead},
		},
		"a final Mandate, while the service cannot be used": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeCompleted, applicationFacts{}
				f.service.Ready = false
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a final Mandate whose application has expired, or is about to": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeCompleted, applicationFacts{}
				f.createdTime = now.Add(-retention + day)
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a final Mandate whose application is not there any more": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeCompleted, applicationFacts{lookup: applicationMissing}
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a final Mandate whose application is in review again": {
			why: "the outcome stays, and so does what was decided",
			facts: decided(completeSeen, func(f *facts) {
				f.outcome, f.application.reviews = v1alpha1.OutcomeRejected, reviews()
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"the first 404 is not believed": {
			facts: bound(func(f *facts) { f.application = applicationFacts{lookup: applicationMissing} }),
			want:  waitFor(v1alpha1.ReasonConfirming, 5*time.Minute),
		},
		"a 404 asks the ledger where the application is": {
			facts: bound(func(f *facts) {
				f.application, f.record.lookup = applicationFacts{lookup: applicationMissing}, recordUnread
			}),
			want: decision{Step: stepReadRecord},
		},
		"a 404 from another service says nothing": {
			why: "once it is believed there is no way back, and the IdentityService may be corrected",
			facts: bound(func(f *facts) {
				f.application = applicationFacts{lookup: applicationMissing}
				f.record.otherURL = true
				f.observe.missingSince = now.Add(-time.Hour)
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"an early second 404 neither": {
			facts: bound(func(f *facts) {
				f.application, f.observe.missingSince = applicationFacts{lookup: applicationMissing}, now.Add(-4*time.Minute)
			}),
			want: waitFor(v1alpha1.ReasonConfirming, time.Minute),
		},
		"the second 404 is believed only from a healthy service": {
			facts: bound(func(f *facts) {
				f.application, f.observe.missingSince = applicationFacts{lookup: applicationMissing}, now.Add(-5*time.Minute)
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
				f.observe.readAt = now.Add(time.Hour)
			}),
			want: waitFor(reasonNotDue, time.Hour),
		},
		"it is still missing": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{lookup: applicationMissing}
			}),
			want: wait(reasonVanished),
		},
		"another application has the id": {
			facts: bound(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{lookup: applicationFound}
			}),
			want: wait(reasonVanished),
		},
		"it is found, and nothing is done before the status says so": {
			facts: bound(func(f *facts) {
				f.outcome, f.act.decision = v1alpha1.OutcomeDeleted, completeSeen
				f.application.stage = lifecycle.InReview
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
				f.application = applicationFacts{lookup: applicationGone}
				f.observe.missingSince = now.Add(-5 * time.Minute)
			}),
			want: wait(reasonVanished),
		},
		"whose application it is, is known before it is read": {
			facts: bound(func(f *facts) {
				f.application, f.record.lookup = applicationFacts{}, recordUnread
				f.observe.ownAccount = false
			}),
			want: decision{Step: stepReadRecord},
		},
		"this process knows it": {
			facts: bound(func(f *facts) { f.application, f.record.lookup = applicationFacts{}, recordUnread }),
			want:  decision{Step: stepRead},
		},
		"another account's application is not decided": {
			why: "another account can have an application with the same id, and show no references",
			facts: bound(func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
				f.record = recordOfAnother()
			}),
			want: wait(reasonOtherAccount),
		},
		"what it shows proves that the account is the same": {
			facts: bound(func(f *facts) {
				f.act.decision, f.application.stage = completeSeen, lifecycle.InReview
				f.record, f.application.sameAccount = recordOfAnother(), true
			}),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a 404 of another account says nothing": {
			facts: bound(func(f *facts) {
				f.application, f.record = applicationFacts{lookup: applicationGone}, recordOfAnother()
				f.observe.missingSince = now.Add(-2 * day)
			}),
			want: wait(reasonOtherAccount),
		},
		"once the application has expired, it is gone in any account": {
			facts: bound(func(f *facts) {
				f.application, f.record = applicationFacts{lookup: applicationGone}, recordOfAnother()
				f.createdTime, f.observe.missingSince = now.Add(-56*day), now.Add(-2*day)
			}),
			want: wait(reasonVanished),
		},
		"what is Deleted stays so in another account": {
			facts: bound(func(f *facts) { f.outcome, f.record = v1alpha1.OutcomeDeleted, recordOfAnother() }),
			want:  wait(reasonVanished),
		},
		"a 404 right after the create may be lag": {
			facts: bound(func(f *facts) {
				f.observe.seen = false
				f.application = applicationFacts{lookup: applicationMissing}
				f.createdTime = now.Add(-20 * time.Second)
				f.observe.missingSince, f.observe.confirmDelay = now.Add(-15*time.Second), 10*time.Second
			}),
			want: waitFor(v1alpha1.ReasonConfirming, lagRequeue),
		},
	}
}
