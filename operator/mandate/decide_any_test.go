package mandate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/explore"
)

// sendsRequest are the steps that send a request to the service.
var sendsRequest = []step{
	stepPost, stepRead, stepReadCandidate, stepProbe, stepArchive, stepDelete, stepReview, stepComplete, stepReject,
}

var useReference = []step{stepClaim, stepRetake, stepAdopt, stepBind}

// TestDecideNeverCreatesTwice holds what decide promises against all kinds of facts, possible and impossible.
func TestDecideNeverCreatesTwice(t *testing.T) {
	usual := usualFacts(decideCases()...)
	others := func(s step) bool { return slices.Contains(subscribes, s) } // TestDecideSubscribesLast draws more of them
	explore.Draw(t, slices.DeleteFunc(explore.Steps[step](t), others), func(t *rapid.T) step {
		f := anyFacts(t, usual)
		acts := []step{stepReview, stepComplete, stepReject, stepArchive, stepDelete}
		step := decide(f).Step
		if f.service.Denied && !f.attempt.active &&
			(slices.Contains(sendsRequest, step) || step == stepClaim || step == stepRetake) {
			t.Fatalf("%s with a service that is not for this namespace: %+v", step, f)
		}
		if f.application.differs && slices.Contains(acts, step) {
			t.Fatalf("%s of an application that was created from another spec: %+v", step, f)
		}
		if f.record.otherAccount && slices.Contains(acts, step) {
			t.Fatalf("%s by another account than the record's: %+v", step, f)
		}
		if f.acted && (slices.Contains(needsConfirm, step) || step == stepClaim || step == stepRetake) {
			t.Fatalf("%s after another call in this reconciliation: %+v", step, f)
		}
		if f.noSlot && step == stepRead {
			t.Fatalf("reads in the slot of others: %+v", f)
		}
		if !f.confirmed && slices.Contains(needsConfirm, step) {
			t.Fatalf("%s without a live read of the Mandate: %+v", step, f)
		}
		if f.referenceNotAllowed && slices.Contains(useReference, step) {
			t.Fatalf("%s for a reference that is not allowed: %+v", step, f)
		}
		switch step {
		case stepPost:
			if a := f.attempt; !a.active || !a.verified || a.changed || a.posted {
				t.Fatalf("posts an attempt that is not claimed, verified and unsent: %+v", f)
			}
			if deadlinePassed(f) {
				t.Fatalf("posts after createBefore: %+v", f)
			}
		case stepClaim:
			if f.id != 0 || f.adopt != 0 || f.record.exists && f.record.read || f.outcome != "" ||
				!f.record.read && !f.neverReconciled {
				t.Fatalf("claims although something is known to exist, or nothing is known: %+v", f)
			}
		case stepRetake:
			r := f.record
			if f.id != 0 || f.adopt != 0 || f.outcome != "" || !r.exists || r.id != 0 ||
				r.sent &&
					(r.otherURL || r.otherReference || r.verdict == "" && f.now.Before(r.observed.Add(f.settleDelay)) ||
						f.now.Sub(r.firstStarted) >= attemptWindow ||
						r.ordinal >= maxAttempts || f.otherAccount() || slices.Contains(neverRetaken, r.verdict)) {
				t.Fatalf("starts another attempt that could send twice: %+v", f)
			}
		case stepAdopt:
			if f.id != 0 || f.adopt == 0 || f.adoptedByOther || !f.application.read || !f.application.sameReference ||
				f.record.mayExist() && f.record.otherReference || f.record.id != 0 && f.record.id != f.adopt {
				t.Fatalf("adopts what may be another one's: %+v", f)
			}
		case stepReadCandidate, stepBind:
			lost := f.record.sent && f.record.id == 0 && !f.record.otherReference && !f.record.otherURL
			lost = lost || f.unknown && !f.record.exists
			if f.id != 0 || f.adopt != 0 || !lost {
				t.Fatalf("looks for an application that is not lost: %+v", f)
			}
			if step == stepBind && f.found == 0 {
				t.Fatalf("binds an application that was not read: %+v", f)
			}
		case stepProbe:
			if a := f.application; a.unproven && !a.othersRead && !overdue(f.now, f.createdTime) {
				t.Fatalf("believes what may be a proxy's word: %+v", f)
			}
		case stepDelete:
			if d := f.deletion; !d.requested || d.policy != v1alpha1.DeletionPolicyDelete || f.id == 0 || !f.application.read ||
				!f.application.sameReference ||
				d.refused {
				t.Fatalf("deletes what may be another one's, or is to be kept: %+v", f)
			}
		case stepSetAccount:
			if r := f.record; !r.otherAccount || f.otherAccount() || !f.application.read || !f.application.sameReference {
				t.Fatalf("takes an account for the same one without a proof: %+v", f)
			}
		case stepReview:
			if a := f.application; a.reviews == 0 || !a.reviewRecorded || a.unmatched || f.deletion.requested || f.suspended {
				t.Fatalf("sends a review that the spec does not have, or that is not recorded: %+v", f)
			}
		case stepComplete, stepReject:
			a := f.application
			if a.stage != client.StageInReview || f.decision.Outcome == "" || a.unmatched || a.reviews > 0 || a.reviewOutdated {
				t.Fatalf("decides what is not in review, was not asked for, or has a review before it: %+v", f)
			}
			if f.decision.When == "" && f.decision.Evidence != a.evidence.shown && f.decision.Evidence != a.evidence.reviewed ||
				f.decision.When != "" && !a.evidence.passed {
				t.Fatalf("decides on what nobody has seen, and no rule holds for: %+v", f)
			}
		}
		return step
	})
}

// neverRetaken are the verdicts after which no create is sent again.
var neverRetaken = []v1alpha1.Verdict{
	v1alpha1.VerdictTaken, v1alpha1.VerdictAccepted, v1alpha1.VerdictIDTooLarge,
}

// usualFacts are those of cases of TestDecide.
func usualFacts(all ...map[string]decideCase) (usual []facts) {
	for _, cases := range all {
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			usual = append(usual, cases[name].facts)
		}
	}
	return usual
}

// anyFacts are usual ones, some of which are drawn.
func anyFacts(t *rapid.T, usual []facts) facts {
	f := explore.Mix(t, usual, drawnFacts(t))
	if r := &f.record; !r.exists || !r.read { // what is not there, or not read, says nothing
		*r = recordFacts{read: r.read}
	} else if f.id == 0 && !r.otherURL && !r.otherReference {
		f.id = r.id
	}
	return f
}

func drawnFacts(t *rapid.T) facts {
	f := explore.Facts[facts](t, now,
		[]string{"", "now", "then", reasonStaleCache, v1alpha1.ReasonSecretNotFound},
		[]step{"", stepComplete, stepArchive, stepDelete},
		[]int64{0, 0, 7, 8}, []int32{1, 2, 3, 4, 5}, []int{0, 1, 2}, [][]int64{nil, {7}, {8, 7}},
		[]time.Duration{0, 7 * time.Second},
		[]v1alpha1.DeletionPolicy{
			"", v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyArchive, v1alpha1.DeletionPolicyDelete,
		},
		[]v1alpha1.Decision{{}, completeSeen, rejectSeen, completeRule},
		[]evidenceFacts{
			{}, {known: true}, seen, {known: true, shown: "seen-1", reviewed: "seen-2", settled: true, passed: true},
		},
		[]v1alpha1.Outcome{"", "", v1alpha1.OutcomeCompleted, v1alpha1.OutcomeExpired, v1alpha1.OutcomeDeleted},
		[]v1alpha1.Verdict{
			"", v1alpha1.VerdictNotSent, v1alpha1.VerdictRefused, v1alpha1.VerdictForbidden, v1alpha1.VerdictRetryable,
			v1alpha1.VerdictTaken, v1alpha1.VerdictAccepted, v1alpha1.VerdictIDTooLarge,
		},
		[]v1alpha1.SubscriptionState{"", v1alpha1.SubscriptionSubscribed, v1alpha1.SubscriptionOutcomeUnknown},
		[]subscriptionLookup{notLooked, lookupFound, lookupUnclear, lookupNone, lookupListed},
		[]client.Outcome{
			client.Unknown, client.NotSent, client.Refused, client.Forbidden, client.Candidate, client.Accepted,
		},
		[]client.Kind{"", client.KindInvalid, client.KindRateLimited, client.KindUnreachable, client.KindDuplicateReference},
		[]client.Stage{
			client.StageOpen, client.StageInReview, client.StageCompleted, client.StageRejected, client.StageClosed,
		},
	)
	f.now = now
	f.settleDelay, f.confirmDelay = 90*time.Second, 5*time.Minute
	return f
}
