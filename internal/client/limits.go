package client

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRetryAfter caps what a service may ask for: a wrong date must not stop a client for a year.
const maxRetryAfter = 15 * time.Minute

// limits is the traffic that one client allows itself, shared by all callers.
type limits struct {
	maxWait time.Duration
	rate    *rate.Limiter
	// retries is a budget apart: during an outage every call fails, and repeating all of them would multiply the load.
	retries *rate.Limiter

	mu   sync.Mutex
	notBefore time.Time // no request before it: the service's Retry-After
}

func newLimits(perSecond float64, maxWait time.Duration) *limits {
	limit, burst := rate.Limit(perSecond), max(1, int(perSecond))
	switch {
	case perSecond == 0:
		limit, burst = defaultRate, defaultRate
	case perSecond < 0:
		limit = rate.Inf
	}
	return &limits{maxWait: maxWait, rate: rate.NewLimiter(limit, burst), retries: rate.NewLimiter(1, 10)}
}

// wait takes a turn. When the turn is further away than maxWait or the context's deadline, it returns that distance at
// once and takes nothing: waiting for what cannot come only holds a worker.
func (l *limits) wait(ctx context.Context) (tooFar time.Duration) {
	for {
		turn, delay := l.reserve(ctx)
		if turn == nil {
			return delay
		}
		if !sleep(ctx, delay) {
			l.cancel(turn)
			return 0
		}
		if l.holdOffRemaining() <= 0 { // else a Retry-After came while we slept
			return 0
		}
	}
}

// reserve takes the next turn, or nothing if it is not affordable. Taking and giving back are one step, because a
// Limiter does not get back a turn behind which another was taken.
func (l *limits) reserve(ctx context.Context) (*rate.Reservation, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	begin := l.earliest(now)
	turn := l.rate.ReserveN(begin, 1)
	delay := turn.DelayFrom(now)
	if !withinDeadline(ctx, delay, l.maxWait) {
		turn.CancelAt(begin)
		return nil, delay
	}
	return turn, delay
}

// delay is how long a request that is made now would wait. It reserves nothing.
func (l *limits) delay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	begin := l.earliest(now)
	turn := l.rate.ReserveN(begin, 1)
	defer turn.CancelAt(begin)
	return turn.DelayFrom(now)
}

func (l *limits) cancel(turn *rate.Reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn.CancelAt(l.earliest(time.Now()))
}

// earliest is the time from which turns count: when the gate opens. Counted from now, all that came due behind a closed
// gate would leave together when it opens.
func (l *limits) earliest(now time.Time) time.Time {
	if l.notBefore.After(now) {
		return l.notBefore
	}
	return now
}

func (l *limits) holdOffRemaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.notBefore)
}

// holdOff keeps all callers from sending for d.
func (l *limits) holdOff(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := time.Now().Add(min(d, maxRetryAfter)); until.After(l.notBefore) {
		l.notBefore = until
	}
}

// withinDeadline tells whether a wait is worth beginning.
func withinDeadline(ctx context.Context, delay, most time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return delay <= most && (!bounded || delay <= time.Until(deadline))
}

// sleep waits for d and tells whether it did; false means that the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
