package mandate

import (
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// sendsRequest are the steps that send a request to the service, but for stepSend, which ends what was begun.
var sendsRequest = []step{stepRead, stepReadCandidate, stepProbe}

var useReference = []step{stepClaim, stepAdopt, stepBind}

// subscriptionSteps are those of the subscription. TestDecideSubscribesLast draws more of them.
var subscriptionSteps = []step{
	stepAcquireSlot, stepBeginSubscription, stepFindSubscription, stepResolveSubscription,
}

// beginnings are the beginnings of calls on an application, as TestDecideNeverCreatesTwice counts them.
func beginnings() (all []step) {
	for _, kind := range []v1alpha1.CallKind{
		v1alpha1.CallComplete, v1alpha1.CallReject, v1alpha1.CallArchive, v1alpha1.CallDelete, v1alpha1.CallAcceptCheck,
		v1alpha1.CallRejectCheck,
	} {
		all = append(all, beginningOf(kind))
	}
	return all
}

func beginningOf(kind v1alpha1.CallKind) step { return stepBegin + " " + step(kind) }

// TestDecideNeverCreatesTwice holds what decide promises against all kinds of facts, possible and impossible.
func TestDecideNeverCreatesTwice(t *testing.T) {
	usual := usualFacts(decideCases()...)
	others := func(s step) bool { return slices.Contains(subscriptionSteps, s) }
	steps := append(slices.DeleteFunc(explore.Steps[step](t, "decide.go"), others), beginnings()...)
	explore.Draw(t, steps, func(t *rapid.T) step {
		f := anyFacts(t, usual)
		step := decide(f).Step
		begins := slices.Contains(begins, step)
		if f.service.Denied && f.attempt.phase == attemptNone && (begins || slices.Contains(sendsRequest, step)) {
			t.Fatalf("%s with a service that is not for this namespace: %+v", step, f)
		}
		if f.act.phase != actNone && begins {
			t.Fatalf("%s after another call in this reconciliation: %+v", step, f)
		}
		if f.act.phase == actReadWaits && step == stepRead {
			t.Fatalf("reads in the slot of others: %+v", f)
		}
		if f.create.referenceNotAllowed && (slices.Contains(useReference, step) || step == stepBegin && f.id == 0) {
			t.Fatalf("%s for a reference that is not allowed: %+v", step, f)
		}
		switch step {
		case stepSend:
			holdSend(t, f)
		case stepClaim:
			if f.id != 0 || f.create.adopt != 0 || f.record.exists() || f.outcome != "" ||
				!f.record.read() && !f.create.neverReconciled {
				t.Fatalf("claims although something is known to exist, or nothing is known: %+v", f)
			}
			if f.service.Account != connection.AccountConfirmed {
				t.Fatalf("creates by an account that has shown nothing: %+v", f)
			}
		case stepBegin:
			if f.id != 0 {
				return beginningOf(holdCall(t, f))
			}
			holdCreate(t, f)
		case stepAdopt:
			if f.id != 0 || f.create.adopt == 0 || f.create.adoptedByOther ||
				!f.application.read() || f.application.reference == referenceOther ||
				f.record.mayExist() && f.record.otherReference || f.record.id != 0 && f.record.id != f.create.adopt {
				t.Fatalf("adopts what may be another one's: %+v", f)
			}
		case stepReadCandidate, stepBind:
			lost := f.record.sent() && f.record.id == 0 && !f.record.otherReference && !f.record.otherURL
			lost = lost || f.create.unknown && !f.record.exists()
			if f.id != 0 || f.create.adopt != 0 || !lost {
				t.Fatalf("looks for an application that is not lost: %+v", f)
			}
			if step == stepBind && f.create.found == 0 {
				t.Fatalf("binds an application that was not read: %+v", f)
			}
		case stepProbe:
			if a := f.application; a.lookup == applicationUnproven && !overdue(f.now, f.createdTime) {
				t.Fatalf("believes what may be a proxy's word: %+v", f)
			}
		case stepSettle:
			r := f.record
			if r.id != 0 || f.id != 0 || r.result != "" && !r.notCreated || r.result == "" && (!r.sent() || f.mayBeUnderWay()) {
				t.Fatalf("settles what may be under way, or is settled: %+v", f)
			}
		case stepResolveLost:
			if f.record.open() == nil || f.mayBeUnderWay() {
				t.Fatalf("ends a call that may be under way, or none: %+v", f)
			}
		}
		return step
	})
}

// holdSend holds what decide promises of the request of a call.
func holdSend(t *rapid.T, f facts) {
	a := f.attempt
	if a.phase != attemptVerified {
		t.Fatalf("sends a call that is not begun, verified and unsent: %+v", f)
	}
	if f.now.Sub(a.looked) > time.Second {
		t.Fatalf("sends a call long after the last look: %+v", f)
	}
	if engine.Elapsed(a.started, f.now) > f.settleDelay/2 {
		t.Fatalf("sends a call that another process may soon take for lost: %+v", f)
	}
	if a.kind == v1alpha1.CallCreate && deadlinePassed(f) {
		t.Fatalf("posts after createBefore: %+v", f)
	}
}

// holdCreate holds what decide promises of a create after another one.
func holdCreate(t *rapid.T, f facts) {
	r := f.record
	if f.deletion.requested || f.suspended || f.create.adopt != 0 || f.outcome != "" || !r.exists() || r.id != 0 ||
		r.sent() &&
			(r.otherURL || r.otherReference || r.isOpen() && f.mayBeUnderWay() ||
				f.now.Sub(r.firstStarted).Abs() >= createWindow ||
				r.sends >= ledger.MaxSends(v1alpha1.CallCreate) || f.otherAccount() || r.account != accountSame ||
				r.accepted() || slices.Contains(neverAgain, r.answer)) {
		t.Fatalf("starts another attempt that could send twice: %+v", f)
	}
}

// neverAgain are the answers after which no create is sent again, if one before may have created the application.
var neverAgain = []v1alpha1.CallAnswer{v1alpha1.AnswerDuplicate, v1alpha1.AnswerIDTooLarge}

// holdCall holds what decide promises of a call on an application: that it is this Mandate's, and that the spec asks
// for the call now. It gives the kind of the call.
func holdCall(t *rapid.T, f facts) v1alpha1.CallKind {
	a, order := f.application, nextOrder(f)
	if order == nil {
		t.Fatalf("begins nothing: %+v", f)
		return ""
	}
	if !a.read() || a.reference == referenceOther || f.record.otherURL && a.reference != referenceMatched {
		t.Fatalf("%s of what may be another one's: %+v", order.Kind, f)
	}
	if a.differs {
		t.Fatalf("%s of an application that was created from another spec: %+v", order.Kind, f)
	}
	if f.otherAccount() {
		t.Fatalf("%s by another account than the record's: %+v", order.Kind, f)
	}
	deleted, policy := f.deletion.requested, f.deletion.policy
	if !deleted && (f.suspended || !f.service.Ready) {
		t.Fatalf("%s of a Mandate that is suspended, or by a service that fails: %+v", order.Kind, f)
	}
	switch order.Kind {
	case v1alpha1.CallDelete:
		if !deleted || policy != v1alpha1.DeletionPolicyDelete {
			t.Fatalf("deletes what is to be kept: %+v", f)
		}
	case v1alpha1.CallArchive:
		if a.archived || deleted && policy != v1alpha1.DeletionPolicyArchive || !deleted && !f.act.archive {
			t.Fatalf("archives what is archived, or is not to be: %+v", f)
		}
	case v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck:
		if !slices.Contains(a.reviews, *order) || a.unmatched() || deleted || f.final() {
			t.Fatalf("sends a review that the spec does not have, or of whom nobody knows: %+v", f)
		}
		holdReview(t, f, order)
	case v1alpha1.CallComplete, v1alpha1.CallReject:
		holdDecision(t, f, order)
	default:
		t.Fatalf("begins %+v: %+v", order, f)
	}
	holdLog(t, f, order)
	return order.Kind
}

func holdDecision(t *rapid.T, f facts, order *v1alpha1.Call) {
	a := f.application
	if a.stage != lifecycle.InReview || f.deletion.requested || a.unmatched() || len(a.reviews) > 0 || a.reviewOutdated {
		t.Fatalf("decides what is not in review, was not asked for, or has a review before it: %+v", f)
	}
	asked := map[v1alpha1.CallKind]v1alpha1.DecisionOutcome{
		v1alpha1.CallComplete: v1alpha1.DecisionComplete, v1alpha1.CallReject: v1alpha1.DecisionReject,
	}
	if f.act.decision.Outcome != asked[order.Kind] {
		t.Fatalf("%s is not what the spec asks for: %+v", order.Kind, f)
	}
	wanted := f.act.decision
	if wanted.When == "" && wanted.Evidence != a.evidence.shown && wanted.Evidence != a.evidence.reviewed ||
		wanted.When != "" && a.evidence.checks != checksPassed {
		t.Fatalf("decides on what nobody has seen, and no rule holds for: %+v", f)
	}
	if !a.resetSent.IsZero() && f.now.Sub(a.resetSent) < day {
		t.Fatalf("decides while a reset may still be carried out: %+v", f)
	}
	for _, c := range f.record.calls {
		other := c.Sends > 0 && asked[c.Kind] != "" && (c.Kind != order.Kind || c.Evidence != order.Evidence)
		if other && (f.now.Sub(c.StartedTime.Time) < day || wanted.When != "" && c.Kind == order.Kind) {
			t.Fatalf("decides while another decision may still be carried out, or again by a rule: %+v", f)
		}
	}
}

// holdReview holds what decide promises of a review after one that asks for the opposite.
func holdReview(t *rapid.T, f facts, order *v1alpha1.Call) {
	for _, c := range f.record.calls {
		review := c.Kind == v1alpha1.CallAcceptCheck || c.Kind == v1alpha1.CallRejectCheck
		opposite := review && c.Kind != order.Kind && c.Check == order.Check && c.Evidence == order.Evidence
		if opposite && c.Sends > 0 && f.now.Sub(c.StartedTime.Time) < day {
			t.Fatalf("reviews a check while the opposite may still be carried out: %+v", f)
		}
	}
}

// holdLog holds what decide promises of a call that the log may have.
func holdLog(t *rapid.T, f facts, order *v1alpha1.Call) {
	switch {
	case !f.record.read():
		t.Fatalf("begins a call without a look into the log: %+v", f)
	case f.record.full:
		t.Fatalf("begins a call that the record cannot hold: %+v", f)
	case f.record.open() != nil && f.mayBeUnderWay():
		t.Fatalf("begins a call while another one may be under way: %+v", f)
	}
	entry := f.record.made(order)
	if entry == nil {
		if f.record.wasMade(order) {
			t.Fatalf("begins a call of which a digest is left: %+v", f)
		}
		return
	}
	refusal := slices.Contains([]v1alpha1.CallAnswer{v1alpha1.AnswerRefused, v1alpha1.AnswerForbidden}, entry.Answer) ||
		slices.Contains([]v1alpha1.CallResult{v1alpha1.CallRefused, v1alpha1.CallForbidden}, entry.Result)
	passed := f.now.Sub(entry.StartedTime.Time)
	passes := slices.Contains(retriedAlone, entry.Kind) && (passed >= 5*time.Minute || passed < -ledger.MaxSkew)
	switch {
	case entry.Result == v1alpha1.CallDone, entry.Result == v1alpha1.CallAccepted:
		t.Fatalf("sends again what was carried out, or will be: %+v", f)
	case entry.Sends >= ledger.MaxSends(entry.Kind):
		t.Fatalf("sends again what may have been carried out often enough: %+v", f)
	case refusal && entry.Result != "" && entry.Result != v1alpha1.CallNotSent && !f.requested && !passes:
		t.Fatalf("sends again what was refused, though nothing has changed: %+v", f)
	}
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
	if r := &f.record; !r.exists() { // what is not there, or not read, says nothing
		*r = recordFacts{lookup: r.lookup}
	} else if f.id == 0 && !r.otherURL && !r.otherReference {
		f.id = r.id
	}
	return f
}

func drawnFacts(t *rapid.T) facts {
	f := explore.Facts[facts](t, now,
		[]string{"", "now", "then", reasonStaleCache, v1alpha1.ReasonSecretNotFound},
		[][]v1alpha1.Problem{nil},
		[]int64{0, 0, 7, 8}, []int{0, 1, engine.MaxLooks}, []int32{0, 1, 2, 3, 4, 5}, [][]int64{nil, {7}, {8, 7}},
		[]time.Duration{0, 7 * time.Second},
		[]v1alpha1.DeletionPolicy{
			"", v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyArchive, v1alpha1.DeletionPolicyDelete,
		},
		[]v1alpha1.Decision{{}, completeSeen, rejectSeen, completeRule},
		[]evidenceFacts{
			{}, {checks: checksOpen}, seen, {checks: checksPassed, shown: "seen-1", reviewed: "seen-2"},
		},
		[]v1alpha1.Outcome{"", "", v1alpha1.OutcomeCompleted, v1alpha1.OutcomeExpired, v1alpha1.OutcomeDeleted},
		[]v1alpha1.CallAnswer{
			"", v1alpha1.AnswerNotSent, v1alpha1.AnswerRefused, v1alpha1.AnswerForbidden, v1alpha1.AnswerRetryable,
			v1alpha1.AnswerDuplicate, v1alpha1.AnswerIDTooLarge, v1alpha1.AnswerNotCreated,
		},
		[]v1alpha1.CallKind{
			v1alpha1.CallCreate, v1alpha1.CallComplete, v1alpha1.CallArchive, v1alpha1.CallDelete,
			v1alpha1.CallRejectCheck, v1alpha1.CallSubscribe,
		},
		[]attemptPhase{
			attemptNone, attemptNone, attemptNone, attemptNone, attemptBegun, attemptVerified, attemptWithdrawn,
			attemptUnsent, attemptAnswered,
		},
		[]endState{endOpen, endRefused, endShown},
		[]actPhase{actNone, actNone, actSent, actReadWaits},
		[]recordLookup{recordUnread, recordMissing, recordFound, recordFound},
		[]recordAccount{accountSame, accountSame, accountRenamed, accountOther},
		[]v1alpha1.CallResult{"", v1alpha1.CallAccepted, v1alpha1.CallRefused, v1alpha1.CallUnknown},
		[]applicationLookup{
			applicationUnread, applicationFound, applicationMissing, applicationUnproven, applicationMissingAlone,
			applicationGone,
		},
		[]referenceShown{referenceOther, referenceHidden, referenceMatched},
		[]erasureFacts{erasureNone, erasureDue, erasureTried},
		[]individualsMatch{individualsMatched, individualsMatched, individualsFewer, individualsUnmatched},
		[]map[int64]v1alpha1.CallKind{nil, {5: v1alpha1.CallAcceptCheck}},
		[][]v1alpha1.Call{nil, reviews()[:1], reviews()[1:], reviews()}, [][]string{nil, earlier(completeCall)},
		[]v1alpha1.SubscriptionState{"", v1alpha1.SubscriptionSubscribed, v1alpha1.SubscriptionOutcomeUnknown},
		[]subscriptionWish{notWanted, wanted, wantedAgain}, []subscriptionLookup{notLooked, lookupFound, lookupUnclear},
		[]subscriptionPhase{subscriptionIdle, subscriptionActive, subscriptionBegun, subscriptionPaused},
		[]client.Outcome{
			client.Unknown, client.NotSent, client.Refused, client.Forbidden, client.Candidate, client.Accepted,
			client.Done,
		},
		[]connection.AccountState{connection.AccountConfirmed, connection.AccountSought, connection.AccountRefuted},
		[]lifecycle.Stage{
			lifecycle.Open, lifecycle.InReview, lifecycle.Completed, lifecycle.Rejected, lifecycle.Closed,
			lifecycle.Unknown,
		},
	)
	f.now = now
	f.settleDelay, f.observe.confirmDelay = 90*time.Second, 5*time.Minute
	f.record.calls = rapid.SliceOfN(rapid.Custom(drawnCall), 0, 3).Draw(t, "calls")
	return f
}

// drawnCall is an entry of the log. Most are of what the spec of the facts asks for.
func drawnCall(t *rapid.T) v1alpha1.Call {
	call := explore.Facts[v1alpha1.Call](t, now,
		[]string{"", "seen-1", "seen-2"}, []types.UID{""}, []int64{0}, []*int64{nil}, []*metav1.Time{nil},
		[]int32{0, 1, 2, 3, 4},
		[]v1alpha1.CallKind{
			v1alpha1.CallCreate, v1alpha1.CallComplete, v1alpha1.CallReject, v1alpha1.CallArchive, v1alpha1.CallDelete,
			v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck, v1alpha1.CallResendInvite, v1alpha1.CallSubscribe,
		},
		[]v1alpha1.CallResult{
			"", v1alpha1.CallDone, v1alpha1.CallAccepted, v1alpha1.CallRefused, v1alpha1.CallForbidden,
			v1alpha1.CallNotSent, v1alpha1.CallUnknown,
		},
		[]v1alpha1.CallAnswer{"", "", v1alpha1.AnswerNotSent, v1alpha1.AnswerRefused, v1alpha1.AnswerForbidden},
	)
	call.Name, call.Individual = "", ""
	switch call.Result {
	case v1alpha1.CallNotSent, v1alpha1.CallRefused, v1alpha1.CallForbidden: // no request did anything
		call.Sends = 0
	}
	switch call.Kind {
	case v1alpha1.CallArchive, v1alpha1.CallDelete, v1alpha1.CallSubscribe:
		call.Evidence = ""
	case v1alpha1.CallResendInvite:
		call.Name, call.Individual = "resend", "jane"
	case v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck:
		for _, review := range reviews() {
			if review.Kind == call.Kind {
				call.Individual, call.Evidence = review.Individual, review.Evidence
			}
		}
	}
	if rapid.Bool().Draw(t, "is recent") {
		ago := rapid.Int64Range(0, int64(2*day)).Draw(t, "started")
		call.StartedTime = ledger.MicroTime(now.Add(-time.Duration(ago)))
	}
	return call
}
