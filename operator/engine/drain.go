package engine

import (
	"context"
	"sync"
)

// Drainer makes a shutdown wait for the attempts that are under way. An attempt is a request that e-mails people, with
// what is written before and after it. The zero value admits attempts.
type Drainer struct {
	attempts sync.RWMutex // held for reading by every reconciliation that makes an attempt
}

// TryBegin admits an attempt, which has to be Done. It reports false once a shutdown has begun.
func (d *Drainer) TryBegin() bool { return d.attempts.TryRLock() }

// Done ends an attempt.
func (d *Drainer) Done() { d.attempts.RUnlock() }

// Drain admits no more attempts and waits for those under way, or until ctx ends. Call it before the process ends, for
// whatever reason the manager stopped: after a lost lease the manager does not wait for its controllers.
func (d *Drainer) Drain(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		d.attempts.Lock()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
