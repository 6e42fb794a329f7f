package mandate

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// sendsRequest are the steps that send a request to the service.
var sendsRequest = []step{
	stepPost, stepRead, stepReadCandidate, stepProbe, stepArchive, stepDelete, stepReview, stepComplete, stepReject,
}

var useReference = []step{stepClaim, stepRetake, stepAdopt, stepBind}

// TestDecideNeverCreatesTwice holds what decide promises against all kinds of facts, possible and impossible.
func TestDecideNeverCreatesTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		acts := []step{stepReview, stepComplete, stepReject, stepArchive, stepDelete}
		step := decide(f).Step
		if f.service.Denied && !f.attempt.active &&
			(slices.Contains(sendsRequest, step) || step == stepClaim || step == stepRetake) {
			t.Fatalf("%s with a service that is not for this namespace: %+v", step, f)
		}
		if f.application.differs && slices.Contains(acts, step) {
			t.Fatalf("%s of an application that was created from another spec: %+v", step, f)
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
						r.ordinal >= maxAttempts || r.verdict == v1alpha1.VerdictTaken || r.verdict == v1alpha1.VerdictAccepted) {
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
		case stepReview:
			if a := f.application; a.reviews == 0 || !a.reviewRecorded || a.unmatched || f.deletion.requested || f.suspended {
				t.Fatalf("sends a review that the spec does not have, or that is not recorded: %+v", f)
			}
		case stepComplete, stepReject:
			if f.application.stage != client.StageInReview || f.decision == "" {
				t.Fatalf("decides what is not in review, or was not asked for: %+v", f)
			}
		}
	})
}

func anyFacts(t *rapid.T) facts {
	truth := func(name string) bool { return rapid.Bool().Draw(t, name) }
	ago := func(name string) time.Time {
		return now.Add(-time.Duration(rapid.Int64Range(-1e9, int64(60*24*time.Hour)).Draw(t, name)))
	}
	id := func(name string) int64 { return rapid.SampledFrom([]int64{0, 0, 7}).Draw(t, name) }
	policies := []v1alpha1.DeletionPolicy{
		"", v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyArchive, v1alpha1.DeletionPolicyDelete,
	}
	decisions := []v1alpha1.Decision{"", v1alpha1.DecisionComplete, v1alpha1.DecisionReject}
	outcomes := []v1alpha1.Outcome{"", "", v1alpha1.OutcomeCompleted, v1alpha1.OutcomeDeleted}
	attemptVerdicts := []v1alpha1.Verdict{
		"", v1alpha1.VerdictNotSent, v1alpha1.VerdictRefused, v1alpha1.VerdictForbidden, v1alpha1.VerdictRetryable,
		v1alpha1.VerdictTaken, v1alpha1.VerdictAccepted,
	}
	createOutcomes := []client.Outcome{
		client.Unknown, client.NotSent, client.Refused, client.Forbidden, client.Candidate, client.Accepted,
	}
	stages := []client.Stage{client.StageOpen, client.StageInReview, client.StageCompleted, client.StageRejected}
	f := facts{
		now: now, settleDelay: 90 * time.Second, confirmDelay: 5 * time.Minute,
		suspended: truth("suspended"), unknown: truth("unknown"), vanished: truth("vanished"),
		neverReconciled: truth("neverReconciled"), adoptedByOther: truth("adoptedByOther"),
		referenceNotAllowed: truth("referenceNotAllowed"),
		found:               id("found"),
		requested:           truth("requested by a person"),
		sentBefore:          rapid.SampledFrom([]step{"", stepComplete, stepArchive, stepDelete}).Draw(t, "sentBefore"),
		candidates:          rapid.SampledFrom([][]int64{nil, {7}, {8, 7}}).Draw(t, "named"),
		adopt:               rapid.SampledFrom([]int64{0, 0, 7, 8}).Draw(t, "adopt"),
		deletion: deletionFacts{
			policy: rapid.SampledFrom(policies).Draw(t, "policy"), finalizer: truth("finalizer"),
			requested: truth("requested"), giveUpTime: ago("giveUpTime"), refused: truth("deletionRefused"),
			done: truth("deletionDone"),
		},
		decision: rapid.SampledFrom(decisions).Draw(t, "decision"),
		archive:  truth("archive"), id: id("id"), bound: truth("bound"), seen: truth("seen"), unmatched: truth("unmatched"),
		outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
		service: serviceFacts{
			Exists: truth("exists"), Denied: truth("denied"), Deleting: truth("deleting"), Known: truth("known"),
			Ready: truth("ready"),
		},
		probed: truth("probed"), confirmed: truth("confirmed"), acted: truth("acted"),
		noSlot: truth("noSlot"),
		inputs: inputsFacts{resolved: truth("resolved"), digest: "now"},
		record: recordFacts{
			read: truth("read"), exists: truth("recorded"), sent: truth("sent"),
			ordinal:      rapid.Int32Range(1, 5).Draw(t, "ordinal"),
			inputs:       rapid.SampledFrom([]string{"now", "then"}).Draw(t, "inputs"),
			verdict:      rapid.SampledFrom(attemptVerdicts).Draw(t, "verdict"),
			firstStarted: ago("firstStarted"), observed: ago("observed"), retryAt: ago("retryAt"),
			otherURL: truth("otherURL"), otherReference: truth("otherReference"), id: id("recordedID"),
		},
		attempt: attemptFacts{
			active: truth("active"), started: ago("started"), verified: truth("verified"), changed: truth("changed"),
			posted:  truth("posted"),
			outcome: rapid.SampledFrom(createOutcomes).Draw(t, "answer"),
		},
		application: applicationFacts{
			read: truth("applicationRead"), missing: truth("missing"), sameReference: truth("sameReference"),
			unproven: truth("unproven"), othersRead: truth("othersRead"),
			referenceMatched: truth("referenceMatched"), archived: truth("archived"),
			stage:   rapid.SampledFrom(stages).Draw(t, "stage"),
			decided: truth("decided"), archiveSent: truth("archiveSent"), reviews: rapid.IntRange(0, 2).Draw(t, "reviews"),
			reviewRecorded: truth("reviewRecorded"), differs: truth("differs"), unmatched: truth("unmatchedNow"),
			fewer: truth("fewer"),
		},
	}
	if r := &f.record; !r.exists || !r.read { // what is not there, or not read, says nothing
		*r = recordFacts{read: r.read}
	} else if f.id == 0 && !r.otherURL && !r.otherReference {
		f.id = r.id
	}
	if truth("deadline") {
		f.createBefore = ago("createBefore")
	}
	return f
}
