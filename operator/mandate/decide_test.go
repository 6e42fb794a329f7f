package mandate

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// fresh is a Mandate that nothing has been done for, with everything in place; change makes the case out of it.
func fresh(change func(*facts)) facts {
	f := facts{
		now: now, settleDelay: 90 * time.Second, secondLook: 5 * time.Minute,
		service: serviceFacts{exists: true, known: true, ready: true},
		records: recordsFacts{read: true},
		inputs:  inputsFacts{resolved: true, fingerprint: "now"},
	}
	change(&f)
	return f
}

// sent is a record of ours whose attempt may have reached the service that long ago, and was seen ever since.
func sent(ago time.Duration, change func(*recordsFacts)) recordsFacts {
	r := recordsFacts{read: true, exists: true, mine: true, sent: true, ordinal: 1, inputs: "then", first: now.Add(-ago), observed: now.Add(-ago)}
	if change != nil {
		change(&r)
	}
	return r
}

const day = 24 * time.Hour

// decision is a case of TestDecide.
type decision struct {
	why   string
	facts facts
	want  next
}

func TestDecide(t *testing.T) {
	for _, cases := range []map[string]decision{creations(), applications(), deletions()} {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				if got := decide(c.facts); got != c.want {
					t.Errorf("decide gives %+v, want %+v\n%s", got, c.want, c.why)
				}
			})
		}
	}
}

func creations() map[string]decision {
	return map[string]decision{
		"the ledger comes first": {
			why:   "a Mandate that was deleted and applied again has an application already",
			facts: fresh(func(f *facts) { f.records.read = false }),
			want:  next{step: stepReadRecord},
		},
		"the record of a new Mandate is created without looking": {
			why:   "whether there is one is what creating it tells",
			facts: fresh(func(f *facts) { f.untouched, f.records.read = true, false }),
			want:  next{step: stepClaim},
		},
		"inputs before a claim without looking": {
			facts: fresh(func(f *facts) { f.untouched, f.records.read, f.inputs = true, false, inputsFacts{} }),
			want:  next{step: stepResolve},
		},
		"a new Mandate that cannot be created is looked for": {
			why: "it may have been applied again, and then it has an application that needs no Secret any more",
			facts: fresh(func(f *facts) {
				f.untouched, f.records.read, f.inputs.problem = true, false, v1alpha1.ReasonSecretNotFound
			}),
			want: next{step: stepReadRecord},
		},
		"a new Mandate after its deadline is looked for": {
			facts: fresh(func(f *facts) { f.untouched, f.records.read, f.createBefore = true, false, now }),
			want:  next{step: stepReadRecord},
		},
		"an edited Mandate is never new": {
			why:   "an attempt may be on record under the reference that it had before",
			facts: fresh(func(f *facts) { f.untouched, f.edited, f.records.read = true, true, false }),
			want:  next{step: stepReadRecord},
		},
		"inputs before the claim": {
			why:   "a claim that cannot be followed by a request would count as one that may have been sent",
			facts: fresh(func(f *facts) { f.inputs = inputsFacts{} }),
			want:  next{step: stepResolve},
		},
		"a missing Secret claims nothing": {
			facts: fresh(func(f *facts) { f.inputs.problem = v1alpha1.ReasonSecretNotFound }),
			want:  rest(v1alpha1.ReasonSecretNotFound),
		},
		"claim": {facts: fresh(func(*facts) {}), want: next{step: stepClaim}},
		"an edited Mandate looks for what was sent before the edit": {
			why:   "an attempt under the old reference may have created an application",
			facts: fresh(func(f *facts) { f.edited = true }),
			want:  next{step: stepListRecords},
		},
		"what was sent before the edit was unknown": {
			facts: fresh(func(f *facts) {
				f.edited, f.records = true, sent(time.Second, func(r *recordsFacts) { r.listed = true })
			}),
			want: next{stepRest, v1alpha1.ReasonSettling, 89 * time.Second},
		},
		"after the claim the live Mandate is read": {
			facts: fresh(func(f *facts) { f.attempt = attemptFacts{begun: true, started: now} }),
			want:  next{step: stepVerify},
		},
		"a Mandate that was edited after the claim is not sent": {
			facts: fresh(func(f *facts) { f.attempt = attemptFacts{begun: true, started: now, changed: true} }),
			want:  next{step: stepConclude},
		},
		"post": {
			facts: fresh(func(f *facts) { f.attempt = attemptFacts{begun: true, started: now, verified: true} }),
			want:  next{step: stepPost},
		},
		"an attempt that was held up is not sent": {
			why:   "another operator may take it for lost, and both would send",
			facts: fresh(func(f *facts) { f.attempt = attemptFacts{begun: true, started: now.Add(-time.Minute), verified: true} }),
			want:  next{step: stepConclude},
		},
		"the deadline holds at the last moment": {
			facts: fresh(func(f *facts) {
				f.attempt, f.createBefore = attemptFacts{begun: true, started: now, verified: true}, now
			}),
			want: next{step: stepConclude},
		},
		"a created application is deposited, even while the Mandate is being deleted": {
			facts: fresh(func(f *facts) {
				f.attempt, f.deletion.requested = attemptFacts{begun: true, started: now, verified: true, posted: true, id: 7}, true
			}),
			want: next{step: stepDeposit},
		},
		"an unknown outcome writes nothing and waits": {
			why:   "the claim says already that the request may have been sent",
			facts: fresh(func(f *facts) { f.attempt = attemptFacts{begun: true, started: now, verified: true, posted: true} }),
			want:  next{stepRest, v1alpha1.ReasonSettling, 90 * time.Second},
		},
		"a refusal is concluded": {
			facts: fresh(func(f *facts) {
				f.attempt = attemptFacts{begun: true, started: now, verified: true, posted: true, outcome: client.Refused, kind: client.KindInvalid}
			}),
			want: next{step: stepConclude},
		},
		"a refused application is not sent again": {
			facts: fresh(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, mine: true, ordinal: 1, verdict: v1alpha1.VerdictRefused, inputs: "now"}
			}),
			want: rest(v1alpha1.ReasonRefused),
		},
		"a refused application is sent again after an edit": {
			facts: fresh(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, mine: true, ordinal: 1, verdict: v1alpha1.VerdictRefused, inputs: "then"}
			}),
			want: next{step: stepRetake},
		},
		"a reference of somebody else at the service": {
			facts: fresh(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, mine: true, ordinal: 1, verdict: v1alpha1.VerdictTaken, inputs: "now"}
			}),
			want: rest(v1alpha1.ReasonReferenceConflict),
		},
		"a reference of another Mandate": {
			facts: fresh(func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.mine = false }) }),
			want:  rest(v1alpha1.ReasonReferenceConflict),
		},
		"a reference that another Mandate gave up": {
			why: "its attempt provably left nothing at the service",
			facts: fresh(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, abandoned: true, ordinal: 1, verdict: v1alpha1.VerdictRefused}
			}),
			want: next{step: stepRelease},
		},
		"a reference that another Mandate still wants": {
			why: "the two would take it from each other, and send, for ever",
			facts: fresh(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, ordinal: 1, verdict: v1alpha1.VerdictRefused}
			}),
			want: rest(v1alpha1.ReasonReferenceConflict),
		},
		"an edited Mandate looks elsewhere even if its reference has a record": {
			why: "it was edited to and fro: what was sent under the reference between the edits counts",
			facts: fresh(func(f *facts) {
				f.edited = true
				f.records = recordsFacts{read: true, exists: true, mine: true, ordinal: 1, verdict: v1alpha1.VerdictRefused, inputs: "then"}
			}),
			want: next{step: stepListRecords},
		},
		"what was sent to another service is not sent to this one": {
			why:   "it would create a second application, and not find out about the first",
			facts: fresh(func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.elsewhere = true }) }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an application at another service": {
			facts: fresh(func(f *facts) { f.records = recordsFacts{read: true, exists: true, mine: true, elsewhere: true, id: 7} }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an attempt of unknown outcome settles": {
			facts: fresh(func(f *facts) { f.records = sent(30*time.Second, nil) }),
			want:  next{stepRest, v1alpha1.ReasonSettling, time.Minute},
		},
		"then its reference is sent again": {
			facts: fresh(func(f *facts) { f.records = sent(91*time.Second, nil) }),
			want:  next{step: stepRetake},
		},
		"an attempt that this process has only just seen settles": {
			why: "by the clock of the machine that made it, it is long over; that clock may be wrong",
			facts: fresh(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) { r.observed = now })
			}),
			want: next{stepRest, v1alpha1.ReasonSettling, 90 * time.Second},
		},
		"an attempt that was not sent after an unknown one needs not settle": {
			why: "it has ended, and the one before had settled",
			facts: fresh(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict = v1alpha1.VerdictNotSent })
			}),
			want: next{step: stepRetake},
		},
		"a refusal after an unknown attempt waits for an edit": {
			facts: fresh(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict, r.inputs = v1alpha1.VerdictRefused, "now" })
			}),
			want: rest(v1alpha1.ReasonRefused),
		},
		"a refusal after an unknown attempt is sent again after an edit": {
			why: "under the same reference, so that the service refuses it if the unknown attempt created an application",
			facts: fresh(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict = v1alpha1.VerdictRefused })
			}),
			want: next{step: stepRetake},
		},
		"a duplicate after an unknown attempt is final": {
			why: "the application exists and its id is lost",
			facts: fresh(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) { r.verdict, r.ordinal = v1alpha1.VerdictTaken, 2 })
			}),
			want: rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"after that, another spec changes nothing": {
			facts: fresh(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) { r.verdict, r.ordinal, r.inputs = v1alpha1.VerdictTaken, 2, "then" })
			}),
			want: rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"too many unknown attempts": {
			facts: fresh(func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.ordinal = maxAttempts }) }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt that is nearly eight weeks old": {
			why:   "the service may forget the reference with the application, and create again",
			facts: fresh(func(f *facts) { f.records = sent(50*day, nil) }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"the first attempt counts, not the last": {
			facts: fresh(func(f *facts) {
				f.records = sent(50*day, func(r *recordsFacts) { r.observed, r.ordinal = now.Add(-day), 2 })
			}),
			want: rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt beyond eight weeks": {
			facts: fresh(func(f *facts) { f.records = sent(57*day, nil) }),
			want:  rest(reasonVanished),
		},
		"createBefore forbids the second attempt too": {
			facts: fresh(func(f *facts) { f.records, f.createBefore = sent(time.Hour, nil), now.Add(-time.Minute) }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"createBefore": {
			facts: fresh(func(f *facts) { f.createBefore = now }),
			want:  rest(v1alpha1.ReasonCreateDeadlinePassed),
		},
		"adoption waits for an attempt that may be under way": {
			why:   "adopting changes the record, and the attempt would not be the recorded one any more",
			facts: fresh(func(f *facts) { f.adopt, f.records = 7, sent(10*time.Second, nil) }),
			want:  next{stepRest, v1alpha1.ReasonSettling, 80 * time.Second},
		},
		"an application that another Mandate has is not adopted": {
			facts: fresh(func(f *facts) { f.adopt, f.taken = 7, true }),
			want:  rest(v1alpha1.ReasonAdoptionRefused),
		},
		"suspend": {facts: bound(func(f *facts) { f.suspended = true }), want: rest(v1alpha1.ReasonSuspended)},
		"no IdentityService": {
			facts: fresh(func(f *facts) { f.service = serviceFacts{} }),
			want:  rest(v1alpha1.ReasonServiceNotFound),
		},
		"a ClusterIdentityService of others": {
			facts: fresh(func(f *facts) { f.service = serviceFacts{exists: true, denied: true} }),
			want:  rest(v1alpha1.ReasonServiceNotAllowed),
		},
		"a ClusterIdentityService of others, with an application": {
			why: "it was selected once: nothing is read or decided with credentials that are not for this namespace any more",
			facts: bound(func(f *facts) {
				f.service, f.application = serviceFacts{exists: true, denied: true}, applicationFacts{}
			}),
			want: rest(v1alpha1.ReasonServiceNotAllowed),
		},
		"a ClusterIdentityService of others, to adopt from": {
			facts: fresh(func(f *facts) { f.adopt, f.service = 7, serviceFacts{exists: true, denied: true} }),
			want:  rest(v1alpha1.ReasonServiceNotAllowed),
		},
		"an IdentityService that is being deleted": {
			why:   "whoever deletes a connection wants nothing new to be sent",
			facts: fresh(func(f *facts) { f.service.deleting = true }),
			want:  rest(v1alpha1.ReasonServiceNotReady),
		},
		"an IdentityService that is being deleted, with an application": {
			why:   "it is there until this is done",
			facts: bound(func(f *facts) { f.service.deleting, f.application = true, applicationFacts{} }),
			want:  next{step: stepRead},
		},
		"an IdentityService that was not looked at yet": {
			facts: fresh(func(f *facts) { f.service = serviceFacts{exists: true}; f.records.read = false }),
			want:  rest(v1alpha1.ReasonServiceNotReady),
		},
		"an unknown outcome, and the ledger lost": {
			facts: fresh(func(f *facts) { f.unknown = true }),
			want:  rest(v1alpha1.ReasonOutcomeUnknown),
		},
		"an IdentityService that is not ready": {
			facts: fresh(func(f *facts) { f.service.ready = false }),
			want:  rest(v1alpha1.ReasonServiceNotReady),
		},
	}
}
