package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// named are the cases of applications that a notification names.
func named() map[string]decideCase {
	return map[string]decideCase{
		"an application that is named is read while an attempt settles": {
			why:   "its answer, if it comes, says the same",
			facts: newMandate(func(f *facts) { f.record, f.create.candidates = sent(time.Second, nil), []int64{7} }),
			want:  decision{Step: stepReadCandidate},
		},
		"an application that is named is read after a duplicate": {
			facts: newMandate(func(f *facts) {
				f.record = sent(day, func(r *recordFacts) { r.answer, r.sends = v1alpha1.AnswerDuplicate, 2 })
				f.create.candidates = []int64{7}
			}),
			want: decision{Step: stepReadCandidate},
		},
		"an application that is named is read if the ledger was lost": {
			facts: newMandate(func(f *facts) { f.create.unknown, f.create.candidates = true, []int64{7} }),
			want:  decision{Step: stepReadCandidate},
		},
		"an application that was found is bound": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidates = sent(day, nil), []int64{8, 7}
				f.create.found = 7
			}),
			want: decision{Step: stepBind},
		},
		"an application that is named is read while only writes fail": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidates = sent(time.Second, nil), []int64{7}
				f.service.Ready, f.service.OnlyWritesFail = false, true
			}),
			want: decision{Step: stepReadCandidate},
		},
		"an application that was found while only writes fail": {
			facts: newMandate(func(f *facts) {
				f.id, f.bound = 7, true
				f.application = applicationFacts{lookup: applicationFound, reference: referenceHidden, evidence: seen}
				f.service.Ready, f.service.OnlyWritesFail = false, true
			}),
			want: wait(v1alpha1.ReasonAccepted),
		},
		"a decision about an application that was found while only writes fail": {
			facts: newMandate(func(f *facts) {
				f.id, f.bound = 7, true
				f.act.decision = completeSeen
				f.application = applicationFacts{
					lookup: applicationFound, reference: referenceMatched, stage: lifecycle.InReview, evidence: seen,
				}
				f.service.Ready, f.service.OnlyWritesFail = false, true
			}),
			want: wait(v1alpha1.ReasonIdentityServiceNotReady),
		},
		"nothing is sent while an application that is named cannot be read": {
			why: "it may be this Mandate's, and then the request would only be refused as a duplicate",
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidatePending = sent(5*time.Minute, nil), true
			}),
			want: waitFor(v1alpha1.ReasonSettling, candidateRetryInterval),
		},
		"nothing is looked for in another namespace": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidates = sent(time.Second, nil), []int64{7}
				f.create.found, f.create.referenceNotAllowed = 7, true
			}),
			want: waitFor(v1alpha1.ReasonSettling, 89*time.Second),
		},
		"nothing is looked for while the service cannot be used": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidates = sent(time.Second, nil), []int64{7}
				f.service.Ready = false
			}),
			want: waitFor(v1alpha1.ReasonSettling, 89*time.Second),
		},
		"what is named is nothing to a Mandate that has lost nothing": {
			facts: newMandate(func(f *facts) { f.create.candidates = []int64{7} }),
			want:  decision{Step: stepClaim},
		},
		"what is named under another reference is not read": {
			facts: newMandate(func(f *facts) {
				f.record, f.create.candidates = unclear(day, func(r *recordFacts) { r.otherReference = true }), []int64{7}
			}),
			want: wait(v1alpha1.ReasonApplicationExists),
		},
		"what is named after eight weeks is not read": {
			facts: newMandate(func(f *facts) { f.record, f.create.candidates = unclear(retention, nil), []int64{7} }),
			want:  wait(reasonVanished),
		},
	}
}
