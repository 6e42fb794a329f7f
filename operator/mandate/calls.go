package mandate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// order is the call on the application that the spec asks for; nil for a create.
func (r *reconciliation) order() *v1alpha1.Call {
	if r.facts.id == 0 {
		return nil
	}
	return nextOrder(r.facts)
}

// begin writes a call into the record: an order, or a create without one. Only after the API server has confirmed that
// may this process send it, and no other process may. Where there is no record, it is made with the call in it. That of
// an application may have been lost. In a namespace that is being deleted, no record can be made, and what
// deletionPolicy says is done without one.
func (r *reconciliation) begin(ctx context.Context, order *v1alpha1.Call) error {
	kind := v1alpha1.CallCreate
	if order != nil {
		kind = order.Kind
	}
	if !r.beginAttempt(ctx, kind) {
		return nil
	}
	started := r.now()
	call, about := r.nextCall(order, started)
	// Not cut short: a begin whose answer is lost counts as a call that may have been sent.
	ctx = context.WithoutCancel(ctx)
	if marked, err := r.deleter.markArchiving(ctx, &call); !marked {
		r.notBegun(&call)
		return r.refused(ctx, marksMandate, err)
	}
	record, err := r.beginRecorded(ctx, call, about)
	switch {
	case errors.Is(err, ledger.ErrFull):
		r.notBegun(&call)
		r.facts.record.full = true
	case r.record == nil && errors.Is(err, ledger.ErrNoNamespace) && r.facts.deletion.requested:
		r.begun(nil, call, started)
	case err != nil:
		r.notBegun(&call)
		return r.reloadIfLost(ctx, err)
	default:
		r.begun(record, call, started)
	}
	return nil
}

func (r *reconciliation) beginRecorded(
	ctx context.Context, call v1alpha1.Call, about *v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	if r.record != nil {
		return r.config.Ledger.Begin(ctx, r.record, call, about)
	}
	call.Seq = 1
	about.Calls = []v1alpha1.Call{call}
	return r.config.Ledger.Claim(ctx, r.name(), *about)
}

// notBegun is for a call that is not sent. The record, or the mark of an archiving, may be there all the same.
func (r *reconciliation) notBegun(call *v1alpha1.Call) {
	r.learnUnsent(call.Nonce)
	r.returnRequest(call.Kind)
}

// beginAttempt takes what the request waits for, and makes a shutdown wait for the end of this reconciliation. It
// reports false if the request cannot be sent now, and once a shutdown has begun.
func (r *reconciliation) beginAttempt(ctx context.Context, kind v1alpha1.CallKind) bool {
	permit, err := engine.Prepare(ctx, r.client, kind)
	if err != nil {
		r.facts.retryAfter = idv.RetryAfterOf(err)
		r.callFailedWith(kind, "", err)
		r.callFailed(kind, retryReason(kind))
		log.FromContext(ctx).Info("A call cannot be sent now", "call", kind, "error", err.Error())
		return false
	}
	r.permit.Close()
	r.permit = permit
	if ledger.IsLimited(kind) && !r.takeBudget(ctx, kind) {
		return false
	}
	r.attempting = r.attempting || r.runner.TryBegin()
	if !r.attempting {
		r.facts.failureReason = reasonStaleCache
	}
	return r.attempting
}

// takeBudget takes the request of the budget of the service. It reports false if it has to wait.
func (r *reconciliation) takeBudget(ctx context.Context, kind v1alpha1.CallKind) bool {
	wait, err := r.config.Budgets.Take(ctx, r.session.Key, &r.session.Connection, r.waiter())
	r.facts.retryAfter = wait
	switch {
	case err != nil:
		log.FromContext(ctx).Info("Failed to reserve a request, sent nothing", "error", apierror.Redact(err).Error())
		r.callFailed(kind, retryReason(kind))
	case wait > 0:
		r.callFailed(kind, v1alpha1.ReasonCreationBudgetReached)
	default:
		return true
	}
	return false
}

// returnRequest is for a call of which nothing was sent, and nothing will be.
func (r *reconciliation) returnRequest(kind v1alpha1.CallKind) {
	if ledger.IsLimited(kind) {
		r.config.Budgets.Return(r.session.Key, &r.session.Connection, r.waiter())
	}
}

// nextCall is the call that is made now, and what the record is to say of the application; nil if it says that already.
func (r *reconciliation) nextCall(
	order *v1alpha1.Call, now time.Time,
) (v1alpha1.Call, *v1alpha1.ApplicationRecordSpec) {
	if order == nil {
		return r.creator.nextCreate(now)
	}
	call := r.ordered(order, now)
	switch {
	case r.record == nil:
		about := r.recordOf()
		about.ApplicationID = &r.facts.id
		return call, &about
	case r.application == nil:
		return call, nil
	default:
		return call, individuals.Frozen(r.record, individuals.Known(r.mandate), r.matching)
	}
}

// ordered is the call of an order, in a new entry or in the one of a request that was lost.
func (r *reconciliation) ordered(order *v1alpha1.Call, now time.Time) v1alpha1.Call {
	call := ledger.New(order.Kind, now)
	if before := r.facts.record.made(order); before != nil {
		call = ledger.Again(before, now)
	}
	call.Individual, call.Check = order.Individual, order.Check
	call.Evidence, call.Generation = order.Evidence, r.mandate.Generation
	if !r.facts.deletion.requested && order.Kind != v1alpha1.CallSubscribe { // nobody signs these
		call.RequestedBy = engine.RequestedBy(r.mandate)
	}
	return call
}

// begun takes over a call that was begun, in the record if there is one. Others may have seen it there since.
func (r *reconciliation) begun(record *v1alpha1.ApplicationRecord, call v1alpha1.Call, started time.Time) {
	r.nonce = call.Nonce
	r.facts.requested = false // it is done
	r.facts.attempt = attemptFacts{kind: call.Kind, phase: attemptBegun, started: started}
	if call.Kind == v1alpha1.CallSubscribe {
		r.subscriber.begun()
	}
	r.setRecord(record)
}

// attempted is the entry of the call that this reconciliation makes; nil if it has none.
func (r *reconciliation) attempted() *v1alpha1.Call {
	return ledger.Find(r.record, func(c *v1alpha1.Call) bool { return c.Nonce == r.nonce })
}

// verify reads the Mandate and its service past the cache and after the begin. An edit or a deletion that came in
// between must stop the call, and so must an id that somebody else has bound, or a namespace that is not selected any
// more. An operator that knows of an edit finds the entry of the call that is verified here.
func (r *reconciliation) verify(ctx context.Context) {
	live := &v1alpha1.Mandate{}
	r.facts.attempt.looked = r.now()
	r.facts.attempt.looks++
	same, err := r.serviceIsCurrent(ctx)
	err = errors.Join(err, r.config.Live.Get(ctx, r.name(), live))
	same = same && err == nil && r.isCurrent(live) && r.ordersStill(ctx, live)
	r.facts.attempt.phase = attemptWithdrawn
	if same {
		r.facts.attempt.phase = attemptVerified
		// It is protected before the status shows the application: deletionPolicy may be about that.
		if r.facts.attempt.kind == v1alpha1.CallCreate && !r.session.InUse {
			r.config.Services.Connections.ServiceChanged(r.session.Key)
		}
	}
	if err != nil {
		r.facts.attempt.why = v1alpha1.ReasonRetrying
		r.failed(engine.ServerProblem("spec", "", "read the Mandate or its service again", err))
		log.FromContext(ctx).Info("Failed to read the Mandate or its service again, sent nothing",
			"error", apierror.Redact(err).Error())
	}
}

// serviceIsCurrent reports whether the connection is that of the service as it is now, and the namespace may use it.
func (r *reconciliation) serviceIsCurrent(ctx context.Context) (bool, error) {
	current, gone, err := r.session.IsCurrent(ctx, r.liveServices, r.mandate.Namespace)
	return current || gone && r.facts.deletion.requested, err // it went with the namespace, and leads nowhere else
}

// isCurrent reports whether a live Mandate is the one of this reconciliation.
func (r *scope) isCurrent(live *v1alpha1.Mandate) bool {
	return live.UID == r.mandate.UID && live.Generation == r.mandate.Generation &&
		live.DeletionTimestamp.IsZero() == r.mandate.DeletionTimestamp.IsZero()
}

// ordersStill reports whether a live Mandate asks for the call. That it has the same generation is not enough: after a
// restore of etcd, another edit can have it.
func (r *reconciliation) ordersStill(ctx context.Context, live *v1alpha1.Mandate) bool {
	deleted := !live.DeletionTimestamp.IsZero()
	switch kind := r.facts.attempt.kind; {
	case kind == v1alpha1.CallCreate:
		return !deleted && r.creator.ordersStill(ctx, live)
	case r.facts.deletion.requested:
		return deleted && r.deleter.ordersStill(live)
	case deleted, live.Spec.Suspend:
		return false
	case kind == v1alpha1.CallSubscribe:
		return r.subscriber.verify(ctx)
	default:
		return r.actor.ordersStill(live, r.attempted()) && r.showsStill(ctx)
	}
}

// showsStill reports whether the application shows what a decision or a review is about. If the last read of it is so
// long ago that it may not, as with a slow API server, it is read again.
func (r *reconciliation) showsStill(ctx context.Context) bool {
	entry := r.attempted()
	if entry == nil || entry.Evidence == "" || engine.Elapsed(r.local().read, r.facts.now) <= engine.MaxLookAge {
		return true
	}
	before, stage := contentOf(r.matching.Individuals, true), r.facts.application.stage
	r.observer.read(ctx)
	a := &r.facts.application
	return r.facts.failureReason == "" && a.read() && a.reference != referenceOther && !a.differs && !a.unmatched() &&
		a.stage == stage && contentOf(r.matching.Individuals, true) == before
}

// send sends the call, once. A shutdown does not cut it short: the client sees to that, and Drain waits for it.
func (r *reconciliation) send(ctx context.Context) {
	a := &r.facts.attempt
	ctx = r.permit.Context(ctx, func() bool {
		r.facts.now = r.now()
		r.verify(ctx)
		again := r.Decide().Step == stepSend
		a.phase = attemptAnswered
		return again
	})
	a.phase = attemptAnswered
	if a.kind == v1alpha1.CallCreate {
		logger := engine.LogSend(ctx, a.kind, r.attempted(), "reference", r.reference)
		if err := r.creator.post(ctx, logger); err != nil {
			r.callFailedWith(a.kind, a.answer, err)
		}
		return
	}
	logger := engine.LogSend(ctx, a.kind, r.attempted(), "applicationID", r.facts.id)
	var change *idv.Change
	var err error
	switch {
	case r.facts.deletion.requested:
		change, err = r.deleter.send(ctx)
	case a.kind == v1alpha1.CallSubscribe:
		change, err = r.subscriber.send(ctx)
	default:
		change, err = r.actor.send(ctx, r.attempted())
	}
	r.answered(logger, change, err)
}

// answered takes over what the answer to a call proves. What became of it, another read shows.
func (r *reconciliation) answered(logger logr.Logger, change *idv.Change, err error) {
	a := &r.facts.attempt
	if err == nil {
		a.outcome = engine.OutcomeOf(change.Accepted, nil)
		r.facts.application.lookup = applicationUnread
		engine.LogAnswer(logger, a.outcome, nil)
		return
	}
	a.outcome, a.answer = idv.OutcomeOf(err), refusalOf(a.kind, err)
	r.facts.retryAfter = idv.RetryAfterOf(err)
	r.callFailedWith(a.kind, a.answer, err)
	// Where the answer is that the application does not exist, another read has to say so as well.
	if !a.outcome.NothingDone() || idv.IsNotFound(err) {
		r.facts.application.lookup = applicationUnread
	}
	engine.LogAnswer(logger, a.outcome, err)
	if a.outcome == idv.Unknown { // the entry says so already: it was written before the request went out
		kind := a.kind
		r.facts.attempt = attemptFacts{}
		r.callFailed(kind, v1alpha1.ReasonReadFailed)
	}
}

// callFailed ends the reconciliation. A subscription that fails ends nothing else.
func (r *reconciliation) callFailed(kind v1alpha1.CallKind, reason string) {
	if kind == v1alpha1.CallSubscribe {
		r.subscriber.pause(r.facts.retryAfter)
		return
	}
	r.facts.failureReason = reason
}

// conclude records what became of a call. It is known nowhere else, so that is tried until it succeeds.
func (r *reconciliation) conclude(ctx context.Context) error {
	attempt, recorded := r.facts.attempt, r.attempted()
	entry := recorded
	if recorded == nil { // there was no record to begin it in
		entry = new(ledger.New(attempt.kind, r.now()))
	}
	conclusion := r.conclusion(entry)
	if attempt.kind == v1alpha1.CallArchive && conclusion.Sends == 0 { // the Mandate has the mark all the same
		r.learnUnsent(r.nonce)
	}
	if recorded == nil {
		r.facts.record.calls = []v1alpha1.Call{conclusion} // this reconciliation knows, and does not send it again
		r.concluded(attempt)
		return nil
	}
	if entry.Sends > 1 && conclusion.Answer == v1alpha1.AnswerDuplicate { // its account is the one of the request before
		r.config.Services.Connections.Prove(r.session.Key, r.session.Connection.Account, r.session.Connection.Account)
	}
	record, err := r.config.Ledger.End(context.WithoutCancel(ctx), r.record, conclusion)
	lost := errors.Is(err, ledger.ErrLost) || errors.Is(err, ledger.ErrNoNamespace)
	if err != nil && !lost {
		return r.unrecorded(err)
	}
	r.concluded(attempt)
	if lost { // another process may have sent it once more
		r.facts.observe.openCall = true
		return r.reloadIfLost(ctx, ledger.ErrLost)
	}
	r.setRecord(record)
	return nil
}

// concluded ends the attempt, and says what it means for the reconciliation.
func (r *reconciliation) concluded(attempt attemptFacts) {
	r.facts.attempt = attemptFacts{}
	if attempt.phase == attemptUnsent { // it tells nothing of the call that this reconciliation may make
		return
	}
	if attempt.phase != attemptAnswered || attempt.outcome == idv.NotSent {
		r.returnRequest(attempt.kind)
	}
	switch {
	case attempt.phase == attemptWithdrawn:
		r.callFailed(attempt.kind, cmp.Or(attempt.why, reasonStaleCache))
	case answerOf(attempt) == v1alpha1.AnswerNotSent: // what is slow gets slower by calls that begin again at once
		r.callFailed(attempt.kind, retryReason(attempt.kind))
	}
}

// retryReason is that of a call that is made again soon, and later each time.
func retryReason(kind v1alpha1.CallKind) string {
	if kind == v1alpha1.CallCreate {
		return v1alpha1.ReasonRetrying
	}
	return v1alpha1.ReasonReadFailed
}

// unrecorded: the API server did not record how the call ended. The status says so, and then only that is tried again.
func (r *scope) unrecorded(err error) error {
	if r.facts.attempt.end == endOpen {
		r.facts.attempt.end = endRefused
		r.failed(writesRecord.Problem("", err))
		return nil
	}
	return &engine.UnrecordedError{Err: err}
}

// resolveLost records what a read shows of a call whose process has ended before it could.
func (r *reconciliation) resolveLost(ctx context.Context) error {
	open, result := r.facts.record.open(), v1alpha1.CallUnknown
	if isShown(r.facts, open) {
		result = v1alpha1.CallDone
	}
	log.FromContext(ctx).Info("Recording what became of a call whose answer was lost",
		"call", open.Kind, "result", result, "applicationID", r.facts.id)
	return r.endOther(ctx, ledger.Ended(*open, result, r.now()))
}

// settle records that the create has no clear outcome, or that a person says that it created nothing.
func (r *reconciliation) settle(ctx context.Context) error {
	settled, said := ledger.Ended(*ledger.CreateOf(r.record), v1alpha1.CallUnknown, r.now()), r.facts.record.notCreated
	if said {
		settled.Result, settled.Answer = v1alpha1.CallNotSent, v1alpha1.AnswerNotCreated
		settled.Sends, settled.RequestedBy = 0, engine.RequestedBy(r.mandate)
	}
	log.FromContext(ctx).Info("Recording what became of a create without a clear answer",
		"result", settled.Result, "answer", settled.Answer, "reference", r.record.Spec.Reference)
	err := r.endOther(ctx, settled)
	if said && r.facts.record.answer == v1alpha1.AnswerNotCreated {
		r.event(corev1.EventTypeNormal, string(v1alpha1.AnswerNotCreated), engine.ActionReconcile,
			"A person says that the create without a clear answer created nothing. The operator creates the application.")
	}
	return err
}

// endOther records what became of a call of a process that has ended, or whose answer was unclear.
func (r *reconciliation) endOther(ctx context.Context, ended v1alpha1.Call) error {
	record, err := r.config.Ledger.EndOther(ctx, r.record, ended)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.setRecord(record)
	return nil
}

// showPending writes that the result of a call is not recorded. Nothing depends on whether that succeeds.
func (r *reconciliation) showPending(ctx context.Context) {
	r.facts.attempt.end = endShown
	if id := r.facts.attempt.id; id != 0 {
		r.event(corev1.EventTypeWarning, v1alpha1.ReasonRecordPending, engine.ActionReconcile, notRecorded(id).Message)
	}
	if err := r.writeStatus(context.WithoutCancel(ctx), v1alpha1.ReasonRecordPending, 0); err != nil {
		log.FromContext(ctx).Info("Failed to write the status", "error", apierror.Redact(err).Error())
	}
}
