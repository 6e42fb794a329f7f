package mandate

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// deletion is that of a Mandate whose application is to be deleted, too.
func deletion() deletionFacts {
	return deletionFacts{
		policy: v1alpha1.DeletionPolicyDelete, finalizer: true, requested: true, giveUpTime: now.Add(time.Hour),
	}
}

const outcomeDeleted = v1alpha1.OutcomeDeleted

func deletions() map[string]decideCase {
	return map[string]decideCase{
		"the record has gone, and the service does not show whose application it is": {
			why: "the id may be that of another account's application",
			facts: bound(func(f *facts) {
				f.deletion, f.observe.ownAccount = deletion(), false
				f.record = recordFacts{lookup: recordMissing}
				f.application.reference = referenceHidden
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"the record has gone, and the application is not there": {
			why: "another account does not show it, either",
			facts: bound(func(f *facts) {
				f.deletion, f.observe.ownAccount = deletion(), false
				f.record = recordFacts{lookup: recordMissing}
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"the record has gone, and this process knows that it is the same account": {
			why: "a namespace takes its records first, as often as not",
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), recordFacts{lookup: recordMissing}
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: decision{Step: stepFinalizer},
		},
		"the service has accepted the create, and does not show the application yet": {
			why: "it would be created after the Mandate has gone",
			facts: bound(func(f *facts) {
				f.deletion, f.observe.seen = deletion(), false
				f.record = sent(time.Minute, func(r *recordFacts) { r.id, r.result = 7, v1alpha1.CallAccepted })
				f.createdTime = f.record.firstStarted
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: waitFor(v1alpha1.ReasonDeletionWaiting, time.Minute),
		},
		"the finalizer comes before a create": {
			why:   "a Mandate that is deleted right after the create would be gone before its policy is carried out",
			facts: newMandate(func(f *facts) { f.deletion.policy = v1alpha1.DeletionPolicyArchive }),
			want:  decision{Step: stepFinalizer},
		},
		"a deletion that waits for the service ends": {
			why: "it would keep the namespace from being deleted",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.deletion.giveUpTime = now
				f.service = serviceFacts{}
			}),
			want: decision{Step: stepFinalizer},
		},
		"an outcome Deleted is looked at again": {
			why: "it can be taken back: the service may show the application by now",
			facts: bound(func(f *facts) {
				f.deletion, f.outcome = deletion(), outcomeDeleted
				f.application = applicationFacts{}
			}),
			want: decision{Step: stepRead},
		},
		"an outcome Deleted that was wrong": {
			facts: bound(func(f *facts) {
				f.deletion, f.outcome = deletion(), outcomeDeleted
				f.record = recordFacts{lookup: recordFound, id: 7}
			}),
			want: decision{Step: stepBegin},
			call: &v1alpha1.Call{Kind: v1alpha1.CallDelete},
		},
		"an outcome Deleted, and another 404 of anybody": {
			facts: bound(func(f *facts) {
				f.deletion, f.outcome = deletion(), outcomeDeleted
				f.record = recordFacts{lookup: recordFound, id: 7}
				f.application = applicationFacts{lookup: applicationUnproven}
			}),
			want: decision{Step: stepFinalizer},
		},
		"a finalizer is not removed from a Mandate that has changed": {
			why: "it would be refused again and again: the cache has to catch up first",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application.lookup, f.failureReason = applicationMissing, reasonStaleCache
			}),
			want: wait(reasonStaleCache),
		},
		"an application with another reference is not deleted": {
			why: "the id belongs to an unrelated application: the IdentityService uses another account",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application = applicationFacts{lookup: applicationFound}
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and a 404 from another account": {
			why: "the application would stay, with all that it holds",
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), recordOfAnother()
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: wait(reasonOtherAccount),
		},
		"a Mandate that is deleted, and another account's application": {
			facts: bound(func(f *facts) { f.deletion, f.record = deletion(), recordOfAnother() }),
			want:  wait(reasonOtherAccount),
		},
		"a Mandate that is deleted, and another name of the account": {
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), recordOfAnother()
				f.application.sameAccount = true
			}),
			want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a Mandate that is deleted right after the create, and a 404": {
			why: "a read may lag, and then the application would stay, with all that it holds",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.observe.seen = false
				f.application = applicationFacts{lookup: applicationMissing}
				f.createdTime = now.Add(-20 * time.Second)
			}),
			want: waitFor(v1alpha1.ReasonDeletionWaiting, lagRequeue),
		},
		"a Mandate that is deleted, and a 404 from another service": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application, f.record.otherURL = applicationFacts{lookup: applicationMissing}, true
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and the service has moved": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.record.otherURL, f.application.reference = true, referenceMatched
			}),
			want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a Mandate that is deleted, and the other service shows no references": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.record.otherURL = true
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and its name has an application under another reference": {
			why: "the manifest does not name it",
			facts: newMandate(func(f *facts) {
				f.deletion = deletion()
				f.record = recordFacts{lookup: recordFound, otherReference: true, id: 7}
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and whose application was created from another spec": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.bound, f.application.differs = false, true
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and a 404": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			want: decision{Step: stepFinalizer},
		},
	}
}

// loggedDeletions are Mandates in deletion whose log has a call, and 404s about an application that was deleted.
func loggedDeletions() map[string]decideCase {
	deleted := func(result v1alpha1.CallResult, sends int32, changes ...func(*facts)) facts {
		return bound(func(f *facts) {
			f.deletion, f.record = deletion(), logged(deleteCall, result, sends)
			for _, change := range changes {
				change(f)
			}
		})
	}
	missing := func(f *facts) { f.application = applicationFacts{lookup: applicationMissing} }
	unproven := func(f *facts) { f.application = applicationFacts{lookup: applicationUnproven} }
	lagging := func(f *facts) { f.observe.seen, f.createdTime = false, now.Add(-time.Second) }
	atOtherURL := func(f *facts) { f.record.otherURL = true }
	byAnother := func(f *facts) { f.record.account = accountOther }
	inState := func(stage lifecycle.Stage) func(*facts) { return func(f *facts) { f.application.stage = stage } }
	archiving := func(f *facts) {
		f.deletion.policy = v1alpha1.DeletionPolicyArchive
		f.record.calls[0].Kind = v1alpha1.CallArchive
	}
	// again is the Mandate of a name that was deleted together with its application, and applied again.
	again := func(result v1alpha1.CallResult, changes ...func(*facts)) facts {
		f := deleted(result, 1, append(changes, missing)...)
		f.deletion = deletionFacts{}
		return f
	}
	finalizer, waiting := decision{Step: stepFinalizer}, wait(v1alpha1.ReasonDeletionWaiting)
	return map[string]decideCase{
		"a deletion": {
			facts: bound(func(f *facts) { f.deletion = deletion() }), want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a deletion that was carried out, and a 404": {
			facts: deleted(v1alpha1.CallDone, 1, missing), want: finalizer,
		},
		"a deletion that was carried out, and a 404 that proves nothing": {
			facts: deleted(v1alpha1.CallDone, 1, unproven), want: finalizer,
		},
		"a deletion that was carried out, and a 404 that may be lag": {
			facts: deleted(v1alpha1.CallDone, 1, missing, lagging), want: finalizer,
		},
		"a deletion that was carried out, and a 404 from another service": {
			facts: deleted(v1alpha1.CallDone, 1, missing, atOtherURL), want: finalizer,
		},
		"a deletion that was carried out, and a 404 from another account": {
			facts: deleted(v1alpha1.CallDone, 1, missing, byAnother), want: finalizer,
		},
		"a deletion that was carried out, and still shows": {
			why:   "what an answer says may never come true",
			facts: deleted(v1alpha1.CallDone, 1), want: waiting,
		},
		"a deletion that was carried out, and shows as closed": {
			facts: deleted(v1alpha1.CallDone, 1, inState(lifecycle.Closed)), want: finalizer,
		},
		"a deletion of what is closed already": {
			facts: bound(func(f *facts) { f.deletion, f.application.stage = deletion(), lifecycle.Closed }), want: finalizer,
		},
		"a deletion that the service does later, and a 404 that proves nothing": {
			facts: deleted(v1alpha1.CallAccepted, 1, unproven), want: waiting,
		},
		"a deletion that the service does later, and a 404": {
			facts: deleted(v1alpha1.CallAccepted, 1, missing), want: finalizer,
		},
		"a deletion that was refused": {
			facts: deleted(v1alpha1.CallRefused, 0, sentBefore(0)), want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a deletion that is forbidden": {
			facts: deleted(v1alpha1.CallForbidden, 0, sentBefore(0)), want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a deletion that was refused an hour ago": {
			facts: deleted(v1alpha1.CallRefused, 0), want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a deletion that was refused, on request": {
			facts: deleted(v1alpha1.CallRefused, 0, sentBefore(0), onRequest),
			want:  decision{Step: stepBegin}, call: deleteCall,
		},
		"a deletion that was refused, and there is no more time": {
			facts: deleted(v1alpha1.CallRefused, 0, sentBefore(0), func(f *facts) { f.deletion.giveUpTime = now }),
			want:  finalizer,
		},
		"a deletion whose answer was lost three times": {
			facts: deleted(v1alpha1.CallUnknown, 3), want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a deletion whose answer was lost four times": {facts: deleted(v1alpha1.CallUnknown, 4), want: waiting},
		"a deletion of another process": {
			facts: deleted("", 1, firstSeenBefore(0)), want: waitFor(v1alpha1.ReasonDeletionWaiting, 5*time.Second),
		},
		"a lost deletion that does not show": {
			facts: deleted("", 1), want: decision{Step: stepBegin}, call: deleteCall,
		},
		"a lost deletion, and a 404": {
			facts: deleted("", 1, missing), want: decision{Step: stepResolveLost},
		},
		"a lost deletion, and it shows as closed": {
			facts: deleted("", 1, inState(lifecycle.Closed)), want: decision{Step: stepResolveLost},
		},
		"a deletion of another process, and a 404": {
			why:   "the log says what became of it before the Mandate goes",
			facts: deleted("", 1, missing, firstSeenBefore(0)),
			want:  waitFor(v1alpha1.ReasonDeletionWaiting, openCallRequeue),
		},
		"a deletion of another process, and an odd 404": {
			facts: deleted("", 1, unproven, firstSeenBefore(0)),
			want:  waitFor(v1alpha1.ReasonDeletionWaiting, openCallRequeue),
		},
		"a deletion whose answer was lost, and an odd 404": {
			facts: deleted(v1alpha1.CallUnknown, 1, unproven), want: waiting,
		},
		"a lost decision of a Mandate that is deleted": {
			facts: deleted("", 1, func(f *facts) { f.record = logged(completeCall, "", 1) }),
			want:  decision{Step: stepResolveLost},
		},
		"a decision of another process, of a Mandate that is deleted": {
			facts: deleted("", 1, func(f *facts) { f.record = logged(completeCall, "", 1) }, firstSeenBefore(0)),
			want:  waitFor(v1alpha1.ReasonDeletionWaiting, 5*time.Second),
		},
		"a deletion that the record cannot hold": {
			facts: bound(func(f *facts) { f.deletion, f.record.full = deletion(), true }),
			want:  wait(v1alpha1.ReasonDeletionRefused),
		},
		"an archiving instead of a deletion": {
			facts: deleted(v1alpha1.CallNotSent, 0, archiving), want: decision{Step: stepBegin}, call: archiveCall,
		},
		"an archiving that was carried out, and does not show": {
			facts: deleted(v1alpha1.CallDone, 1, archiving), want: waiting,
		},
		"an archiving that shows": {
			facts: deleted(v1alpha1.CallDone, 1, archiving, func(f *facts) { f.application.archived = true }), want: finalizer,
		},
		"an application that was archived before": {
			facts: bound(func(f *facts) {
				f.deletion, f.application.archived = deletion(), true
				f.deletion.policy = v1alpha1.DeletionPolicyArchive
			}),
			want: finalizer,
		},
		"an application that was deleted with another Mandate of the name": {
			why:   "the service has said so to the operator: no second 404 is needed",
			facts: again(v1alpha1.CallDone), want: wait(reasonVanished),
		},
		"the service may delete it later": {
			facts: again(v1alpha1.CallAccepted), want: waitFor(v1alpha1.ReasonConfirming, 5*time.Minute),
		},
		"it was deleted, and there is a 404 from another service": {
			facts: again(v1alpha1.CallDone, atOtherURL), want: wait(v1alpha1.ReasonIdentityServiceMismatch),
		},
		"it was deleted, and there is a 404 from another account": {
			facts: again(v1alpha1.CallDone, byAnother), want: wait(reasonOtherAccount),
		},
	}
}

// TestLostDeletionShows: that a deletion was carried out whose answer was lost, only a 404 shows that would be believed
// without it.
func TestLostDeletionShows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*facts)
		want   bool
	}{
		"missing": {func(f *facts) { f.application = applicationFacts{lookup: applicationMissing} }, true},
		"missing, of which no proof": {
			func(f *facts) { f.application = applicationFacts{lookup: applicationUnproven} }, false,
		},
		"missing at another service": {
			func(f *facts) { f.application, f.record.otherURL = applicationFacts{lookup: applicationMissing}, true }, false,
		},
		"missing in another account": {
			func(f *facts) {
				f.application, f.record.account = applicationFacts{lookup: applicationMissing}, accountOther
			}, false,
		},
		"closed": {func(f *facts) { f.application.stage = lifecycle.Closed }, true},
		"open":   {func(*facts) {}, false},
	} {
		f := bound(func(f *facts) { f.deletion, f.record = deletion(), logged(deleteCall, "", 1) })
		test.change(&f)
		if got := isShown(f, deleteCall); got != test.want {
			t.Errorf("%s: it shows: %t, want %t", name, got, test.want)
		}
	}
}
