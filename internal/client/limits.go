package client

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// maxRetryAfter caps what a service may ask for: a wrong date must not stop a client for a year.
const maxRetryAfter = 15 * time.Minute

// Limits bounds the traffic of one user of a service: the rate limit, the service's Retry-After, and the hold-off after
// refused logins. All callers of a client share them: see Config.Limits. The zero value is ready to use.
type Limits struct {
	maxWait atomic.Int64 // a time.Duration

	mu   sync.Mutex
	rate *rate.Limiter
	// retries is a budget of its own: to retry everything that fails in an outage would multiply the load.
	retries   *rate.Limiter
	notBefore time.Time                // no request is sent before it: the service's Retry-After
	logins    map[string]*loginHoldOff // by what tells one login from another, which the service may accept
}

// limits gives those that the Config names, or new ones, with the settings of the Config. What was used stays used.
func (c *Config) limits() *Limits {
	l := cmp.Or(c.Limits, new(Limits))
	limit, burst := rate.Limit(c.RequestsPerSecond), max(1, int(c.RequestsPerSecond))
	if c.RequestsPerSecond < 0 {
		limit = rate.Inf
	}
	l.maxWait.Store(int64(c.MaxRateLimitWait))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate == nil {
		l.rate, l.retries = rate.NewLimiter(limit, burst), rate.NewLimiter(1, 10)
		l.logins = map[string]*loginHoldOff{}
	}
	at := l.earliest(time.Now()) // an earlier time would refill the tokens of a Retry-After twice
	l.rate.SetLimitAt(at, limit)
	l.rate.SetBurstAt(at, burst)
	return l
}

func (l *Limits) loginHoldOff(login string) *loginHoldOff {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logins[login] == nil {
		l.logins[login] = &loginHoldOff{}
	}
	return l.logins[login]
}

// wait waits until a request may be sent. If that takes longer than maxWait or the context allows, it returns the delay
// at once and reserves nothing: waiting for what cannot come only blocks a worker.
func (l *Limits) wait(ctx context.Context) (tooLong time.Duration) {
	for {
		delay, cancel := l.reserve(func(delay time.Duration) bool { return l.fits(ctx, delay) })
		if cancel == nil {
			return delay
		}
		if !Sleep(ctx, delay) {
			cancel()
			return 0
		}
		if l.holdOffRemaining() <= 0 { // else a Retry-After came during the sleep
			return 0
		}
	}
}

// reserve reserves the next token of the rate limit, or nothing if the delay does not fit. Reserving and cancelling
// happen under one lock, because a Limiter does not restore a token after which another was reserved.
func (l *Limits) reserve(fits func(time.Duration) bool) (delay time.Duration, cancel func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	earliest := l.earliest(now)
	reservation := l.rate.ReserveN(earliest, 1)
	if delay = reservation.DelayFrom(now); !fits(delay) {
		reservation.CancelAt(earliest)
		return delay, nil
	}
	return delay, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		reservation.CancelAt(l.earliest(time.Now()))
	}
}

// earliest is when the next request may be sent, apart from the rate limit. Reservations are made for that time: if
// they were made for now, all that came due during a Retry-After would leave together at its end.
func (l *Limits) earliest(now time.Time) time.Time {
	if l.notBefore.After(now) {
		return l.notBefore
	}
	return now
}

func (l *Limits) holdOffRemaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.notBefore)
}

// holdOff keeps all callers from sending for d.
func (l *Limits) holdOff(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := time.Now().Add(min(d, maxRetryAfter)); until.After(l.notBefore) {
		l.notBefore = until
	}
}

// fits reports whether a delay fits into maxWait and into the context's deadline.
func (l *Limits) fits(ctx context.Context, delay time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return delay <= time.Duration(l.maxWait.Load()) && (!bounded || delay <= time.Until(deadline))
}

// Sleep waits for d. It returns false if the context ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
