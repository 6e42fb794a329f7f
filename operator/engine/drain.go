package engine

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TryBegin admits an attempt, which has to be Done: a request that acts on a person, with what is written before and
// after it. A shutdown waits for those under way. It reports false once a shutdown has begun.
func (r *Runner[S]) TryBegin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained != nil {
		return false
	}
	r.attempts++
	return true
}

// Done ends an attempt.
func (r *Runner[S]) Done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts--
	if r.attempts == 0 && r.drained != nil {
		close(r.drained)
	}
}

// drain admits no more attempts. The channel is closed when none is under way.
func (r *Runner[S]) drain() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained == nil {
		r.drained = make(chan struct{})
		if r.attempts == 0 {
			close(r.drained)
		}
	}
	return r.drained
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
