package action

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// Why nobody is e-mailed twice, whichever process ends at whatever moment:
//
// The request goes out only after its attempt is in the status, written on condition that nobody has written since the
// action was read, and only from the reconciliation that wrote it. So an attempt in the status means: one request at
// most, by one process, and nobody else sends while it is there.
//
// The status goes with its object, and a GitOps tool applies the object again. So the name goes into the ledger, too,
// after the attempt is in the status: one object of a name starts, ever. If the operator ends in between, the attempt
// in the status is what the next one finds, and it ends the action as OutcomeUnknown. The other way round, it would
// take the action for one that was done.
//
// The attempt leaves the status in two ways. Either the action ends, which is final. Or it is certain that nothing was
// done: the client proves it (NotSent, 429, 401), or nothing was sent, because something had changed since it was read.
// Then the name leaves the ledger, and after that the attempt leaves the status. The action is open again, and an
// operator makes the next attempt on condition of that very write. An operator that ends cannot lose the proof in such
// a way that another one sends: the proof counts once it is written, and until then the attempt is still there, and
// another operator ends the action as OutcomeUnknown. A shutdown before the request is such a proof, and is written.
// After it, the client is not cut short, and Drain waits for the answer and its writing.
//
// If an operator is held up for longer than the handover between its start and its last look at the action, it finds
// that another one has ended the action as OutcomeUnknown, and sends nothing. If it is held up after that look, it
// sends one request, and the status is right.

// errIncomplete means that the API server dropped a field.
var errIncomplete = errors.New("the MandateAction CRD is older than this operator: apply the CRDs of this version")

// start records that this reconciliation carries the action out.
func (r *reconciliation) start(ctx context.Context) error {
	if r.facts.emails && !r.beginAttempt(ctx) {
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	err := r.writeStatus(context.WithoutCancel(ctx), v1alpha1.ReasonStarted)
	switch {
	case err == nil:
		return r.started()
	case apierrors.IsConflict(err):
		r.facts.failureReason = reasonStaleCache
		return nil
	case apierrors.IsNotFound(err):
		r.facts.failureReason = reasonDeleting
		return nil
	case r.facts.emails:
		r.facts.attempt.startUnknown = true
		return nil
	}
	return err
}

// readStart looks whether a start was written, the write of which failed. If it was, it is canceled: nothing was sent.
// If not, another operator may carry the action out, and what the ledger says of it is not this one's to change.
func (r *reconciliation) readStart(ctx context.Context) error {
	attempt := &r.facts.attempt
	err := r.refresh(context.WithoutCancel(ctx))
	switch {
	case apierrors.IsNotFound(err):
		r.facts.failureReason = reasonDeleting
	case err != nil:
		return &engine.UnrecordedError{Err: err}
	case r.action.Status.Attempt == r.attempt:
		attempt.mine, attempt.canceled = true, true
	default:
		r.facts.failureReason = reasonStaleCache
	}
	attempt.startUnknown = false
	return nil
}

// started takes over that the start is written, and nobody else's.
func (r *reconciliation) started() error {
	if r.facts.emails && r.action.Status.Attempt != r.attempt {
		return errIncomplete
	}
	r.facts.started = true
	r.facts.attempt.mine = r.facts.emails
	return nil
}

// beginAttempt makes a shutdown wait for the end of this reconciliation. It reports false once a shutdown has begun.
func (r *reconciliation) beginAttempt(ctx context.Context) bool {
	r.attempting = r.attempting || ctx.Err() == nil && r.runner.TryBegin()
	return r.attempting
}

// send sends the request that e-mails the individual, once.
func (r *reconciliation) send(ctx context.Context) {
	request := r.client.ResendInvites
	if r.action.Spec.Type == v1alpha1.MandateActionResetIndividual {
		request = r.client.ResetIndividual
	}
	change, err := request(ctx, r.facts.mandate.individual)
	a := &r.facts.attempt
	a.sent = true
	a.success, a.accepted = err == nil, err == nil && change.Accepted
	logger := log.FromContext(ctx).
		WithValues("type", r.action.Spec.Type, "applicationID", r.facts.mandate.application, "attempt", r.attempt)
	if err == nil {
		logger.Info("Carried out the action")
		return
	}
	a.outcome = idv.OutcomeOf(err)
	a.kind = idv.KindOf(err)
	a.refusal = idv.IsRefusal(err)
	r.facts.retryAfter = idv.RetryAfterOf(err)
	logger.Info("Action failed or its outcome is unknown", "outcome", a.outcome.String(), "error", err.Error())
}

// conclude records what became of the attempt: it is known nowhere else.
func (r *reconciliation) conclude(ctx context.Context, reason string) error {
	err := r.writeEnd(context.WithoutCancel(ctx), reason)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return &engine.UnrecordedError{Err: err}
	}
	return nil
}

// writeEnd ends the attempt in the status, if it is there. Somebody may have edited the action meanwhile.
func (r *reconciliation) writeEnd(ctx context.Context, reason string) error {
	if err := r.writeStatus(ctx, reason); !apierrors.IsConflict(err) {
		return err
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	if r.action.Status.Attempt != r.attempt {
		// Ended by an earlier try, or by another operator that took this attempt for a lost one.
		log.FromContext(ctx).Info("Action already ended or deleted, dropping its result", "reason", reason)
		return nil
	}
	return r.writeStatus(ctx, reason)
}

// refresh reads the action past the cache. If it was deleted and applied again, that shows in the attempt: no other
// action has this one.
func (r *reconciliation) refresh(ctx context.Context) error {
	live := &v1alpha1.MandateAction{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(r.action), live); err != nil {
		return err
	}
	r.action = live
	return nil
}
