package provider

import (
	"context"
	"sync/atomic"
	"time"
)

// withReleasedContext serves a request with a context that holds nothing once the request is answered.
//
// The framework (1.19) keeps the cancel function of every request until the CLI stops the provider, and that holds the
// context with the loggers and headers of the request: with 500 subscriptions, more than all else in memory.
func withReleasedContext[Q, R any](
	ctx context.Context, req Q, serve func(context.Context, Q) (R, error),
) (R, error) {
	released := &releasedContext{}
	released.inner.Store(&ctx)
	defer released.inner.Store(&ended)
	return serve(released, req)
}

// ended is the context of a request that was answered.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// releasedContext is a context that another one replaces at the end of a request.
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
