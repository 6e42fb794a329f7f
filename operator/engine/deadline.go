package engine

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

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
