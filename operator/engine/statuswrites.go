package engine

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Polls of one namespace may cause so many status writes a second, and so many at once. The API server, its storage and
// the ledger are shared by all namespaces, and a service decides how often its answers change.
const (
	statusWritesPerSecond = 50
	statusWritesAtOnce    = 250
)

// StatusWrites bounds the status writes that polls cause in each namespace. It delays the polls of a namespace that has
// used its share: no write is lost, and no answer is read that cannot be written. The zero value is ready to use.
type StatusWrites struct {
	mu     sync.Mutex
	shares map[string]*rate.Limiter // of namespaces that have written lately
}

// Count counts the status write of a poll.
func (w *StatusWrites) Count(namespace string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shares[namespace] == nil {
		w.forget(now)
		w.shares[namespace] = rate.NewLimiter(statusWritesPerSecond, statusWritesAtOnce)
	}
	w.shares[namespace].ReserveN(now, 1)
}

// forget removes the namespaces that have their whole share again.
func (w *StatusWrites) forget(now time.Time) {
	kept := map[string]*rate.Limiter{}
	for namespace, share := range w.shares {
		if share.TokensAt(now) < statusWritesAtOnce {
			kept[namespace] = share
		}
	}
	w.shares = kept
}

// Delay is how long the next poll in a namespace has to wait; 0: not at all.
func (w *StatusWrites) Delay(namespace string, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	share := w.shares[namespace]
	if share == nil {
		return 0
	}
	missing := 1 - share.TokensAt(now)
	return max(0, time.Duration(missing/statusWritesPerSecond*float64(time.Second)))
}
