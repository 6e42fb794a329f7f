package mandate

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// TestDecideNeverCreatesTwice holds what decide promises against all kinds of facts, possible and impossible.
func TestDecideNeverCreatesTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		step := decide(f).Step
		if f.service.Denied && !f.attempt.active && (slices.Contains(sendsRequest, step) || step == stepClaim || step == stepRetake) {
			t.Fatalf("%s with a service that is not for this namespace: %+v", step, f)
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
			if f.id != 0 || f.adopt != 0 || f.records.exists || f.outcome != "" || !f.records.read && (!f.neverReconciled || f.edited) || f.edited && !f.records.listed {
				t.Fatalf("claims although something is known to exist, or nothing is known: %+v", f)
			}
		case stepRetake:
			r := f.records
			if f.id != 0 || f.adopt != 0 || f.outcome != "" || !r.mine || r.recordedAtOtherURL || f.edited && !r.listed && !r.sent ||
				r.sent && (r.verdict == "" && f.now.Before(r.observed.Add(f.settleDelay)) || f.now.Sub(r.firstStarted) >= attemptWindow || r.ordinal >= maxAttempts || r.verdict == v1alpha1.VerdictTaken) {
				t.Fatalf("begins another attempt that could send twice: %+v", f)
			}
		case stepAdopt:
			if f.id != 0 || f.adopt == 0 || f.adoptedByOther || !f.application.read || !f.application.sameReference || f.records.exists && !f.records.mine {
				t.Fatalf("adopts what may be another one's: %+v", f)
			}
		case stepDelete:
			if d := f.deletion; !d.requested || d.policy != v1alpha1.DeletionPolicyDelete || f.id == 0 || !f.application.read || !f.application.sameReference || d.refused {
				t.Fatalf("deletes what may be another one's, or is to be kept: %+v", f)
			}
		case stepReview:
			if f.application.reviews == 0 || f.deletion.requested || f.suspended {
				t.Fatalf("reviews what nobody asked for: %+v", f)
			}
		case stepComplete, stepReject:
			if f.application.stage != client.StageInReview || f.decision == "" {
				t.Fatalf("decides what is not in review, or was not asked for: %+v", f)
			}
		}
	})
}

func anyFacts(t *rapid.T) facts {
	flag := rapid.Bool()
	ago := func(name string) time.Time {
		return now.Add(-time.Duration(rapid.Int64Range(-1e9, int64(60*24*time.Hour)).Draw(t, name)))
	}
	f := facts{
		now: now, settleDelay: 90 * time.Second, confirmDelay: 5 * time.Minute,
		suspended: flag.Draw(t, "suspended"), unknown: flag.Draw(t, "unknown"), vanished: flag.Draw(t, "vanished"), edited: flag.Draw(t, "edited"), neverReconciled: flag.Draw(t, "neverReconciled"), adoptedByOther: flag.Draw(t, "taken"), adopt: rapid.SampledFrom([]int64{0, 0, 7, 8}).Draw(t, "adopt"),
		deletion: deletionFacts{
			policy:    rapid.SampledFrom([]v1alpha1.DeletionPolicy{"", v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyArchive, v1alpha1.DeletionPolicyDelete}).Draw(t, "policy"),
			finalizer: flag.Draw(t, "finalizer"), requested: flag.Draw(t, "requested"), giveUpTime: ago("giveUp"), refused: flag.Draw(t, "notDeleted"), done: flag.Draw(t, "disposed"),
		},
		decision: rapid.SampledFrom([]v1alpha1.Decision{"", v1alpha1.DecisionComplete, v1alpha1.DecisionReject}).Draw(t, "decision"),
		archive:  flag.Draw(t, "archive"), id: rapid.SampledFrom([]int64{0, 0, 7}).Draw(t, "id"), bound: flag.Draw(t, "bound"), seen: flag.Draw(t, "seen"),
		outcome: rapid.SampledFrom([]v1alpha1.Outcome{"", "", v1alpha1.OutcomeCompleted, v1alpha1.OutcomeDeleted}).Draw(t, "outcome"),
		service: serviceFacts{
			Exists: flag.Draw(t, "exists"), Denied: flag.Draw(t, "denied"), Deleting: flag.Draw(t, "deleting"),
			Known: flag.Draw(t, "known"), Ready: flag.Draw(t, "ready"),
		},
		probed: flag.Draw(t, "probed"),
		inputs: inputsFacts{resolved: flag.Draw(t, "resolved"), digest: "now"},
		records: recordsFacts{
			read: flag.Draw(t, "read"), listed: flag.Draw(t, "listed"), exists: flag.Draw(t, "recorded"), mine: flag.Draw(t, "mine"), sent: flag.Draw(t, "sent"),
			ordinal: rapid.Int32Range(1, 5).Draw(t, "ordinal"), inputs: rapid.SampledFrom([]string{"now", "then"}).Draw(t, "inputs"),
			verdict:      rapid.SampledFrom([]v1alpha1.Verdict{"", v1alpha1.VerdictNotSent, v1alpha1.VerdictRefused, v1alpha1.VerdictTaken}).Draw(t, "verdict"),
			firstStarted: ago("first"), observed: ago("observed"), abandoned: flag.Draw(t, "abandoned"), recordedAtOtherURL: flag.Draw(t, "elsewhere"),
			id: rapid.SampledFrom([]int64{0, 0, 7}).Draw(t, "recordedID"),
		},
		attempt: attemptFacts{
			active: flag.Draw(t, "begun"), started: ago("begin"), verified: flag.Draw(t, "verified"), changed: flag.Draw(t, "changed"), posted: flag.Draw(t, "posted"),
			outcome: rapid.SampledFrom([]client.Outcome{client.Unknown, client.NotSent, client.Refused}).Draw(t, "outcomeOfPost"),
		},
		application: applicationFacts{
			read: flag.Draw(t, "appRead"), missing: flag.Draw(t, "missing"), sameReference: flag.Draw(t, "same"), referenceMatched: flag.Draw(t, "referenceMatched"), archived: flag.Draw(t, "archived"),
			stage:   rapid.SampledFrom([]client.Stage{client.StageOpen, client.StageInReview, client.StageCompleted, client.StageRejected}).Draw(t, "stage"),
			decided: flag.Draw(t, "decided"), archiveSent: flag.Draw(t, "archiveSent"), reviews: rapid.IntRange(0, 2).Draw(t, "reviews"),
		},
	}
	if flag.Draw(t, "deadline") {
		f.createBefore = ago("createBefore")
	}
	return f
}
