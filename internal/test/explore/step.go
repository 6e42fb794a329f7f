package explore

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/engine"
)

// Step performs the next step of a reconciliation. ended says that there was none to perform, and parked that the
// reconciliation goes on with the next Step, though nothing was recorded in this one.
func Step[S ~string](
	ctx context.Context, r engine.Reconciliation[S],
) (result reconcile.Result, ended, parked bool, err error) {
	one := &oneStep[S]{Reconciliation: r}
	result, err = engine.Run(ctx, one, 2)
	if _, parked = errors.AsType[*engine.UnrecordedError](err); parked {
		return reconcile.Result{}, false, true, nil
	}
	return result, !one.performed, false, err
}

// oneStep is a reconciliation that ends after one step, and can go on in another process of the test.
type oneStep[S ~string] struct {
	engine.Reconciliation[S]
	performed bool
}

func (s *oneStep[S]) Decide() engine.Decision[S] {
	if s.performed {
		return engine.NoStep[S]("")
	}
	return s.Reconciliation.Decide()
}

func (s *oneStep[S]) Perform(ctx context.Context, next S) error {
	s.performed = true
	return s.Reconciliation.Perform(ctx, next)
}

func (s *oneStep[S]) Finish(ctx context.Context, decided engine.Decision[S]) (reconcile.Result, error) {
	if s.performed {
		return reconcile.Result{}, nil
	}
	return s.Reconciliation.Finish(ctx, decided)
}

func (s *oneStep[S]) Release() {}

// Clock is a clock whose time does not change.
type Clock struct {
	clock.Clock
	Time time.Time
}

// Now is always the same.
func (c Clock) Now() time.Time { return c.Time }

// LogCounter is a log that counts messages, but not those for debugging.
type LogCounter struct{ Messages int }

// Init implements logr.LogSink.
func (*LogCounter) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (*LogCounter) Enabled(level int) bool { return level == 0 }

// Info implements logr.LogSink.
func (c *LogCounter) Info(int, string, ...any) { c.Messages++ }

// Error implements logr.LogSink.
func (c *LogCounter) Error(error, string, ...any) { c.Messages++ }

// WithValues implements logr.LogSink.
func (c *LogCounter) WithValues(...any) logr.LogSink { return c }

// WithName implements logr.LogSink.
func (c *LogCounter) WithName(string) logr.LogSink { return c }
