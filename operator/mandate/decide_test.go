package mandate

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// newMandate is the facts of a Mandate that nothing has been done for, with everything in place; change makes the case
// out of it.
func newMandate(change func(*facts)) facts {
	f := facts{
		now: now, settleDelay: 90 * time.Second, confirmDelay: 5 * time.Minute,
		service:   serviceFacts{Exists: true, Known: true, Ready: true},
		records:   recordsFacts{read: true},
		inputs:    inputsFacts{resolved: true, digest: "now"},
		confirmed: true,
	}
	change(&f)
	return f
}

// sent is a record of ours whose attempt may have reached the service that long ago, and was seen ever since.
func sent(ago time.Duration, change func(*recordsFacts)) recordsFacts {
	r := recordsFacts{
		read:         true,
		exists:       true,
		mine:         true,
		sent:         true,
		ordinal:      1,
		inputs:       "then",
		firstStarted: now.Add(-ago),
		observed:     now.Add(-ago),
	}
	if change != nil {
		change(&r)
	}
	return r
}

const day = 24 * time.Hour

// decideCase is a case of TestDecide.
type decideCase struct {
	why   string
	facts facts
	want  decision
}

func TestDecide(t *testing.T) {
	for _, cases := range []map[string]decideCase{creations(), applications(), deletions()} {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				if got := decide(c.facts); got != c.want {
					t.Errorf("decide gives %+v, want %+v\n%s", got, c.want, c.why)
				}
			})
		}
	}
}

func creations() map[string]decideCase {
	return map[string]decideCase{
		"the ledger comes first": {
			why:   "a Mandate that was deleted and applied again has an application already",
			facts: newMandate(func(f *facts) { f.records.read = false }),
			want:  decision{Step: stepReadRecord},
		},
		"the record of a new Mandate is created without looking": {
			why:   "whether there is one is what creating it shows",
			facts: newMandate(func(f *facts) { f.neverReconciled, f.records.read = true, false }),
			want:  decision{Step: stepClaim},
		},
		"inputs before a claim without looking": {
			facts: newMandate(func(f *facts) {
				f.neverReconciled = true
				f.records.read = false
				f.inputs = inputsFacts{}
			}),
			want: decision{Step: stepResolve},
		},
		"a new Mandate that cannot be created is looked for": {
			why: "it may have been applied again, and then it has an application that needs no Secret any more",
			facts: newMandate(func(f *facts) {
				f.neverReconciled = true
				f.records.read = false
				f.inputs.problem = v1alpha1.ReasonSecretNotFound
			}),
			want: decision{Step: stepReadRecord},
		},
		"a new Mandate after its deadline is looked for": {
			facts: newMandate(func(f *facts) {
				f.neverReconciled = true
				f.records.read = false
				f.createBefore = now
			}),
			want: decision{Step: stepReadRecord},
		},
		"an edited Mandate is never new": {
			why: "an attempt may be on record under the reference that it had before",
			facts: newMandate(func(f *facts) {
				f.neverReconciled = true
				f.edited = true
				f.records.read = false
			}),
			want: decision{Step: stepReadRecord},
		},
		"inputs before the claim": {
			why:   "a claim that cannot be followed by a request would count as one that may have been sent",
			facts: newMandate(func(f *facts) { f.inputs = inputsFacts{} }),
			want:  decision{Step: stepResolve},
		},
		"a missing Secret claims nothing": {
			facts: newMandate(func(f *facts) { f.inputs.problem = v1alpha1.ReasonSecretNotFound }),
			want:  wait(v1alpha1.ReasonSecretNotFound),
		},
		"claim": {facts: newMandate(func(*facts) {}), want: decision{Step: stepClaim}},
		"an edited Mandate looks for what was sent before the edit": {
			why:   "an attempt under the old reference may have created an application",
			facts: newMandate(func(f *facts) { f.edited = true }),
			want:  decision{Step: stepListRecords},
		},
		"what was sent before the edit was unknown": {
			facts: newMandate(func(f *facts) {
				f.edited, f.records = true, sent(time.Second, func(r *recordsFacts) { r.listed = true })
			}),
			want: waitFor(v1alpha1.ReasonSettling, 89*time.Second),
		},
		"after the claim the live Mandate is read": {
			facts: newMandate(func(f *facts) { f.attempt = attemptFacts{active: true, started: now} }),
			want:  decision{Step: stepVerify},
		},
		"a Mandate that was edited after the claim is not sent": {
			facts: newMandate(func(f *facts) { f.attempt = attemptFacts{active: true, started: now, changed: true} }),
			want:  decision{Step: stepConclude},
		},
		"post": {
			facts: newMandate(func(f *facts) { f.attempt = attemptFacts{active: true, started: now, verified: true} }),
			want:  decision{Step: stepPost},
		},
		"a delayed attempt is not sent": {
			why: "another operator may take it for lost, and both would send",
			facts: newMandate(
				func(f *facts) { f.attempt = attemptFacts{active: true, started: now.Add(-time.Minute), verified: true} },
			),
			want: decision{Step: stepConclude},
		},
		"the deadline holds at the last moment": {
			facts: newMandate(func(f *facts) {
				f.attempt, f.createBefore = attemptFacts{active: true, started: now, verified: true}, now
			}),
			want: decision{Step: stepConclude},
		},
		"a created application is deposited, even while the Mandate is being deleted": {
			facts: newMandate(func(f *facts) {
				f.attempt, f.deletion.requested = attemptFacts{
					active:   true,
					started:  now,
					verified: true,
					posted:   true,
					id:       7,
				}, true
			}),
			want: decision{Step: stepDeposit},
		},
		"an unknown outcome writes nothing and waits": {
			why: "the claim says already that the request may have been sent",
			facts: newMandate(
				func(f *facts) { f.attempt = attemptFacts{active: true, started: now, verified: true, posted: true} },
			),
			want: waitFor(v1alpha1.ReasonSettling, 90*time.Second),
		},
		"a refusal is concluded": {
			facts: newMandate(func(f *facts) {
				f.attempt = attemptFacts{
					active:   true,
					started:  now,
					verified: true,
					posted:   true,
					outcome:  client.Refused,
					kind:     client.KindInvalid,
				}
			}),
			want: decision{Step: stepConclude},
		},
		"a refused application is not sent again": {
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{
					read:    true,
					exists:  true,
					mine:    true,
					ordinal: 1,
					verdict: v1alpha1.VerdictRefused,
					inputs:  "now",
				}
			}),
			want: wait(v1alpha1.ReasonRefused),
		},
		"a refused application is sent again after an edit": {
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{
					read:    true,
					exists:  true,
					mine:    true,
					ordinal: 1,
					verdict: v1alpha1.VerdictRefused,
					inputs:  "then",
				}
			}),
			want: decision{Step: stepRetake},
		},
		"a reference that exists at the service": {
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{
					read:    true,
					exists:  true,
					mine:    true,
					ordinal: 1,
					verdict: v1alpha1.VerdictTaken,
					inputs:  "now",
				}
			}),
			want: wait(v1alpha1.ReasonReferenceConflict),
		},
		"a reference of another Mandate": {
			facts: newMandate(func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.mine = false }) }),
			want:  wait(v1alpha1.ReasonReferenceConflict),
		},
		"a reference that another Mandate gave up": {
			why: "its attempt provably left nothing at the service",
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, abandoned: true, ordinal: 1, verdict: v1alpha1.VerdictRefused}
			}),
			want: decision{Step: stepRelease},
		},
		"a reference that another Mandate still wants": {
			why: "the two would take it from each other, and send, for ever",
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, ordinal: 1, verdict: v1alpha1.VerdictRefused}
			}),
			want: wait(v1alpha1.ReasonReferenceConflict),
		},
		"an edited Mandate lists its records even if its reference has a record": {
			why: "it was edited to and fro: what was sent under the reference between the edits counts",
			facts: newMandate(func(f *facts) {
				f.edited = true
				f.records = recordsFacts{
					read:    true,
					exists:  true,
					mine:    true,
					ordinal: 1,
					verdict: v1alpha1.VerdictRefused,
					inputs:  "then",
				}
			}),
			want: decision{Step: stepListRecords},
		},
		"what was sent to another service is not sent to this one": {
			why: "it would create a second application, and not find out about the first",
			facts: newMandate(
				func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.recordedAtOtherURL = true }) },
			),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an application at another service": {
			facts: newMandate(func(f *facts) {
				f.records = recordsFacts{read: true, exists: true, mine: true, recordedAtOtherURL: true, id: 7}
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an attempt of unknown outcome settles": {
			facts: newMandate(func(f *facts) { f.records = sent(30*time.Second, nil) }),
			want:  waitFor(v1alpha1.ReasonSettling, time.Minute),
		},
		"then its reference is sent again": {
			facts: newMandate(func(f *facts) { f.records = sent(91*time.Second, nil) }),
			want:  decision{Step: stepRetake},
		},
		"an attempt that this process has only just seen settles": {
			why: "by the clock of the machine that made it, it is long over; that clock may be wrong",
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) { r.observed = now })
			}),
			want: waitFor(v1alpha1.ReasonSettling, 90*time.Second),
		},
		"an attempt that was not sent after an unknown one needs not settle": {
			why: "it has ended, and the one before had settled",
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict = v1alpha1.VerdictNotSent })
			}),
			want: decision{Step: stepRetake},
		},
		"a refusal after an unknown attempt waits for an edit": {
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict, r.inputs = v1alpha1.VerdictRefused, "now" })
			}),
			want: wait(v1alpha1.ReasonRefused),
		},
		"a refusal after an unknown attempt is sent again after an edit": {
			why: "under the same reference, so that the service refuses it if the unknown attempt created an application",
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Second, func(r *recordsFacts) { r.verdict = v1alpha1.VerdictRefused })
			}),
			want: decision{Step: stepRetake},
		},
		"a duplicate after an unknown attempt is final": {
			why: "the application exists and its id is lost",
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) { r.verdict, r.ordinal = v1alpha1.VerdictTaken, 2 })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"after that, another spec changes nothing": {
			facts: newMandate(func(f *facts) {
				f.records = sent(time.Hour, func(r *recordsFacts) {
					r.verdict = v1alpha1.VerdictTaken
					r.ordinal = 2
					r.inputs = "then"
				})
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"too many unknown attempts": {
			facts: newMandate(func(f *facts) { f.records = sent(time.Hour, func(r *recordsFacts) { r.ordinal = maxAttempts }) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt that is nearly eight weeks old": {
			why:   "the service may forget the reference with the application, and create again",
			facts: newMandate(func(f *facts) { f.records = sent(50*day, nil) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"the first attempt counts, not the last": {
			facts: newMandate(func(f *facts) {
				f.records = sent(50*day, func(r *recordsFacts) { r.observed, r.ordinal = now.Add(-day), 2 })
			}),
			want: wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an unknown attempt beyond eight weeks": {
			facts: newMandate(func(f *facts) { f.records = sent(57*day, nil) }),
			want:  wait(reasonVanished),
		},
		"createBefore forbids the second attempt too": {
			facts: newMandate(func(f *facts) { f.records, f.createBefore = sent(time.Hour, nil), now.Add(-time.Minute) }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"createBefore": {
			facts: newMandate(func(f *facts) { f.createBefore = now }),
			want:  wait(v1alpha1.ReasonCreateDeadlinePassed),
		},
		"adoption waits for an attempt that may be under way": {
			why:   "adopting changes the record, and the attempt would not be the recorded one any more",
			facts: newMandate(func(f *facts) { f.adopt, f.records = 7, sent(10*time.Second, nil) }),
			want:  waitFor(v1alpha1.ReasonSettling, 80*time.Second),
		},
		"an application that another Mandate has is not adopted": {
			facts: newMandate(func(f *facts) { f.adopt, f.adoptedByOther = 7, true }),
			want:  wait(v1alpha1.ReasonAdoptionRefused),
		},
		"suspend": {facts: bound(func(f *facts) { f.suspended = true }), want: wait(v1alpha1.ReasonSuspended)},
		"no IdentityService": {
			facts: newMandate(func(f *facts) { f.service = serviceFacts{} }),
			want:  wait(v1alpha1.ReasonServiceNotFound),
		},
		"a ClusterIdentityService of others": {
			facts: newMandate(func(f *facts) { f.service = serviceFacts{Exists: true, Denied: true} }),
			want:  wait(v1alpha1.ReasonServiceNotAllowed),
		},
		"a ClusterIdentityService of others, with an application": {
			why: "it was selected once: nothing is read or decided with credentials that are not for this namespace any more",
			facts: bound(func(f *facts) {
				f.service, f.application = serviceFacts{Exists: true, Denied: true}, applicationFacts{}
			}),
			want: wait(v1alpha1.ReasonServiceNotAllowed),
		},
		"a ClusterIdentityService of others, to adopt from": {
			facts: newMandate(func(f *facts) { f.adopt, f.service = 7, serviceFacts{Exists: true, Denied: true} }),
			want:  wait(v1alpha1.ReasonServiceNotAllowed),
		},
		"an IdentityService that is being deleted": {
			why:   "nothing new is sent by way of a service that is being deleted",
			facts: newMandate(func(f *facts) { f.service.Deleting = true }),
			want:  wait(v1alpha1.ReasonServiceNotReady),
		},
		"an IdentityService that is being deleted, with an application": {
			why:   "it is there until this is done",
			facts: bound(func(f *facts) { f.service.Deleting, f.application = true, applicationFacts{} }),
			want:  decision{Step: stepRead},
		},
		"an IdentityService without a connection yet": {
			facts: newMandate(func(f *facts) { f.service, f.records.read = serviceFacts{Exists: true}, false }),
			want:  wait(v1alpha1.ReasonServiceNotReady),
		},
		"an unknown outcome, and the ledger lost": {
			facts: newMandate(func(f *facts) { f.unknown = true }),
			want:  wait(v1alpha1.ReasonOutcomeUnknown),
		},
		"an IdentityService that is not ready": {
			facts: newMandate(func(f *facts) { f.service.Ready = false }),
			want:  wait(v1alpha1.ReasonServiceNotReady),
		},
	}
}
