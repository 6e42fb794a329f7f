package action

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
)

// Why nobody is e-mailed twice, whoever ends when:
//
// The request goes out only after its attempt is in the status, written on condition that nobody has written since the
// order was read, and only from the pass that wrote it. So an attempt in the status means: one request at most, by one
// process, and nobody else sends while it is there.
//
// The attempt leaves the status in two ways. With the end of the order, which is final. Or because the client proves that
// nothing was done (NotSent, 429, 401): then the order is open again, and the next attempt is made, by whichever operator,
// on condition of that very write. There is no moment at which an operator that ends loses that proof and another one
// sends nevertheless: the proof counts once it is written, and until then the attempt is still there, and whoever finds it
// ends the order as OutcomeUnknown. A shutdown before the request is such a proof, and is written down; after it, the
// client is not cut short, and Drain waits for the answer and its writing.
//
// If an operator is held up for longer than the handover between its start and its request, the order may have been ended as
// OutcomeUnknown when it sends. That is one request, and what the status says.

// errIncomplete means that the API server dropped a field.
var errIncomplete = errors.New("the MandateAction CRD is older than this operator: apply the CRDs of this version")

// startTries bounds the writing of a start. Given up, it counts as written, which is safe.
const startTries = 4

// start records that this pass carries the order out.
func (p *pass) start(ctx context.Context) error {
	if p.facts.emails && !p.enter(ctx) {
		p.facts.trouble = reasonBehind
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		err := p.writeStatus(ctx, v1alpha1.ReasonStarted)
		switch {
		case err == nil:
			return p.begun()
		case apierrors.IsConflict(err):
			return p.outrun(ctx)
		case apierrors.IsNotFound(err):
			p.facts.trouble = reasonDeleting
			return client.IgnoreNotFound(err)
		case try == startTries || !mayPass(err):
			return err
		}
		<-time.After(100 * time.Millisecond << try)
	}
}

// outrun is for a start that somebody's write came before. That may have been an earlier try of this very start, of which
// the answer was lost.
func (p *pass) outrun(ctx context.Context) error {
	p.facts.trouble = reasonBehind
	if err := p.refresh(ctx); err != nil {
		return client.IgnoreNotFound(err)
	}
	if p.order.Status.Attempt == p.attempt {
		return p.begun()
	}
	return nil
}

// begun notes that the start is written, and nobody else's.
func (p *pass) begun() error {
	if p.facts.emails && p.order.Status.Attempt != p.attempt {
		return errIncomplete
	}
	p.facts.started, p.facts.attempt.mine, p.facts.trouble = true, p.facts.emails, ""
	return nil
}

// enter makes a shutdown wait for the end of this pass. Once a shutdown waits, no attempt begins any more.
func (p *pass) enter(ctx context.Context) bool {
	p.entered = p.entered || ctx.Err() == nil && p.attempts.TryRLock()
	return p.entered
}

// send makes the call that e-mails the individual, once.
func (p *pass) send(ctx context.Context) {
	call := p.connection.Client.ResendInvites
	if p.order.Spec.Type == v1alpha1.MandateActionResetIndividual {
		call = p.connection.Client.ResetIndividual
	}
	err := call(ctx, p.facts.mandate.individual)
	a := &p.facts.attempt
	a.sent, a.success = true, err == nil
	logger := log.FromContext(ctx).WithValues("type", p.order.Spec.Type, "applicationID", p.applicationID, "attempt", p.attempt)
	if err == nil {
		logger.Info("Carried out the action")
		return
	}
	a.outcome, a.kind, a.refusal, p.facts.retryAfter = idv.OutcomeOf(err), idv.KindOf(err), idv.IsRefusal(err), idv.RetryAfterOf(err)
	logger.Info("Action failed or its outcome is unknown", "outcome", a.outcome.String(), "error", err.Error())
	p.suspect(err)
}

// conclude writes down what became of the attempt, however long it takes: it is known nowhere else.
func (p *pass) conclude(ctx context.Context, reason string) error {
	ctx = context.WithoutCancel(ctx)
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Steps: 7, Cap: 5 * time.Second, Jitter: 0.2}
	for {
		err := p.writeStatus(ctx, reason)
		if apierrors.IsConflict(err) {
			err = p.refresh(ctx)
			if err == nil && p.order.Status.Attempt == p.attempt {
				continue // somebody edited the order meanwhile
			}
			if err == nil {
				log.FromContext(ctx).Info("Action already ended or deleted, dropping its result", "reason", reason)
				return nil
			}
		}
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return nil
		case !mayPass(err):
			return err
		}
		log.FromContext(ctx).Info("Failed to record the result of the action, will retry", "error", apierror.Bare(err).Error())
		<-time.After(backoff.Step())
	}
}

// refresh reads the order past the cache. If it was deleted and applied again, that shows in the attempt: no other order has
// this one.
func (p *pass) refresh(ctx context.Context) error {
	live := &v1alpha1.MandateAction{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.order), live); err != nil {
		return err
	}
	p.order = live
	return nil
}

// mayPass tells whether a write that failed may succeed when it is repeated as it is.
func mayPass(err error) bool {
	return !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err)
}
