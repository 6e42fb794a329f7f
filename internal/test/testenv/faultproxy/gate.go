package faultproxy

import (
	"context"
	"io"
	"sync"
)

// Gate pauses and resumes a stream. The zero value does not pause it.
type Gate struct {
	mu      sync.Mutex
	resumed chan struct{} // nil unless paused; closed by Resume
}

// Pause stops the data until Resume.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.resumed == nil {
		g.resumed = make(chan struct{})
	}
}

// Resume lets the data go on.
func (g *Gate) Resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.resumed != nil {
		close(g.resumed)
		g.resumed = nil
	}
}

func (g *Gate) wait(ctx context.Context) error {
	g.mu.Lock()
	resumed := g.resumed
	g.mu.Unlock()
	if resumed == nil {
		return nil
	}
	select {
	case <-resumed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gatedReader returns what it read when the gate is not paused, even if the read started before the pause.
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
