package mandate

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

func (r *reconciliation) readRecord(ctx context.Context) error {
	record, err := r.config.Ledger.Get(ctx, r.name())
	if err != nil {
		return err
	}
	r.setRecord(record)
	return nil
}

// RecordChanged is told that an action has changed the record of a Mandate. Evidence depends on that, and nothing that
// the service shows may tell of it: both are read again. A Mandate that was not reconciled yet is read anyway. It does
// not block.
func (r *Reconciler) RecordChanged(mandate types.NamespacedName) {
	if r.localState.UpdateNamed(mandate, func(s *localState) { s.recordChanges++ }) {
		r.wake(mandate)
	}
}

// recordOutdated reports whether an action has changed the record since the evidence in the status was made of it.
func (s *localState) recordOutdated() bool { return s.recordChanges != s.recordShown }

// setRecord takes over what a record says.
func (r *scope) setRecord(record *v1alpha1.ApplicationRecord) {
	r.record = record
	found := recordFacts{lookup: recordMissing}
	if begun := engine.ArchivingCall(r.mandate); record == nil && begun != "" && !r.isUnsent(begun) {
		found.calls = []v1alpha1.Call{ledger.Ended(*archiveOrder(), v1alpha1.CallAccepted, r.facts.now)}
	}
	if record != nil {
		found.lookup, found.full = recordFound, ledger.IsFull(record)
		found.calls, found.earlier = record.Spec.Calls, record.Spec.Earlier
		if id := record.Spec.ApplicationID; id != nil {
			found.id = *id
		}
		found.otherReference = record.Spec.Reference != r.reference
		// The record of another application says nothing about the one in the status.
		about := r.facts.id == 0 || r.facts.id == found.id
		found.otherURL = about && record.Spec.ServiceURL != r.session.Connection.URL
		switch used := &r.session.Connection; {
		case about && used.IsOther(record):
			found.account = accountOther
		case about && used.HasOtherName(record):
			found.account = accountRenamed
		}
		found.restored = ledger.IsRestored(record, engine.CompleteRecord(r.mandate))
		found.setCreate(record, engine.NotCreated(r.mandate), r.now())
		found.observed = r.firstSeen(ledger.Open(record))
	}
	r.facts.record = found
	if r.facts.id == 0 && !found.otherURL && !found.otherReference {
		r.facts.id = found.id
	}
	r.learnAccount()
	r.setCreatedTime()
	r.recordSet = true
}

// setCreate takes over what a record says of the create, and what a person says of the one that ended then.
func (f *recordFacts) setCreate(record *v1alpha1.ApplicationRecord, notCreated string, now time.Time) {
	create := ledger.CreateOf(record)
	if create == nil {
		return
	}
	f.sends, f.result = create.Sends, create.Result
	f.answer, f.inputs = create.Answer, create.Inputs
	f.firstStarted = create.FirstStartedTime.Time
	f.started, f.retryAt = create.StartedTime.Time, ledger.RetryTime(record, create, now)
	f.notCreated = create.Result == v1alpha1.CallUnknown && ledger.EndOf(create) == notCreated
	if create.CandidateID != nil {
		f.candidate = *create.CandidateID
	}
}

// unsentNonces are those of the last calls whose begin had no answer: none was sent. While the API server is slow, the
// answer that says that a record exists is about one of the begins before.
type unsentNonces [3]string

func (r *scope) learnUnsent(nonce string) {
	r.learn(func(s *localState) { s.unsent = unsentNonces{nonce, s.unsent[0], s.unsent[1]} })
}

func (r *scope) isUnsent(nonce string) bool {
	unsent := r.local().unsent
	return slices.Contains(unsent[:], nonce)
}

// dropUnsent ends a call that this process has begun without an answer of the API server: it was not sent.
func (r *reconciliation) dropUnsent() {
	open := ledger.Find(r.record, func(c *v1alpha1.Call) bool { return c.Result == "" && r.isUnsent(c.Nonce) })
	if open != nil && r.facts.attempt.phase == attemptNone {
		r.nonce = open.Nonce
		r.facts.attempt = attemptFacts{kind: open.Kind, phase: attemptUnsent, started: r.now()}
	}
}

// setCreatedTime takes the creation time from the record of the application, if the status does not have it.
func (r *scope) setCreatedTime() {
	if r.record == nil || r.facts.id == 0 || r.facts.id != r.facts.record.id || !r.facts.createdTime.IsZero() {
		return
	}
	r.facts.createdTime = r.facts.record.firstStarted // if it was adopted after its own create had no answer
	if created := r.record.Spec.CreatedTime; created != nil {
		r.facts.createdTime = created.Time
	}
}

// firstSeen is when this process first saw the call whose result is open; zero if there is none.
func (r *scope) firstSeen(open *v1alpha1.Call) time.Time {
	if open == nil {
		if r.local().attempt != (engine.FirstSeen{}) {
			r.learn(func(s *localState) { s.attempt = engine.FirstSeen{} })
		}
		return time.Time{}
	}
	return r.learn(func(s *localState) { s.attempt.See(open.Nonce, r.now()) }).attempt.Time
}

// reloadIfLost has the ledger read again after a lost race: it says who won.
func (r *scope) reloadIfLost(ctx context.Context, err error) error {
	if !errors.Is(err, ledger.ErrLost) {
		return err
	}
	log.FromContext(ctx).V(1).Info("ApplicationRecord changed meanwhile, reading it again")
	r.facts.record, r.facts.create.neverReconciled = recordFacts{}, false
	r.record = nil
	return nil
}

// conclusion is the entry of a call with what its answer proves. A request that did nothing does not count. What became
// of the ones before it stays open.
func (r *reconciliation) conclusion(entry *v1alpha1.Call) v1alpha1.Call {
	a, answer := r.facts.attempt, answerOf(r.facts.attempt)
	result, sends := v1alpha1.CallUnknown, entry.Sends
	switch {
	case a.outcome == idv.Done:
		result = v1alpha1.CallDone
	case answer == "" || answer == v1alpha1.AnswerIDTooLarge:
		result = v1alpha1.CallAccepted
	case a.phase == attemptAnswered && a.outcome == idv.Unknown: // turned away
		sends = max(1, sends-1)
	case entry.Sends == 1:
		result, sends = resultOf(answer), 0
	case a.duplicate: // the application of an earlier request exists, or its individuals: its id is lost
		answer = v1alpha1.AnswerDuplicate
	default:
		sends--
	}
	conclusion := ledger.Ended(*entry, result, r.now())
	conclusion.Sends, conclusion.Answer = sends, answer
	if a.candidate != 0 {
		conclusion.CandidateID = &a.candidate
	}
	return conclusion
}

// answerOf says what the last request of a call proves; "" if it was carried out, or may have been.
func answerOf(a attemptFacts) v1alpha1.CallAnswer {
	if a.phase != attemptAnswered { // it was withdrawn, or too late
		return v1alpha1.AnswerNotSent
	}
	return a.answer
}

// refusalOf says what an error proves of a request; "" if it may have been carried out. What is refused because of who
// asks, or how often, counts as not sent. To send the same reference again is safe, so creates that were turned away
// count as one, and not among those whose answers were lost.
func refusalOf(kind v1alpha1.CallKind, err error) v1alpha1.CallAnswer {
	create, cause := kind == v1alpha1.CallCreate, idv.KindOf(err)
	switch outcome := idv.OutcomeOf(err); {
	case create && idv.IsTurnedAway(err):
		return v1alpha1.AnswerRetryable
	case !outcome.NothingDone():
		return ""
	case !idv.IsRefusal(err):
		return v1alpha1.AnswerNotSent
	case create && cause == idv.KindDuplicateReference:
		return v1alpha1.AnswerDuplicate
	case outcome == idv.Forbidden:
		return v1alpha1.AnswerForbidden
	case create && cause != idv.KindInvalid:
		return v1alpha1.AnswerRetryable
	default:
		return v1alpha1.AnswerRefused
	}
}

// resultOf is the result of a call of which no request did anything.
func resultOf(answer v1alpha1.CallAnswer) v1alpha1.CallResult {
	switch answer {
	case v1alpha1.AnswerNotSent:
		return v1alpha1.CallNotSent
	case v1alpha1.AnswerForbidden:
		return v1alpha1.CallForbidden
	default:
		return v1alpha1.CallRefused
	}
}
