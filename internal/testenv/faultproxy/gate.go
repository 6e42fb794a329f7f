package faultproxy

import (
	"context"
	"io"
	"sync"
)

// Gate lets things pass, or holds them until it is opened again. Its zero value is open.
type Gate struct {
	mu   sync.Mutex
	open chan struct{} // nil while it is open; closed when it opens
}

// Hold closes the gate.
func (g *Gate) Hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

// Release opens the gate, and lets pass what waits.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

func (g *Gate) wait(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return nil
	}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gated holds what was read until the gate is open: a read that began before the gate closed ends behind it.
type gated struct {
	io.ReadCloser
	gate    *Gate
	context context.Context //nolint:containedctx // io.Reader has none
}

func (r *gated) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if waitErr := r.gate.wait(r.context); waitErr != nil {
		return 0, waitErr
	}
	return n, err
}
