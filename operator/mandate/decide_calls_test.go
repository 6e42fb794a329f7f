package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/ledger"
)

// What the log says of a call decides whether it is made now. These are the cases of applications that exist; each call
// was sent an hour ago for the last time, if the case does not say otherwise.

// decidedBefore is an application in review whose log has a decision.
func decidedBefore(
	by v1alpha1.Decision, call *v1alpha1.Call, result v1alpha1.CallResult, sends int32, changes ...func(*facts),
) facts {
	log := func(f *facts) { f.record = logged(call, result, sends) }
	return decided(by, append([]func(*facts){log}, changes...)...)
}

// onRequest is for a Mandate that a person wants to be reconciled.
func onRequest(f *facts) { f.requested = true }

// sentBefore has the calls of the log sent that long ago.
func sentBefore(ago time.Duration) func(*facts) {
	return func(f *facts) {
		for i := range f.record.calls {
			f.record.calls[i].StartedTime = ledger.MicroTime(now.Add(-ago))
		}
	}
}

// firstSeenBefore has the open call seen by this process for that long.
func firstSeenBefore(ago time.Duration) func(*facts) {
	return func(f *facts) { f.record.observed = now.Add(-ago) }
}

// answeredBy has the log say more about the last request.
func answeredBy(answer v1alpha1.CallAnswer) func(*facts) {
	return func(f *facts) { f.record.calls[0].Answer = answer }
}

func loggedDecisions() map[string]decideCase {
	const waiting = v1alpha1.ReasonDecisionWaiting
	return map[string]decideCase{
		"a decision that was carried out, and does not show": {
			why:   "it may show later, and the service has promised it",
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallDone, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that was carried out, on request": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallDone, 1, onRequest),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that the service carries out later, and does not show": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallAccepted, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that the service carries out later, on request": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallAccepted, 1, onRequest),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that the service accepted less than a day ago": {
			facts: decidedBefore(rejectSeen, rejectCall, v1alpha1.CallAccepted, 1, sentBefore(day-time.Second)),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that the service accepted a day ago, and does not show": {
			why:   "a service may never come to it, and nobody would hear of that",
			facts: decidedBefore(rejectSeen, rejectCall, v1alpha1.CallAccepted, 1, sentBefore(day)),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision that the service accepted a day ago, on request": {
			why:   "what was accepted is never sent again",
			facts: decidedBefore(rejectSeen, rejectCall, v1alpha1.CallAccepted, 1, sentBefore(day), onRequest),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision that was carried out about other evidence": {
			why: "an individual was reset since: it is another decision",
			facts: decidedBefore(
				completeSeen, &v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: "before-1"}, v1alpha1.CallDone, 1),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a decision of which no request reached the service": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallNotSent, 0),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision whose answer was lost": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 1),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision whose answer was lost twice": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 2),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision whose answer was lost twice, on request": {
			why:   "whether it was carried out, a person has to find out at the service",
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 2, onRequest),
			want:  wait(v1alpha1.ReasonDecisionUnknown),
		},
		"a decision whose answer was lost, and then it was refused": {
			why:   "it would be refused again and again",
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 1, answeredBy(v1alpha1.AnswerRefused)),
			want:  wait(v1alpha1.ReasonDecisionRefused), decided: v1alpha1.ReasonDecisionRefused,
		},
		"a decision whose answer was lost, and then it was forbidden": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 1, answeredBy(v1alpha1.AnswerForbidden)),
			want:  wait(v1alpha1.ReasonDecisionForbidden), decided: v1alpha1.ReasonDecisionForbidden,
		},
		"a decision whose answer was lost, and then it was refused, on request": {
			facts: decidedBefore(
				completeSeen, completeCall, v1alpha1.CallUnknown, 1, answeredBy(v1alpha1.AnswerRefused), onRequest),
			want: decision{Step: stepBegin}, call: completeCall,
		},
		"a decision whose answer was lost, and then it did not reach the service": {
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallUnknown, 1, answeredBy(v1alpha1.AnswerNotSent)),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision after the opposite one, which may still be carried out": {
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallAccepted, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision after the opposite one, on request": {
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallAccepted, 1, onRequest),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision after the opposite one whose answer was lost": {
			facts: decidedBefore(completeSeen, rejectCall, v1alpha1.CallUnknown, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision a day after the opposite one": {
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallAccepted, 1, sentBefore(day)),
			want:  decision{Step: stepBegin}, call: rejectCall,
		},
		"a decision after the opposite one was refused": {
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallRefused, 0),
			want:  decision{Step: stepBegin}, call: rejectCall,
		},
		"a decision that did not reach the service, after the opposite one": {
			why: "the author has come back to the first one, and the second one may still be carried out",
			facts: decidedBefore(rejectSeen, rejectCall, v1alpha1.CallNotSent, 0, func(f *facts) {
				f.record.calls = append(f.record.calls, logged(completeCall, v1alpha1.CallAccepted, 1).calls...)
			}),
			want: wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision that was made so long ago that only a digest is left": {
			facts: decided(completeSeen, func(f *facts) { f.record.earlier = earlier(completeCall) }),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"the opposite one was made so long ago that only a digest is left": {
			facts: decided(completeSeen, func(f *facts) { f.record.earlier = earlier(rejectCall) }),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision that the record cannot hold": {
			facts: decided(completeSeen, func(f *facts) { f.record.full = true }),
			want:  wait(v1alpha1.ReasonLogFull),
		},
		"a record that is full, and nothing to send": {
			facts: bound(func(f *facts) { f.record.full = true }),
			want:  wait(v1alpha1.ReasonAccepted),
		},
	}
}

// lostCalls are those of another process, whose result is open.
func lostCalls() map[string]decideCase {
	lost := func(changes ...func(*facts)) facts {
		return decidedBefore(completeSeen, completeCall, "", 1, changes...)
	}
	resend := &v1alpha1.Call{Kind: v1alpha1.CallResendInvite, Name: "resend", Individual: "jane"}
	return map[string]decideCase{
		"a call of another process is not sent": {
			facts: lost(firstSeenBefore(0)), want: waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
			decided: v1alpha1.ReasonDecisionWaiting,
		},
		"a call of another process is not sent, on request": {
			facts: lost(firstSeenBefore(0), onRequest), want: waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
		},
		"a call of another process is looked for less and less often": {
			facts: lost(firstSeenBefore(30 * time.Second)), want: waitFor(v1alpha1.ReasonAccepted, 30*time.Second),
		},
		"a call of another process, before the settle delay is over": {
			facts: lost(firstSeenBefore(80 * time.Second)), want: waitFor(v1alpha1.ReasonAccepted, 10*time.Second),
		},
		"a call that this process has only just seen": {
			why:   "by the clock of the machine that sent it, it is long over; that clock may be wrong",
			facts: lost(firstSeenBefore(time.Second)), want: waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
		},
		"a call of another process, whatever is asked for": {
			why: "one call at a time",
			facts: lost(firstSeenBefore(0), func(f *facts) {
				f.act.archive, f.application.reviews = true, reviews()
			}),
			want: waitFor(v1alpha1.ReasonNotArchived, 5*time.Second),
		},
		"a lost call that does not show is sent again": {
			facts: lost(), want: decision{Step: stepBegin}, call: completeCall,
		},
		"a lost call that was lost before": {
			facts: decidedBefore(completeSeen, completeCall, "", 2), want: decision{Step: stepResolveLost},
		},
		"a lost call that shows": {
			facts: lost(func(f *facts) { f.application.stage = lifecycle.Completed }),
			want:  decision{Step: stepResolveLost},
		},
		"a lost call that shows, before the settle delay is over": {
			why:   "its process may be about to write so",
			facts: lost(firstSeenBefore(0), func(f *facts) { f.application.stage = lifecycle.Completed }),
			want:  waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
		},
		"a lost call that nobody asks for any more": {
			facts: lost(func(f *facts) { f.act.decision = v1alpha1.Decision{} }), want: decision{Step: stepResolveLost},
		},
		"a lost call, and the opposite is asked for": {
			facts: lost(func(f *facts) { f.act.decision = rejectSeen }), want: decision{Step: stepResolveLost},
		},
		"a lost call about other evidence": {
			facts: lost(shows("new-2")), want: decision{Step: stepResolveLost},
		},
		"a lost call that is not the next one": {
			why:   "one call at a time",
			facts: lost(func(f *facts) { f.act.archive = true }), want: decision{Step: stepResolveLost},
		},
		"a lost call of a Mandate with an outcome": {
			facts: lost(func(f *facts) {
				f.outcome, f.observe.openCall = v1alpha1.OutcomeCompleted, true
				f.application = applicationFacts{}
			}),
			want: decision{Step: stepRead},
		},
		"a lost action": {
			facts: decidedBefore(completeSeen, resend, "", 1), want: decision{Step: stepResolveLost},
		},
		"an action of another process": {
			facts: decidedBefore(completeSeen, resend, "", 1, firstSeenBefore(0)),
			want:  waitFor(v1alpha1.ReasonAccepted, 5*time.Second),
		},
		"an open call is looked for before the application is read": {
			why: "what the read shows is to be compared with it",
			facts: bound(func(f *facts) {
				f.application, f.record.lookup = applicationFacts{}, recordUnread
				f.observe.ownAccount, f.observe.openCall = true, true
			}),
			want: decision{Step: stepReadRecord},
		},
		"a call that is delayed is not sent": {
			why: "another process may take it for lost",
			facts: decided(completeSeen, func(f *facts) {
				f.attempt = calling(v1alpha1.CallComplete, attemptVerified)
				f.attempt.started = now.Add(-time.Minute)
			}),
			want: decision{Step: stepConclude},
		},
		"a call that is not ordered any more is not sent": {
			facts: decided(completeSeen, func(f *facts) { f.attempt = calling(v1alpha1.CallComplete, attemptWithdrawn) }),
			want:  decision{Step: stepConclude},
		},
		"a call that is answered": {
			facts: decided(completeSeen, func(f *facts) {
				f.attempt, f.deletion.requested = calling(v1alpha1.CallComplete, attemptAnswered), true
				f.attempt.outcome = client.Done
			}),
			want: decision{Step: stepConclude},
		},
		"createBefore says nothing of other calls": {
			facts: decided(completeSeen, func(f *facts) {
				f.attempt, f.create.createBefore = calling(v1alpha1.CallComplete, attemptVerified), now.Add(-day)
			}),
			want: decision{Step: stepSend},
		},
	}
}

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

// calling is a call that this reconciliation has just begun.
func calling(kind v1alpha1.CallKind, phase attemptPhase) attemptFacts {
	return attemptFacts{kind: kind, phase: phase, started: now, looked: now}
}

// creating is a create that this reconciliation has just begun.
func creating(phase attemptPhase) attemptFacts { return calling(v1alpha1.CallCreate, phase) }

// createAnswered is a create of which the answer says so.
func createAnswered(outcome client.Outcome) attemptFacts {
	attempt := creating(attemptAnswered)
	attempt.outcome = outcome
	return attempt
}
