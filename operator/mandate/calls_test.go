package mandate

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/ledger"
)

// A call has the author that the Mandate names, but for what nobody has signed.
func TestAuthorOfACall(t *testing.T) {
	t.Parallel()
	for kind, wants := range map[v1alpha1.CallKind]string{
		v1alpha1.CallComplete: "ada", v1alpha1.CallAcceptCheck: "ada", v1alpha1.CallSubscribe: "",
	} {
		for _, deleted := range []bool{false, true} {
			m := &v1alpha1.Mandate{}
			m.Annotations = map[string]string{v1alpha1.RequestedByAnnotation: "ada"}
			r := &reconciliation{scope: scope{
				mandate: m, facts: facts{deletion: deletionFacts{requested: deleted}},
			}}
			if deleted {
				wants = ""
			}
			if got := r.ordered(&v1alpha1.Call{Kind: kind}, now).RequestedBy; got != wants {
				t.Errorf("%s, of a Mandate that is deleted (%t): %q, want %q", kind, deleted, got, wants)
			}
		}
	}
}

// concluded is what the log says of a call after an answer.
type concluded struct {
	Result    v1alpha1.CallResult
	Answer    v1alpha1.CallAnswer
	Sends     int32
	Candidate int64
}

// What an answer proves of a call and of the requests before it. A request that did nothing does not count.
func TestConclusion(t *testing.T) {
	t.Parallel()
	const create, complete = v1alpha1.CallCreate, v1alpha1.CallComplete
	attempt := func(kind v1alpha1.CallKind, outcome idv.Outcome, cause idv.Kind) attemptFacts {
		return attemptFacts{
			kind: kind, phase: attemptAnswered, outcome: outcome,
			answer:    refusalOf(kind, &idv.Error{Outcome: outcome, Kind: cause}),
			duplicate: cause == idv.KindDuplicateReference,
		}
	}
	busy := func(kind v1alpha1.CallKind, status int) attemptFacts {
		busy := attempt(kind, idv.Unknown, "")
		busy.answer = refusalOf(kind, &idv.Error{Outcome: idv.Unknown, Status: status})
		return busy
	}
	withdrawn, late := calling(complete, attemptWithdrawn), calling(create, attemptBegun)
	tooLarge, candidate := attempt(create, idv.Accepted, ""), attempt(create, idv.Candidate, "")
	tooLarge.answer, candidate.candidate = v1alpha1.AnswerIDTooLarge, 7
	for name, test := range map[string]struct {
		attempt attemptFacts
		sends   int32 // this request included
		want    concluded
	}{
		"done":         {attempt(complete, idv.Done, ""), 1, concluded{Result: v1alpha1.CallDone, Sends: 1}},
		"done at last": {attempt(complete, idv.Done, ""), 2, concluded{Result: v1alpha1.CallDone, Sends: 2}},
		"done later": {
			attempt(complete, idv.Accepted, ""), 1, concluded{Result: v1alpha1.CallAccepted, Sends: 1},
		},
		"a create, later":         {attempt(create, idv.Accepted, ""), 1, concluded{Result: v1alpha1.CallAccepted, Sends: 1}},
		"somebody's id":           {candidate, 1, concluded{Result: v1alpha1.CallAccepted, Sends: 1, Candidate: 7}},
		"an id that is too large": {tooLarge, 1, concluded{v1alpha1.CallAccepted, v1alpha1.AnswerIDTooLarge, 1, 0}},
		"refused": {
			attempt(complete, idv.Refused, idv.KindInvalid), 1,
			concluded{v1alpha1.CallRefused, v1alpha1.AnswerRefused, 0, 0},
		},
		"refused for another reason than the content": {
			attempt(complete, idv.Refused, idv.KindConflict), 1,
			concluded{v1alpha1.CallRefused, v1alpha1.AnswerRefused, 0, 0},
		},
		"refused, after a request whose answer was lost": {
			attempt(complete, idv.Refused, idv.KindInvalid), 2,
			concluded{v1alpha1.CallUnknown, v1alpha1.AnswerRefused, 1, 0},
		},
		"forbidden": {
			attempt(complete, idv.Forbidden, idv.KindForbidden), 1,
			concluded{v1alpha1.CallForbidden, v1alpha1.AnswerForbidden, 0, 0},
		},
		"turned away, whatever it asks for": {
			attempt(complete, idv.Refused, idv.KindRateLimited), 1,
			concluded{v1alpha1.CallNotSent, v1alpha1.AnswerNotSent, 0, 0},
		},
		"no connection": {
			attempt(complete, idv.NotSent, idv.KindUnreachable), 1,
			concluded{v1alpha1.CallNotSent, v1alpha1.AnswerNotSent, 0, 0},
		},
		"no connection, after a request whose answer was lost": {
			attempt(complete, idv.NotSent, idv.KindUnreachable), 2,
			concluded{v1alpha1.CallUnknown, v1alpha1.AnswerNotSent, 1, 0},
		},
		"not ordered any more": {withdrawn, 1, concluded{v1alpha1.CallNotSent, v1alpha1.AnswerNotSent, 0, 0}},
		"not ordered any more, after a request whose answer was lost": {
			withdrawn, 2, concluded{v1alpha1.CallUnknown, v1alpha1.AnswerNotSent, 1, 0},
		},
		"too late to be sent": {late, 1, concluded{v1alpha1.CallNotSent, v1alpha1.AnswerNotSent, 0, 0}},
		"too late to be sent, after a request whose answer was lost": {
			late, 2, concluded{v1alpha1.CallUnknown, v1alpha1.AnswerNotSent, 1, 0},
		},
		"too late after the check": {
			attemptFacts{kind: create, phase: attemptVerified}, 1,
			concluded{v1alpha1.CallNotSent, v1alpha1.AnswerNotSent, 0, 0},
		},
		"a create that is refused": {
			attempt(create, idv.Refused, idv.KindInvalid), 1,
			concluded{v1alpha1.CallRefused, v1alpha1.AnswerRefused, 0, 0},
		},
		"a create that may succeed later": {
			attempt(create, idv.Refused, idv.KindConflict), 1,
			concluded{v1alpha1.CallRefused, v1alpha1.AnswerRetryable, 0, 0},
		},
		"a create that a limiter answers": {
			busy(create, 429), 1, concluded{v1alpha1.CallUnknown, v1alpha1.AnswerRetryable, 1, 0},
		},
		"a create that a gateway answers, again": {
			busy(create, 503), 3, concluded{v1alpha1.CallUnknown, v1alpha1.AnswerRetryable, 2, 0},
		},
		"a reference that exists": {
			attempt(create, idv.Refused, idv.KindDuplicateReference), 1,
			concluded{v1alpha1.CallRefused, v1alpha1.AnswerDuplicate, 0, 0},
		},
		"a reference that exists, after a request whose answer was lost": {
			attempt(create, idv.Refused, idv.KindDuplicateReference), 2,
			concluded{v1alpha1.CallUnknown, v1alpha1.AnswerDuplicate, 2, 0},
		},
	} {
		r := connected(&Reconciler{clock: explore.Clock{Time: now}}, scope{}, nil)
		r.facts.attempt = test.attempt
		got := r.conclusion(&v1alpha1.Call{Kind: test.attempt.kind, Nonce: "nonce", Sends: test.sends})
		is := concluded{Result: got.Result, Answer: got.Answer, Sends: got.Sends}
		if got.CandidateID != nil {
			is.Candidate = *got.CandidateID
		}
		if diff := cmp.Diff(test.want, is); diff != "" || got.Nonce != "nonce" || got.EndedTime == nil {
			t.Errorf("%s: %+v (-want +got):\n%s", name, got, diff)
		}
	}
}

// Only a 429 or 503 that proves nothing makes a create one that may succeed later.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    v1alpha1.CallKind
		outcome idv.Outcome
		status  int
		problem *idv.Problem // the service's own word
		want    v1alpha1.CallAnswer
	}{
		{v1alpha1.CallCreate, idv.Unknown, 429, nil, v1alpha1.AnswerRetryable},
		{v1alpha1.CallCreate, idv.Unknown, 503, nil, v1alpha1.AnswerRetryable},
		{v1alpha1.CallCreate, idv.Unknown, 503, &idv.Problem{}, ""},
		{v1alpha1.CallCreate, idv.Unknown, 502, nil, ""},
		{v1alpha1.CallCreate, idv.Unknown, 0, nil, ""},
		{v1alpha1.CallCreate, idv.NotSent, 503, nil, v1alpha1.AnswerNotSent}, // of a login
		{v1alpha1.CallComplete, idv.Unknown, 429, nil, ""},
		{v1alpha1.CallResendInvite, idv.Unknown, 503, nil, ""},
	} {
		err := &idv.Error{Outcome: test.outcome, Status: test.status, Problem: test.problem}
		if got := refusalOf(test.kind, err); got != test.want {
			t.Errorf("%s, %v %d: %q, want %q", test.kind, test.outcome, test.status, got, test.want)
		}
	}
}

// What did not reach the service is tried again later, and not at once, however often it was sent before. A
// subscription keeps nothing else from being done.
func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	unsent := calling(v1alpha1.CallComplete, attemptAnswered)
	unsent.outcome, unsent.answer = idv.NotSent, v1alpha1.AnswerNotSent
	turnedAway := calling(v1alpha1.CallComplete, attemptAnswered)
	turnedAway.outcome, turnedAway.answer = idv.Refused, v1alpha1.AnswerNotSent // because of who asked
	refusal := turnedAway
	refusal.answer = v1alpha1.AnswerRefused
	withdrawn := calling(v1alpha1.CallComplete, attemptWithdrawn)
	unread := withdrawn
	unread.why = v1alpha1.ReasonRetrying
	subscription := func(attempt attemptFacts) attemptFacts {
		attempt.kind = v1alpha1.CallSubscribe
		return attempt
	}
	for name, test := range map[string]struct {
		attempt attemptFacts
		reason  string
		paused  bool
	}{
		"not sent":                     {unsent, v1alpha1.ReasonReadFailed, false},
		"turned away":                  {turnedAway, v1alpha1.ReasonReadFailed, false},
		"refused":                      {refusal, "", false},
		"withdrawn":                    {withdrawn, reasonStaleCache, false},
		"the Mandate cannot be read":   {unread, v1alpha1.ReasonRetrying, false},
		"a subscription, not sent":     {subscription(unsent), "", true},
		"a subscription, refused":      {subscription(refusal), "", false},
		"a subscription, withdrawn":    {subscription(withdrawn), "", true},
		"a subscription, not verified": {subscription(unread), "", true},
	} {
		r := subscribable(func(*reconciliation) {})
		r.facts.attempt = test.attempt
		r.concluded(test.attempt)
		if r.facts.attempt.phase != attemptNone || r.facts.failureReason != test.reason ||
			(r.facts.subscription.phase == subscriptionPaused) != test.paused {
			t.Errorf("%s: it ends with %q, and the subscription is in phase %d",
				name, r.facts.failureReason, r.facts.subscription.phase)
		}
	}
}

// A call that is sent once more keeps its entry, and one about other evidence gets its own.
func TestNextCall(t *testing.T) {
	t.Parallel()
	m := ordering()
	m.Generation = 3
	r := connected(&Reconciler{}, scope{mandate: m}, nil)
	r.facts.record = logged(completeCall, v1alpha1.CallUnknown, 1)
	r.facts.record.calls[0].Answer = v1alpha1.AnswerNotSent
	before := r.facts.record.calls[0]
	again := r.ordered(completeCall, now)
	want := v1alpha1.Call{
		Seq: before.Seq, Kind: v1alpha1.CallComplete, Evidence: "seen-1", Generation: 3, Nonce: again.Nonce,
		FirstStartedTime: before.FirstStartedTime, StartedTime: ledger.MicroTime(now), Sends: 2,
	}
	if diff := cmp.Diff(want, again); diff != "" || again.Nonce == before.Nonce {
		t.Errorf("it is sent again as (-want +got):\n%s", diff)
	}
	review := r.ordered(firstReview, now)
	want = v1alpha1.Call{
		Kind: v1alpha1.CallAcceptCheck, Individual: "jane", Check: 5, Evidence: "check-5", Generation: 3, Nonce: review.Nonce,
		FirstStartedTime: ledger.MicroTime(now), StartedTime: ledger.MicroTime(now), Sends: 1,
	}
	if diff := cmp.Diff(want, review); diff != "" {
		t.Errorf("a review is sent as (-want +got):\n%s", diff)
	}
}

// patches keeps what is written last.
type patches struct {
	client.Writer
	last []byte
}

func (p *patches) Patch(
	_ context.Context, into client.Object, patch client.Patch, _ ...client.PatchOption,
) (err error) {
	p.last, err = patch.Data(into)
	return err
}

// earlier is what is left in a record of a call that a hundred others have followed.
func earlier(call *v1alpha1.Call) []string {
	written := &patches{}
	log := ledger.Ledger{Writer: written}
	made := *call
	made.Seq, made.Result = 1, v1alpha1.CallDone
	record := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Calls: []v1alpha1.Call{made}}}
	for seq := range int32(99) {
		record.Spec.Calls = append(record.Spec.Calls, v1alpha1.Call{Seq: seq + 2, Kind: v1alpha1.CallResendInvite})
	}
	_, _ = log.Begin(context.Background(), record, ledger.New(v1alpha1.CallArchive, now), nil) // which nobody stores
	var operations []struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	var digests []string
	_ = json.Unmarshal(written.last, &operations)
	for _, o := range operations {
		if o.Path == "/spec/earlier" {
			_ = json.Unmarshal(o.Value, &digests)
		}
	}
	return digests
}

// The cases of an order of which only a digest is left rely on it.
func TestOldCalls(t *testing.T) {
	t.Parallel()
	r := recordFacts{earlier: earlier(completeCall)}
	if !r.wasMade(completeCall) || r.wasMade(rejectCall) || r.wasMade(&v1alpha1.Call{Kind: v1alpha1.CallComplete}) {
		t.Errorf("a digest is left of what was not made: %q", r.earlier)
	}
}
