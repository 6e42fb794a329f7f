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

// Pause closes the gate.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

// Resume opens the gate, and lets pass what waits.
func (g *Gate) Resume() {
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

// gatedReader holds what was read until the gate is open: a read that began before the gate closed ends behind it.
type gatedReader struct {
	io.ReadCloser
	gate    *Gate
	context context.Context //nolint:containedctx // io.Reader has none
}

func (r *gatedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if waitErr := r.gate.wait(r.context); waitErr != nil {
		return 0, waitErr
	}
	return n, err
}
