package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/test/await"
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

// allPassed has the rule hold.
func allPassed(f *facts) { f.application.evidence.checks = checksPassed }

// otherComplete is a decision about other evidence than is shown.
var otherComplete = &v1alpha1.Call{Kind: v1alpha1.CallComplete, Evidence: "before-1"}

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
			why:   "the service may still come to it, and would then be asked twice",
			facts: decidedBefore(completeSeen, otherComplete, v1alpha1.CallDone, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision about other evidence that the service carries out later, on request": {
			facts: decidedBefore(completeSeen, otherComplete, v1alpha1.CallAccepted, 1, onRequest),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision about other evidence whose answer was lost": {
			facts: decidedBefore(completeSeen, otherComplete, v1alpha1.CallUnknown, 1),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision about other evidence that a process has left": {
			facts: decidedBefore(completeSeen, otherComplete, "", 1), want: decision{Step: stepResolveLost}, decided: waiting,
		},
		"a decision that was carried out about other evidence a day ago, and does not show": {
			why:   "a person has named the new evidence: it is another decision",
			facts: decidedBefore(completeSeen, otherComplete, v1alpha1.CallDone, 1, sentBefore(day)),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision by a rule that the service carries out later, and other evidence": {
			facts: decidedBefore(completeRule, otherComplete, v1alpha1.CallAccepted, 1, allPassed),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
		},
		"a decision by a rule that was carried out a day ago, and other evidence": {
			why:   "what was accepted is never sent again by itself",
			facts: decidedBefore(completeRule, otherComplete, v1alpha1.CallDone, 1, allPassed, sentBefore(day)),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision by a rule whose answer was lost a day ago, and other evidence": {
			why:   "it is sent again only if nothing has changed",
			facts: decidedBefore(completeRule, otherComplete, v1alpha1.CallUnknown, 1, allPassed, sentBefore(day)),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision by a rule whose answer was lost": {
			facts: decidedBefore(completeRule, completeCall, v1alpha1.CallUnknown, 1, allPassed),
			want:  decision{Step: stepBegin}, call: completeCall,
		},
		"a decision by a rule a day after the opposite one": {
			facts: decidedBefore(completeRule, rejectCall, v1alpha1.CallAccepted, 1, allPassed, sentBefore(day)),
			want:  decision{Step: stepBegin}, call: completeCall,
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
		"a decision that a process whose clock is fast has sent": {
			why:   "nobody can tell how long ago that was",
			facts: decidedBefore(completeSeen, completeCall, v1alpha1.CallAccepted, 1, sentBefore(-365*day)),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision after the opposite one, which a process whose clock is fast has sent": {
			why:   "it may have been a moment ago",
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallAccepted, 1, sentBefore(-365*day)),
			want:  wait(v1alpha1.ReasonDecisionUnknown), decided: v1alpha1.ReasonDecisionUnknown,
		},
		"a decision after the opposite one, by a clock that is a little fast": {
			facts: decidedBefore(rejectSeen, completeCall, v1alpha1.CallAccepted, 1, sentBefore(-time.Minute)),
			want:  wait(v1alpha1.ReasonAccepted), decided: waiting,
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
		"a call that was looked at before the machine slept": {
			why:   "the monotonic clock stops meanwhile; the Mandate may have changed",
			facts: decided(completeSeen, func(f *facts) { slept(f, calling(v1alpha1.CallComplete, attemptVerified), 2) }),
			want:  decision{Step: stepVerify},
		},
		"a create that was looked at before the machine slept for hours": {
			why:   "another operator may have ended it, and a person ordered another one",
			facts: decided(completeSeen, func(f *facts) { slept(f, creating(attemptVerified), 3600) }),
			want:  decision{Step: stepConclude},
		},
		"createBefore says nothing of other calls": {
			facts: decided(completeSeen, func(f *facts) {
				f.attempt, f.create.createBefore = calling(v1alpha1.CallComplete, attemptVerified), now.Add(-day)
			}),
			want: decision{Step: stepSend},
		},
	}
}

// calling is a call that this reconciliation has just begun.
func calling(kind v1alpha1.CallKind, phase attemptPhase) attemptFacts {
	return attemptFacts{kind: kind, phase: phase, started: now, looked: now}
}

// slept has the machine sleep after the last look of a call.
func slept(f *facts, call attemptFacts, seconds uint32) {
	f.now = time.Now()
	call.started, call.looked = f.now, f.now
	f.attempt, f.now = call, await.Asleep(f.now, seconds)
}

// creating is a create that this reconciliation has just begun.
func creating(phase attemptPhase) attemptFacts { return calling(v1alpha1.CallCreate, phase) }

// createAnswered is a create of which the answer says so.
func createAnswered(outcome client.Outcome) attemptFacts {
	attempt := creating(attemptAnswered)
	attempt.outcome = outcome
	return attempt
}
