package explore

import (
	"context"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/operator/engine"
)

// Step performs the next step of a reconciliation. ended says that there was none to perform, and cut that the step was
// cut where it waited: it goes on from its beginning with the next Step.
func Step[S ~string](
	ctx context.Context, r engine.Reconciliation[S],
) (result reconcile.Result, ended, cut bool, err error) {
	defer func() {
		switch panicked := recover(); panicked.(type) {
		case nil:
		case waiting:
			cut = true
		default:
			panic(panicked)
		}
	}()
	one := &oneStep[S]{Reconciliation: r}
	result, err = engine.Run(ctx, one, 2)
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

// waiting is what the Clock says to a step that wants to wait.
type waiting struct{}

// Clock is a clock whose time does not change. A step that waits for it is cut there, unless the clock is Patient.
type Clock struct {
	clock.Clock
	Time    time.Time
	Patient bool
}

// Now is always the same.
func (c Clock) Now() time.Time { return c.Time }

// After cuts the step, or is over at once.
func (c Clock) After(time.Duration) <-chan time.Time { return c.NewTimer(0).C() }

// NewTimer cuts the step, or makes a timer that has expired.
func (c Clock) NewTimer(time.Duration) clock.Timer {
	if !c.Patient {
		panic(waiting{})
	}
	return expired{}
}

type expired struct{ clock.Timer }

func (expired) C() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

func (expired) Stop() bool { return false }
