package engine

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// drainer makes a shutdown wait for the attempts that are under way. An attempt is a request that acts on a person,
// with what is written before and after it. The zero value admits attempts.
type drainer struct {
	mu       sync.Mutex
	attempts int           // under way
	drained  chan struct{} // nil until a shutdown begins; closed when no attempt is under way
}

// TryBegin admits an attempt, which has to be Done. It reports false once a shutdown has begun.
func (d *drainer) TryBegin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drained != nil {
		return false
	}
	d.attempts++
	return true
}

// Done ends an attempt.
func (d *drainer) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts--
	if d.attempts == 0 && d.drained != nil {
		close(d.drained)
	}
}

// drain admits no more attempts. The channel is closed when none is under way.
func (d *drainer) drain() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drained == nil {
		d.drained = make(chan struct{})
		if d.attempts == 0 {
			close(d.drained)
		}
	}
	return d.drained
}

// Drain admits no more attempts and waits for those under way, or until ctx ends. It goes on with those that are
// parked, whose workers have stopped. Call it before the process ends, for whatever reason the manager stopped: after a
// lost lease the manager does not wait for its controllers.
func (r *Runner[S]) Drain(ctx context.Context) {
	drained := r.drain()
	for tries := 1; ; tries++ {
		select {
		case <-drained:
			return
		case <-ctx.Done():
			if n := r.Unrecorded(); n > 0 {
				log.FromContext(ctx).Error(nil, "Shutting down with attempts that are not recorded", "attempts", n)
			}
			return
		case <-time.After(WriteBackoff.After(tries)):
			r.resumeAll(ctx)
		}
	}
}
