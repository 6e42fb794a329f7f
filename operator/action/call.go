package action

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// order makes a call the one that the action orders. Kinds of calls have the names of types of actions.
func (r *reconciliation) order(call v1alpha1.Call) v1alpha1.Call {
	call.Kind, call.Individual = v1alpha1.CallKind(r.action.Spec.Type), r.action.Spec.Individual
	call.Name, call.UID = r.action.Name, r.action.UID
	return call
}

// begin records the call. It is not cut short: whether a write that failed was made, the next read of the record shows.
func (r *reconciliation) begin(ctx context.Context) error {
	permit, err := engine.Prepare(ctx, r.client, v1alpha1.CallKind(r.action.Spec.Type))
	if err != nil {
		r.requestFailed(ctx, err)
		return nil
	}
	r.permit.Close() // that of a begin that was lost
	r.permit = permit
	wait, err := r.config.Budgets.Take(ctx, r.session.Key, &r.session.Connection, r.waiter())
	if err != nil {
		return r.refused(ctx, reservesRequest, err)
	}
	if wait > 0 {
		r.facts.failureReason, r.facts.retryAfter = v1alpha1.ReasonCreationBudgetReached, wait
		return nil
	}
	if !r.beginAttempt(ctx) {
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	started := r.clock.Now()
	call := ledger.New("", started)
	if r.entry != nil { // nothing was sent for it
		call = ledger.Again(r.entry, started)
	}
	call = r.order(call)
	call.Evidence, call.Generation = r.evidence, r.mandate.Generation
	call.RequestedBy = engine.RequestedBy(r.action)
	about := individuals.Frozen(r.record, r.expected, r.matching)
	record, err := r.config.Ledger.Begin(context.WithoutCancel(ctx), r.record, call, about)
	if err != nil {
		r.returnRequest()
	}
	switch {
	case errors.Is(err, ledger.ErrLost):
		r.facts.record = recordFacts{}
	case err != nil:
		r.localState.Update(r.action, func(s *localState) { s.unsent = call.Nonce })
		return err
	default:
		r.call = *ledger.Find(record, func(c *v1alpha1.Call) bool { return c.Nonce == call.Nonce })
		r.setRecord(record)
		r.facts.call.phase, r.facts.call.started = begun, started
	}
	return nil
}

// returnRequest is for a call of which nothing was sent, and nothing will be.
func (r *reconciliation) returnRequest() {
	r.config.Budgets.Return(r.session.Key, &r.session.Connection, r.waiter())
}

// waiter is the action, as the budget of its service knows it.
func (r *reconciliation) waiter() budget.Waiter {
	return budget.Waiter{Action: true, NamespacedName: client.ObjectKeyFromObject(r.action)}
}

// beginAttempt makes a shutdown wait for the end of this reconciliation. It reports false once a shutdown has begun.
func (r *reconciliation) beginAttempt(ctx context.Context) bool {
	r.attempting = r.attempting || ctx.Err() == nil && r.TryBegin()
	return r.attempting
}

// verify sees, right before the request, whether everything is still as it was read. If not, or if that cannot be
// known, nothing is sent.
func (r *reconciliation) verify(ctx context.Context) error {
	looked := r.clock.Now()
	r.facts.call.looks++
	same, err := r.isCurrent(ctx)
	switch {
	case r.facts.emails && same:
		r.facts.call.phase, r.facts.call.looked = verified, looked
	case r.facts.emails:
		r.withdraw()
		if err != nil {
			r.facts.problems = []v1alpha1.Problem{serverRequests[stepVerify].Problem("", err)}
			log.FromContext(ctx).Info("Failed to look once more, sent nothing", "error", apierror.Redact(err).Error())
		}
		return nil
	case same:
		r.facts.report.verified = true
	case err == nil:
		r.facts.failureReason = reasonStaleCache
	}
	return err
}

// withdraw ends the call before it was sent.
func (r *reconciliation) withdraw() {
	r.facts.call = callFacts{phase: over, result: v1alpha1.CallNotSent}
	r.returnRequest()
}

// isCurrent reports whether nobody has deleted, replaced, suspended or redirected the action, its Mandate or the
// service, and the call is still this reconciliation's: another operator may have ended it, or the record may be gone.
func (r *reconciliation) isCurrent(ctx context.Context) (bool, error) {
	type object struct {
		kind string
		read *metav1.ObjectMeta
	}
	objects := []object{{"Mandate", &r.mandate}, {"MandateAction", &r.action.ObjectMeta}}
	if r.facts.emails {
		objects = append(objects, object{"ApplicationRecord", &r.record.ObjectMeta})
	}
	var current atomic.Int32
	var all errgroup.Group // one after another, they take too long where the API server is slow
	all.Go(func() error {
		same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)
		if same && err == nil {
			current.Add(1)
		}
		return err
	})
	for _, o := range objects {
		all.Go(func() error {
			name := types.NamespacedName{Namespace: o.read.Namespace, Name: o.read.Name}
			live, err := engine.ReadMetadata(ctx, r.config.Live, o.kind, name)
			if err != nil || live == nil || live.UID != o.read.UID || live.ResourceVersion != o.read.ResourceVersion {
				return err
			}
			current.Add(1)
			return nil
		})
	}
	err := all.Wait()
	return int(current.Load()) == 1+len(objects), err
}

// send sends the request that e-mails the individual, once.
func (r *reconciliation) send(ctx context.Context) error {
	request := r.client.ResendInvites
	if r.call.Kind == v1alpha1.CallResetIndividual {
		request = r.client.ResetIndividual
	}
	logger := engine.LogSend(ctx, r.call.Kind, &r.call, "applicationID", r.facts.mandate.application)
	look := func() bool { return r.verify(ctx) == nil && r.Decide().Step == stepSend }
	change, err := request(r.permit.Context(ctx, look), r.facts.mandate.individual)
	r.facts.call = callFacts{phase: over, result: resultOf(change, err), notFound: idv.IsNotFound(err)}
	r.facts.retryAfter = idv.RetryAfterOf(err)
	engine.LogAnswer(logger, engine.OutcomeOf(change != nil && change.Accepted, err), err)
	if err != nil {
		r.failed(err)
	}
	if idv.OutcomeOf(err) == idv.NotSent {
		r.returnRequest()
	}
	return nil
}

// resultOf says what the answer to the request means for the call.
func resultOf(change *idv.Change, err error) v1alpha1.CallResult {
	switch outcome := idv.OutcomeOf(err); {
	case err == nil && change.Accepted:
		return v1alpha1.CallAccepted
	case err == nil:
		return v1alpha1.CallDone
	case !outcome.NothingDone():
		return v1alpha1.CallUnknown
	case !idv.IsRefusal(err): // but of who asked, or how often
		return v1alpha1.CallNotSent
	case outcome == idv.Forbidden:
		return v1alpha1.CallForbidden
	default:
		return v1alpha1.CallRefused
	}
}

// end records what became of the call of this reconciliation, or of one that nobody else will end.
func (r *reconciliation) end(ctx context.Context) error {
	if p := r.facts.call.phase; p == begun || p == verified { // too late
		r.withdraw()
		r.facts.problems = []v1alpha1.Problem{{Field: "spec.type", Message: tooSlow}}
	}
	call, result := r.open, v1alpha1.CallUnknown
	end := r.config.Ledger.EndOther
	switch {
	case r.facts.call.phase == over:
		call, result = &r.call, r.facts.call.result
		end = r.config.Ledger.End
	case r.facts.record.open == unsentCall:
		result = v1alpha1.CallNotSent
	}
	ended := ledger.Ended(*call, result, r.facts.now)
	switch result {
	case v1alpha1.CallNotSent, v1alpha1.CallRefused, v1alpha1.CallForbidden: // the request did nothing
		ended.Sends--
	}
	record, err := end(ctx, r.record, ended)
	switch lost := errors.Is(err, ledger.ErrLost) || errors.Is(err, ledger.ErrNoNamespace); {
	case lost && r.facts.call.phase != over:
		r.facts.record = recordFacts{} // it has changed since it was read
		return nil
	case lost:
		log.FromContext(ctx).Info("The record is gone or was restored, dropping the result of a call", "result", result)
	case err != nil && r.facts.call.phase == over:
		return r.unrecorded(err)
	case err != nil:
		return err
	default:
		r.setRecord(record)
	}
	if r.facts.call.phase == over {
		r.facts.call.phase = recorded
	}
	return nil
}

// readRecord sees in the ledger, past any cache, whether the name was used.
func (r *reconciliation) readRecord(ctx context.Context) error {
	record, err := r.config.Ledger.Get(ctx, r.mandateName())
	if err != nil {
		return err
	}
	r.setRecord(record)
	return nil
}

// setRecord takes over what the ledger says; nil is no record.
func (r *reconciliation) setRecord(record *v1alpha1.ApplicationRecord) {
	r.record = record
	r.entry, r.open = nil, nil
	f := recordFacts{read: true}
	if record != nil {
		f.application, f.full = ptr.Deref(record.Spec.ApplicationID, 0), ledger.IsFull(record)
	}
	if record != nil && r.facts.emails {
		wanted := r.order(v1alpha1.Call{})
		f.name, r.entry = ledger.UseOf(record, &wanted)
		f.result = v1alpha1.CallDone
		if r.entry != nil {
			f.result = r.entry.Result
		}
		f.open = r.findOpen()
	}
	if r.open != nil {
		see := func(s *localState) { s.open.See(r.open.Nonce, r.clock.Now()) }
		f.seen = r.localState.Update(r.action, see).open.Time
	}
	r.facts.record = f
	r.compareRecord()
}

// compareRecord is after the record was read, and after the Mandate and its connection were: either may come later.
func (r *reconciliation) compareRecord() {
	f, read := &r.facts.record, r.record != nil
	f.otherAccount = read && r.session.Connection.IsOther(r.record)
	f.restored = read && ledger.IsRestored(r.record, engine.CompleteRecord(&r.mandate))
}

// findOpen finds the call that may be under way, first of all one under the name of the action, and says what it is.
func (r *reconciliation) findOpen() openCall {
	r.open = ledger.Open(r.record)
	if r.entry != nil && r.entry.Result == "" {
		r.open = r.entry
	}
	switch {
	case r.open == nil:
		return noCall
	case r.open.Nonce == r.localState.Get(r.action).unsent:
		return unsentCall
	case ledger.RemedyOf(r.open.Kind) == ledger.AskPerson:
		return emailingCall
	default:
		return otherCall
	}
}

func (r *reconciliation) tellOfReset() {
	if r.config.ResetEnded != nil && r.action.Spec.Type == v1alpha1.MandateActionResetIndividual {
		r.config.ResetEnded(r.mandateName())
	}
}
