package mandate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// newMandate is the facts of a Mandate that nothing has been done for, with everything in place; change makes the case
// out of it.
func newMandate(change func(*facts)) facts {
	f := facts{
		now: now, settleDelay: 90 * time.Second,
		service: serviceFacts{Exists: true, Known: true, Ready: true},
		record:  recordFacts{lookup: recordMissing},
		create:  createFacts{inputs: inputsFacts{digest: "now"}},
		observe: observeFacts{confirmDelay: 5 * time.Minute},
	}
	change(&f)
	return f
}

// sent is a record of ours whose attempt may have reached the service that long ago, and was seen ever since.
func sent(ago time.Duration, change func(*recordFacts)) recordFacts {
	r := recordFacts{
		lookup:       recordFound,
		sends:        1,
		inputs:       "then",
		firstStarted: now.Add(-ago),
		observed:     now.Add(-ago),
	}
	if change != nil {
		change(&r)
	}
	return r
}

// refused is a record of an attempt that created nothing.
func refused(answer v1alpha1.CallAnswer) recordFacts {
	return recordFacts{lookup: recordFound, answer: answer, inputs: "now"}
}

const day = 24 * time.Hour

// decideCase is a case of TestDecide.
type decideCase struct {
	why   string
	facts facts
	want  decision
	call  *v1alpha1.Call // that begins, of the application; nil: none does
	// decided is what Decided says of spec.decision; "" if the case does not hold it.
	decided string
}

func decideCases() []map[string]decideCase {
	return []map[string]decideCase{
		creations(), answers(), otherAccounts(), named(), applications(), decisions(), loggedDecisions(), lostCalls(),
		loggedCalls(), deletions(), loggedDeletions(), settlements(), subscriptions(),
	}
}

func TestDecide(t *testing.T) {
	for _, cases := range decideCases() {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				got := decide(c.facts)
				if got != c.want {
					t.Errorf("decide gives %+v, want %+v\n%s", got, c.want, c.why)
				}
				var begins *v1alpha1.Call
				if got.Step == stepBegin && c.facts.id != 0 {
					begins = nextOrder(c.facts)
				}
				if diff := cmp.Diff(c.call, begins); diff != "" {
					t.Errorf("the call that begins differs (-want +got):\n%s%s", diff, c.why)
				}
				if got := decisionReason(c.facts); c.decided != "" && got != c.decided {
					t.Errorf("Decided says %q, want %q\n%s", got, c.decided, c.why)
				}
			})
		}
	}
}

func creations() map[string]decideCase {
	return map[string]decideCase{
		"the ledger comes first": {
			why:   "a Mandate that was deleted and applied again has an application already",
			facts: newMandate(func(f *facts) { f.record.lookup = recordUnread }),
			want:  decision{Step: stepReadRecord},
		},
		"an outcome without an application": {
			why:   "somebody has edited the status, and the ledger was lost: what it tells of may have e-mailed people",
			facts: newMandate(func(f *facts) { f.outcome = v1alpha1.OutcomeCompleted }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an outcome without an application, and nobody has looked": {
			facts: newMandate(func(f *facts) {
				f.outcome, f.create.neverReconciled = v1alpha1.OutcomeCompleted, true
				f.record.lookup = recordUnread
			}),
			want: decision{Step: stepReadRecord},
		},
		"the record of a new Mandate is created without looking": {
			why:   "whether there is one is what creating it shows",
			facts: newMandate(func(f *facts) { f.create.neverReconciled, f.record.lookup = true, recordUnread }),
			want:  decision{Step: stepClaim},
		},
		"inputs before a claim without looking": {
			facts: newMandate(func(f *facts) {
				f.create.neverReconciled = true
				f.record.lookup = recordUnread
				f.create.inputs = inputsFacts{}
			}),
			want: decision{Step: stepResolve},
		},
		"a new Mandate that cannot be created is looked for": {
			why: "it may have been applied again, and then it has an application that needs no Secret any more",
			facts: newMandate(func(f *facts) {
				f.create.neverReconciled = true
				f.record.lookup = recordUnread
				f.create.inputs.problem = v1alpha1.ReasonSecretNotFound
			}),
			want: decision{Step: stepReadRecord},
		},
		"a new Mandate after its deadline is looked for": {
			facts: newMandate(func(f *facts) {
				f.create.neverReconciled = true
				f.record.lookup = recordUnread
				f.create.createBefore = now
			}),
			want: decision{Step: stepReadRecord},
		},
		"inputs before the claim": {
			why:   "a claim that cannot be followed by a request would count as one that may have been sent",
			facts: newMandate(func(f *facts) { f.create.inputs = inputsFacts{} }),
			want:  decision{Step: stepResolve},
		},
		"a missing Secret claims nothing": {
			facts: newMandate(func(f *facts) { f.create.inputs.problem = v1alpha1.ReasonSecretNotFound }),
			want:  wait(v1alpha1.ReasonSecretNotFound),
		},
		"claim": {facts: newMandate(func(*facts) {}), want: decision{Step: stepClaim}},
		"after the claim the live Mandate is read": {
			facts: newMandate(func(f *facts) { f.attempt = creating(attemptBegun) }),
			want:  decision{Step: stepVerify},
		},
		"a Mandate that was edited after the claim is not sent": {
			facts: newMandate(func(f *facts) { f.attempt = creating(attemptWithdrawn) }),
			want:  decision{Step: stepConclude},
		},
		"post": {
			facts: newMandate(func(f *facts) { f.attempt = creating(attemptVerified) }),
			want:  decision{Step: stepSend},
		},
		"after a slow look, the live Mandate is read again": {
			facts: newMandate(func(f *facts) {
				f.attempt = creating(attemptVerified)
				f.attempt.looked = now.Add(-time.Second - 1)
			}),
			want: decision{Step: stepVerify},
		},
		"after many slow looks, it is not sent": {
			facts: newMandate(func(f *facts) {
				f.attempt = creating(attemptVerified)
				f.attempt.looked, f.attempt.looks = now.Add(-2*time.Second), engine.MaxLooks
			}),
			want: decision{Step: stepConclude},
		},
		"a delayed attempt is not sent": {
			why: "another operator may take it for lost, and both would send",
			facts: newMandate(func(f *facts) {
				f.attempt = creating(attemptVerified)
				f.attempt.started = now.Add(-time.Minute)
			}),
			want: decision{Step: stepConclude},
		},
		"the deadline holds at the last moment": {
			facts: newMandate(func(f *facts) { f.attempt, f.create.createBefore = creating(attemptVerified), now }),
			want:  decision{Step: stepConclude},
		},
		"a created application is deposited, even while the Mandate is being deleted": {
			facts: newMandate(func(f *facts) {
				f.attempt, f.deletion.requested = createAnswered(client.Done), true
				f.attempt.id = 7
			}),
			want: decision{Step: stepDeposit},
		},
		"an unknown outcome writes nothing and waits": {
			why:   "the claim says already that the request may have been sent",
			facts: newMandate(func(f *facts) { f.attempt = createAnswered(client.Unknown) }),
			want:  waitFor(v1alpha1.ReasonSettling, 90*time.Second),
		},
		"a refusal is concluded": {
			facts: newMandate(func(f *facts) {
				f.attempt = createAnswered(client.Refused)
				f.attempt.answer = v1alpha1.AnswerRefused
			}),
			want: decision{Step: stepConclude},
		},
		"a refusal that the API server does not record shows": {
			facts: newMandate(func(f *facts) {
				f.attempt = createAnswered(client.Refused)
				f.attempt.end = endRefused
			}),
			want: decision{Step: stepShowPending},
		},
		"then only that is tried again": {
			facts: newMandate(func(f *facts) {
				f.attempt = createAnswered(client.Refused)
				f.attempt.end = endShown
			}),
			want: decision{Step: stepConclude},
		},
		"a refused application is not sent again": {
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerRefused)
			}),
			want: wait(v1alpha1.ReasonRefused),
		},
		"a refused application is sent again after an edit": {
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerRefused)
				f.record.inputs = "then"
			}),
			want: decision{Step: stepBegin},
		},
		"a reference that exists at the service": {
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerDuplicate)
			}),
			want: wait(v1alpha1.ReasonReferenceConflict),
		},
		"a refused application is sent again under another reference": {
			why: "the default reference is another one since the referencePrefix was edited",
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerDuplicate)
				f.record.otherReference = true
			}),
			want: decision{Step: stepBegin},
		},
		"a refused application is sent again to another service": {
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerRefused)
				f.record.otherURL = true
			}),
			want: decision{Step: stepBegin},
		},
		"what may exist under another reference": {
			why: "a name has one application, ever",
			facts: newMandate(
				func(f *facts) { f.record = unclear(time.Second, func(r *recordFacts) { r.otherReference = true }) },
			),
			want: wait(v1alpha1.ReasonApplicationExists),
		},
		"an application under another reference": {
			facts: newMandate(func(f *facts) { f.record = recordFacts{lookup: recordFound, otherReference: true, id: 7} }),
			want:  wait(v1alpha1.ReasonApplicationExists),
		},
		"an application under another reference, after the deadline": {
			facts: newMandate(func(f *facts) {
				f.record = recordFacts{lookup: recordFound, otherReference: true, id: 7}
				f.create.createBefore = now
			}),
			want: wait(v1alpha1.ReasonApplicationExists),
		},
		"what was sent to another service is not sent to this one": {
			why: "it would create a second application, and not find out about the first",
			facts: newMandate(
				func(f *facts) { f.record = unclear(time.Hour, func(r *recordFacts) { r.otherURL = true }) },
			),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"an application at another service, and under another reference": {
			facts: newMandate(func(f *facts) {
				f.record = recordFacts{lookup: recordFound, otherURL: true, otherReference: true, id: 7}
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"an application under another reference is not adopted": {
			facts: newMandate(func(f *facts) {
				f.create.adopt = 7
				f.record = recordFacts{lookup: recordFound, otherReference: true, id: 7}
			}),
			want: wait(v1alpha1.ReasonApplicationExists),
		},
		"what may exist under another reference keeps others from being adopted": {
			facts: newMandate(func(f *facts) {
				f.create.adopt = 8
				f.record = sent(time.Hour, func(r *recordFacts) { r.otherReference = true })
			}),
			want: wait(v1alpha1.ReasonApplicationExists),
		},
		"a record that created nothing under another reference is used to adopt": {
			facts: newMandate(func(f *facts) {
				f.create.adopt, f.record = 7, refused(v1alpha1.AnswerDuplicate)
				f.record.otherReference = true
				f.application = applicationFacts{lookup: applicationFound, reference: referenceHidden}
			}),
			want: decision{Step: stepAdopt},
		},
		"another application than the one at another service is not adopted": {
			facts: newMandate(func(f *facts) {
				f.create.adopt, f.record = 8, recordFacts{lookup: recordFound, otherURL: true, id: 7}
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"an application that another service does not have is not adopted": {
			facts: newMandate(func(f *facts) {
				f.create.adopt, f.record = 7, recordFacts{lookup: recordFound, otherURL: true, id: 7}
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"an application of a service that has moved is adopted": {
			why: "it is shown with its reference",
			facts: newMandate(func(f *facts) {
				f.create.adopt, f.record = 7, recordFacts{lookup: recordFound, otherURL: true, id: 7}
				f.application = applicationFacts{lookup: applicationFound, reference: referenceHidden}
			}),
			want: decision{Step: stepAdopt},
		},
		"an attempt of unknown outcome settles": {
			facts: newMandate(func(f *facts) { f.record = sent(30*time.Second, nil) }),
			want:  waitFor(v1alpha1.ReasonSettling, time.Minute),
		},
		"then its reference is sent again": {
			facts: newMandate(func(f *facts) { f.record = sent(91*time.Second, nil) }),
			want:  decision{Step: stepBegin},
		},
		"not by another account, in which it is free": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(91*time.Second, func(r *recordFacts) { r.account = accountOther })
			}),
			want: wait(reasonOtherAccount),
		},
		"what another account refused is sent again": {
			why: "it certainly created nothing, and this one may create it",
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerRefused)
				f.record.account = accountOther
			}),
			want: decision{Step: stepBegin},
		},
		"not if it said that the reference exists": {
			why: "that may be an earlier application of this Mandate, of which the ledger was lost",
			facts: newMandate(func(f *facts) {
				f.record = refused(v1alpha1.AnswerDuplicate)
				f.record.account = accountOther
			}),
			want: wait(v1alpha1.ReasonReferenceConflict),
		},
		"an attempt that this process has only just seen settles": {
			why: "by the clock of the machine that made it, it is long over; that clock may be wrong",
			facts: newMandate(func(f *facts) {
				f.record = sent(createWindow-time.Minute, func(r *recordFacts) { r.observed = now })
			}),
			want: waitFor(v1alpha1.ReasonSettling, 90*time.Second),
		},
		"an attempt that was not sent after an unknown one needs not settle": {
			why: "it has ended, and the one before had settled",
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Second, func(r *recordFacts) { r.answer = v1alpha1.AnswerNotSent })
			}),
			want: decision{Step: stepBegin},
		},
		"a refusal after an unknown attempt waits for an edit": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(time.Second, func(r *recordFacts) { r.answer, r.inputs = v1alpha1.AnswerRefused, "now" })
			}),
			want: wait(v1alpha1.ReasonRefused),
		},
		"a refusal after an unknown attempt is sent again after an edit": {
			why: "under the same reference, so that the service refuses it if the unknown attempt created an application",
			facts: newMandate(func(f *facts) {
				f.record = sent(time.Second, func(r *recordFacts) { r.answer = v1alpha1.AnswerRefused })
			}),
			want: decision{Step: stepBegin},
		},
		"a duplicate after an unknown attempt is final": {
			why: "the application exists and its id is lost",
			facts: newMandate(func(f *facts) {
				f.record = unclear(5*time.Minute, func(r *recordFacts) { r.answer, r.sends = v1alpha1.AnswerDuplicate, 2 })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"after that, another spec changes nothing": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(5*time.Minute, func(r *recordFacts) {
					r.answer = v1alpha1.AnswerDuplicate
					r.sends = 2
					r.inputs = "then"
				})
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"too many unknown attempts": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(5*time.Minute, func(r *recordFacts) { r.sends = ledger.MaxSends(v1alpha1.CallCreate) })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt within the hour": {
			facts: newMandate(func(f *facts) { f.record = sent(createWindow-time.Second, nil) }),
			want:  decision{Step: stepBegin},
		},
		"an unknown attempt after an hour": {
			why:   "somebody may have deleted the application, and the service would create it again",
			facts: newMandate(func(f *facts) { f.record = unclear(createWindow, nil) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt that is nearly eight weeks old": {
			why:   "the service may forget the reference with the application, and create again",
			facts: newMandate(func(f *facts) { f.record = unclear(50*day, nil) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"the first attempt counts, not the last": {
			facts: newMandate(func(f *facts) {
				f.record = unclear(createWindow, func(r *recordFacts) { r.observed, r.sends = now.Add(-5*time.Minute), 2 })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt beyond eight weeks": {
			facts: newMandate(func(f *facts) { f.record = unclear(57*day, nil) }),
			want:  wait(reasonVanished),
		},
		"createBefore forbids the second attempt too": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.createBefore = unclear(5*time.Minute, nil), now.Add(-time.Minute)
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"createBefore": {
			facts: newMandate(func(f *facts) { f.create.createBefore = now }),
			want:  wait(v1alpha1.ReasonCreateDeadlinePassed),
		},
		"adoption waits for an attempt that may be under way": {
			why:   "adopting changes the record, and the attempt would not be the recorded one any more",
			facts: newMandate(func(f *facts) { f.create.adopt, f.record = 7, sent(10*time.Second, nil) }),
			want:  waitFor(v1alpha1.ReasonSettling, 80*time.Second),
		},
		"an application that another Mandate has is not adopted": {
			facts: newMandate(func(f *facts) { f.create.adopt, f.create.adoptedByOther = 7, true }),
			want:  wait(v1alpha1.ReasonAdoptionRefused),
		},
		"suspend": {facts: bound(func(f *facts) { f.suspended = true }), want: wait(v1alpha1.ReasonSuspended)},
		"no IdentityService": {
			facts: newMandate(func(f *facts) { f.service = serviceFacts{} }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotFound),
		},
		"a ClusterIdentityService of others": {
			facts: newMandate(func(f *facts) { f.service = serviceFacts{Exists: true, Denied: true} }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotAllowed),
		},
		"a ClusterIdentityService of others, with an application": {
			why: "it was selected once: nothing is read or decided with credentials that are not for this namespace any more",
			facts: bound(func(f *facts) {
				f.service, f.application = serviceFacts{Exists: true, Denied: true}, applicationFacts{}
			}),
			want: wait(v1alpha1.ReasonIdentityServiceNotAllowed),
		},
		"a ClusterIdentityService of others, to adopt from": {
			facts: newMandate(func(f *facts) { f.create.adopt, f.service = 7, serviceFacts{Exists: true, Denied: true} }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotAllowed),
		},
		"an IdentityService that is being deleted": {
			why:   "nothing new is sent by way of a service that is being deleted",
			facts: newMandate(func(f *facts) { f.service.Deleting = true }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotReady),
		},
		"an IdentityService that is being deleted, with an application": {
			why:   "it is there until this is done",
			facts: bound(func(f *facts) { f.service.Deleting, f.application = true, applicationFacts{} }),
			want:  decision{Step: stepRead},
		},
		"an IdentityService without a connection yet": {
			facts: newMandate(func(f *facts) { f.service, f.record.lookup = serviceFacts{Exists: true}, recordUnread }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotReady),
		},
		"an unknown outcome, and the ledger lost": {
			facts: newMandate(func(f *facts) { f.create.unknown = true }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an IdentityService that is not ready": {
			facts: newMandate(func(f *facts) { f.service.Ready = false }),
			want:  wait(v1alpha1.ReasonIdentityServiceNotReady),
		},
	}
}
