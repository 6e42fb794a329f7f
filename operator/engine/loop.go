// Package engine is what the controllers have in common: backoff, and the limit of texts that come from a service.
// Those of Mandates and MandateActions share more: the loop of steps, what a process remembers between
// reconciliations, the use of a connection, and the drain on shutdown.
//
// A reconciliation is a loop: decide, make one step with at most one effect outside the process, decide again. A crash
// is therefore always a crash between two steps. What to decide, and what a step does, is up to the controllers.
package engine

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/connection"
)

// Wait is the step of a Decision that there is nothing to do now.
const Wait = "Wait"

// Decision is a step to perform or, with the step Wait, why there is none.
type Decision[S ~string] struct {
	Step   S
	Reason string
	// RequeueAfter is when to reconcile again; 0 leaves that to the reason.
	RequeueAfter time.Duration
}

// NoStep decides that there is nothing to do now.
func NoStep[S ~string](reason string) Decision[S] { return WaitFor[S](reason, 0) }

// WaitFor decides that there is nothing to do now, and when to reconcile again.
func WaitFor[S ~string](reason string, d time.Duration) Decision[S] {
	return Decision[S]{Step: Wait, Reason: reason, RequeueAfter: d}
}

// If is a value if it applies, and none otherwise. cmp.Or gives the first of several that apply.
func If[T any](applies bool, value T) (none T) {
	if applies {
		return value
	}
	return none
}

// Reconciliation is one Reconcile of one object.
type Reconciliation[S ~string] interface {
	// Decide gives the next step. It has no effect outside the process.
	Decide() Decision[S]
	// TryAcquire takes what a step needs to begin, such as a slot of the connection. If it reports false, the object is
	// woken up later.
	TryAcquire(S) bool
	// Priority in the workqueue while a step waits for what TryAcquire takes; nil keeps the one that the object has.
	Priority() *int
	// Perform performs a step. An error is one of the API server, and the workqueue backs off. After an UnrecordedError,
	// the reconciliation goes on in the background, and performs the step again.
	Perform(context.Context, S) error
	// Finish writes the status, and says when to reconcile again. An UnrecordedError is that of Perform.
	Finish(context.Context, Decision[S]) (reconcile.Result, error)
	// Park gives back what others need before it goes on in the background, and says which connection it used.
	Park() connection.Key
	// Release gives back what TryAcquire and Perform took.
	Release()
}

// Run performs steps until there is none left to do now, but at most maxSteps. It does not release what they took.
func Run[S ~string](ctx context.Context, r Reconciliation[S], maxSteps int) (reconcile.Result, error) {
	for range maxSteps {
		decision := r.Decide()
		if decision.Step == Wait {
			return r.Finish(ctx, decision)
		}
		if !r.TryAcquire(decision.Step) {
			return reconcile.Result{RequeueAfter: JitterWithin(connection.FallbackRequeue), Priority: r.Priority()}, nil
		}
		log.FromContext(ctx).V(1).Info("Performing a step", "step", decision.Step)
		if err := r.Perform(ctx, decision.Step); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, errors.New("the reconciliation took too many steps: report this bug of the operator")
}

const (
	// reconcileTimeout bounds how long the requests of a reconciliation take in all, so that none holds a worker for
	// longer. What must not be cut short, such as a create, has a deadline of its own.
	reconcileTimeout = 45 * time.Second
	// minStepTimeout is what a step has, however long those before it took.
	minStepTimeout = 10 * time.Second
)

// Deadline is until when a reconciliation may hold its worker.
type Deadline struct {
	clock   clock.PassiveClock
	started time.Time
}

// NewDeadline begins now. The times of the clock have a monotonic part.
func NewDeadline(clock clock.PassiveClock) Deadline { return Deadline{clock, clock.Now()} }

// Bound ends the context of a step at the deadline, but not at once.
func (d Deadline) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(reconcileTimeout-d.clock.Now().Sub(d.started), minStepTimeout))
}
