package provider

import (
	"context"
	"sync/atomic"
	"time"
)

// withReleasedContext makes a call with a context that holds nothing once the call has returned.
//
// The framework (1.19) keeps the cancel function of every call until the CLI stops the provider, and that holds the
// context with the loggers and headers of the call: with 500 subscriptions, more than all else in memory.
func withReleasedContext[Q, R any](
	ctx context.Context, req Q, call func(context.Context, Q) (R, error),
) (R, error) {
	released := &releasedContext{}
	released.inner.Store(&ctx)
	defer released.inner.Store(&ended)
	return call(released, req)
}

// ended is the context of a call that has returned.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// releasedContext is a context that another one replaces at the end of a call.
type releasedContext struct {
	inner atomic.Pointer[context.Context]
}

func (c *releasedContext) context() context.Context { return *c.inner.Load() }

// Deadline implements context.Context.
func (c *releasedContext) Deadline() (time.Time, bool) { return c.context().Deadline() }

// Done implements context.Context.
func (c *releasedContext) Done() <-chan struct{} { return c.context().Done() }

// Err implements context.Context.
func (c *releasedContext) Err() error { return c.context().Err() }

// Value implements context.Context.
func (c *releasedContext) Value(key any) any { return c.context().Value(key) }
