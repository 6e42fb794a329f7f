package action

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// pass is one Reconcile of one order: the facts, and what they were made from.
type pass struct {
	*Reconciler
	order   *v1alpha1.MandateAction // as it was last read or written
	attempt string                  // names the attempt of this pass, if it makes one
	entered bool                    // it may e-mail somebody
	visit   connection.Visit

	facts         facts
	service       connection.Key // of the Mandate
	connection    connection.Connection
	applicationID int64
	reference     string // of the application
	situation     string // what a report depends on
	report        file   // personal data
}

// begin collects what the order says.
func (r *Reconciler) begin(order *v1alpha1.MandateAction) *pass {
	p := &pass{Reconciler: r, order: order, attempt: string(uuid.NewUUID())}
	status := &order.Status
	p.facts = facts{
		emails:   order.Spec.Type != v1alpha1.MandateActionDownloadReport,
		deleting: !order.DeletionTimestamp.IsZero(),
		started:  status.StartedTime != nil,
		ended:    status.CompletedTime != nil,
		created:  order.CreationTimestamp.Time,
		attempt:  attemptFacts{open: status.Attempt != ""},
		handover: min(r.SettleDelay, maxHandover),
	}
	if p.facts.attempt.open {
		p.facts.attempt.observed = r.memory.observe(order)
	}
	if ttl := order.Spec.TTLSecondsAfterFinished; p.facts.ended && ttl != nil {
		p.facts.expires = status.CompletedTime.Add(time.Duration(*ttl) * time.Second)
	}
	p.facts.mandate.seen = sawMandate(status)
	return p
}

// leave ends the pass.
func (p *pass) leave() {
	if p.entered {
		p.attempts.RUnlock()
	}
	p.visit.End()
}

// callsService are the steps that show whether the connection works.
var callsService = []step{stepReadApplication, stepSend, stepDownload}

// enterLine keeps the orders of one connection from taking all workers. Without a connection, nothing is called.
func (p *pass) enterLine(s step) bool {
	if !p.facts.service.ready || s == stepDelete {
		return true
	}
	return p.visit.Begin(p.connection.Actions, client.ObjectKeyFromObject(p.order), p.facts.emails)
}

// act carries one step out and changes the facts accordingly. An error is one of the API server; the workqueue backs
// off. What the service answers is never an error here, but a fact.
func (p *pass) act(ctx context.Context, s step) error {
	log.FromContext(ctx).V(1).Info("Step", "step", s)
	if slices.Contains(callsService, s) {
		p.visit.Calls()
	}
	switch s {
	case stepReadMandate:
		return p.readMandate(ctx)
	case stepReadApplication:
		p.readApplication(ctx)
	case stepStart:
		return p.start(ctx)
	case stepSend:
		p.send(ctx)
	case stepLookForSecret:
		return p.lookForSecret(ctx)
	case stepDownload:
		p.download(ctx)
	case stepStore:
		return p.store(ctx)
	case stepDelete:
		return p.expire(ctx)
	}
	return nil
}

// end writes the status and says when to look again.
func (p *pass) end(ctx context.Context, decided next) (reconcile.Result, error) {
	if p.facts.attempt.mine {
		if err := p.conclude(ctx, decided.reason); err != nil {
			return reconcile.Result{}, err
		}
	} else if err := p.writeStatus(ctx, decided.reason); apierrors.IsConflict(err) {
		decided = rest(reasonBehind)
	} else if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if ttl := p.order.Spec.TTLSecondsAfterFinished; ttl != nil && verdicts[decided.reason].progress != open {
		decided.after = max(time.Duration(*ttl)*time.Second, time.Second) // the cache has to learn of the end first
	}
	return reconcile.Result{RequeueAfter: p.lookAgain(decided)}, nil
}

const (
	maxBackoff = 5 * time.Minute
	// maxServiceBackoff is shorter: to look whether there is a connection costs nothing.
	maxServiceBackoff = 15 * time.Second
)

// lookAgain says when to reconcile if nothing happens; 0 is never. Mandates are watched.
func (p *pass) lookAgain(decided next) time.Duration {
	const spread = 0.2
	switch decided.reason {
	case reasonBehind:
		return wait.Jitter(time.Second, spread)
	case v1alpha1.ReasonServiceNotFound, v1alpha1.ReasonServiceNotAllowed, v1alpha1.ReasonServiceNotReady:
		return wait.Jitter(min(p.memory.backoff(p.order), maxServiceBackoff), spread)
	case v1alpha1.ReasonRetrying, v1alpha1.ReasonSecretRefused:
		return wait.Jitter(max(p.memory.backoff(p.order), decided.after), spread)
	}
	p.memory.succeeded(p.order)
	if decided.after > 0 {
		return decided.after + time.Second
	}
	return 0
}

// expire deletes the order. If it was changed meanwhile, its time to live may have been, too.
func (p *pass) expire(ctx context.Context) error {
	p.facts.trouble = reasonDeleting
	err := p.Writer.Delete(ctx, p.order, client.Preconditions{UID: &p.order.UID, ResourceVersion: &p.order.ResourceVersion})
	if apierrors.IsConflict(err) {
		p.facts.trouble, err = reasonBehind, nil
	}
	return client.IgnoreNotFound(err)
}

// failed notes a call that did not do what it should, and ends the pass.
func (p *pass) failed(ctx context.Context, err error) {
	p.facts.trouble, p.facts.retryAfter = v1alpha1.ReasonRetrying, idv.RetryAfterOf(err)
	p.suspect(err)
	log.FromContext(ctx).Info("Request to the service failed", "error", err.Error())
}

// suspect has the connection looked at after a failure that may be the service's and not this call's alone.
func (p *pass) suspect(err error) {
	if p.visit.Suspects(err) {
		p.Suspect(p.service)
	}
}
