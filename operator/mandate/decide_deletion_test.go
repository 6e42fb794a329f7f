package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// deletion is that of a Mandate whose application is to be deleted, too.
func deletion() deletionFacts {
	return deletionFacts{
		policy: v1alpha1.DeletionPolicyDelete, finalizer: true, requested: true, giveUpTime: now.Add(time.Hour),
	}
}

func deletions() map[string]decideCase {
	return map[string]decideCase{
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
		"a finalizer is not removed from a Mandate that has changed": {
			why: "it would be refused again and again: the cache has to catch up first",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application.missing, f.failureReason = true, reasonStaleCache
			}),
			want: wait(reasonStaleCache),
		},
		"an application with another reference is not deleted": {
			why: "the id belongs to an unrelated application: the IdentityService uses another account",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application = applicationFacts{read: true}
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and a 404 from another account": {
			why: "the application would stay, with all that it holds",
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), recordOfAnother()
				f.application = applicationFacts{missing: true}
			}),
			want: wait(v1alpha1.ReasonAccountChanged),
		},
		"a Mandate that is deleted, and another account's application": {
			facts: bound(func(f *facts) { f.deletion, f.record = deletion(), recordOfAnother() }),
			want:  wait(v1alpha1.ReasonAccountChanged),
		},
		"a Mandate that is deleted, and another name of the account": {
			facts: bound(func(f *facts) {
				f.deletion, f.record = deletion(), recordOfAnother()
				f.application.sameAccount = true
			}),
			want: decision{Step: stepSetAccount},
		},
		"a Mandate that is deleted right after the create, and a 404": {
			why: "a read may lag, and then the application would stay, with all that it holds",
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.seen = false
				f.application = applicationFacts{missing: true}
				f.createdTime = now.Add(-20 * time.Second)
			}),
			want: waitFor(v1alpha1.ReasonDeletionWaiting, lagRequeue),
		},
		"a Mandate that is deleted, and a 404 from another service": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.application, f.record.otherURL = applicationFacts{missing: true}, true
			}),
			want: wait(v1alpha1.ReasonDeletionRefused),
		},
		"a Mandate that is deleted, and the service has moved": {
			facts: bound(func(f *facts) {
				f.deletion = deletion()
				f.record.otherURL, f.application.referenceMatched = true, true
			}),
			want: decision{Step: stepDelete},
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
				f.record = recordFacts{read: true, exists: true, otherReference: true, id: 7}
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
				f.application = applicationFacts{missing: true}
			}),
			want: decision{Step: stepFinalizer},
		},
	}
}
