package client

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRetryAfter caps what a service may ask for: a wrong date must not stop a client for a year.
const maxRetryAfter = 15 * time.Minute

// Limits bounds the traffic of one user of a service: the rate limit, the service's Retry-After, and the hold-off after
// refused logins. All callers of a client share them, and so do clients that replace one another: see Config.Limits.
// The zero value is ready to use.
type Limits struct {
	mu      sync.Mutex
	maxWait time.Duration
	rate    *rate.Limiter
	// retries is a budget of its own: during an outage every request fails, and retrying all of them would multiply
	// the load.
	retries   *rate.Limiter
	notBefore time.Time // no request is sent before it: the service's Retry-After
	logins    map[TokenAuthorization]*loginHoldOff
}

// limits gives those that the Config names, or new ones, with the settings of the Config. What was used stays used.
func (c Config) limits() *Limits {
	l := orDefault(c.Limits, new(Limits))
	limit, burst := rate.Limit(c.RequestsPerSecond), max(1, int(c.RequestsPerSecond))
	switch {
	case c.RequestsPerSecond == 0:
		limit, burst = defaultRate, defaultRate
	case c.RequestsPerSecond < 0:
		limit = rate.Inf
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.maxWait = orDefault(c.MaxRateLimitWait, defaultMaxWait)
	if l.rate == nil {
		l.rate, l.retries = rate.NewLimiter(limit, burst), rate.NewLimiter(1, 10)
		l.logins = map[TokenAuthorization]*loginHoldOff{}
	} else {
		at := l.earliest(time.Now()) // an earlier time would refill the tokens of a Retry-After twice
		l.rate.SetLimitAt(at, limit)
		l.rate.SetBurstAt(at, burst)
	}
	return l
}

// loginHoldOff is that of the logins that have such a header. Logins with another header are other requests, which the
// service may accept.
func (l *Limits) loginHoldOff(authorization TokenAuthorization) *loginHoldOff {
	l.mu.Lock()
	defer l.mu.Unlock()
	authorization = orDefault(authorization, TokenAuthorizationAuto)
	if l.logins[authorization] == nil {
		l.logins[authorization] = &loginHoldOff{}
	}
	return l.logins[authorization]
}

// wait waits until a request may be sent. If that takes longer than maxWait or the context allows, it returns the delay
// at once and reserves nothing: waiting for what cannot come only blocks a worker.
func (l *Limits) wait(ctx context.Context) (tooLong time.Duration) {
	for {
		reservation, delay := l.reserve(ctx)
		if reservation == nil {
			return delay
		}
		if !Sleep(ctx, delay) {
			l.cancel(reservation)
			return 0
		}
		if l.holdOffRemaining() <= 0 { // else a Retry-After came during the sleep
			return 0
		}
	}
}

// reserve reserves the next token of the rate limit, or nothing if the delay is too long. Reserving and cancelling
// happen under one lock, because a Limiter does not restore a token after which another was reserved.
func (l *Limits) reserve(ctx context.Context) (*rate.Reservation, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	earliest := l.earliest(now)
	reservation := l.rate.ReserveN(earliest, 1)
	delay := reservation.DelayFrom(now)
	if !worthWaiting(ctx, delay, l.maxWait) {
		reservation.CancelAt(earliest)
		return nil, delay
	}
	return reservation, delay
}

// delay is how long a request that is made now would wait. It reserves nothing.
func (l *Limits) delay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	earliest := l.earliest(now)
	reservation := l.rate.ReserveN(earliest, 1)
	defer reservation.CancelAt(earliest)
	return reservation.DelayFrom(now)
}

func (l *Limits) cancel(reservation *rate.Reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	reservation.CancelAt(l.earliest(time.Now()))
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

// worthWaiting reports whether a delay fits into maxWait and into the context's deadline.
func (l *Limits) worthWaiting(ctx context.Context, delay time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return worthWaiting(ctx, delay, l.maxWait)
}

// worthWaiting reports whether a delay fits into a limit and into the context's deadline.
func worthWaiting(ctx context.Context, delay, limit time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return delay <= limit && (!bounded || delay <= time.Until(deadline))
}

// Sleep waits for d. It returns false if the context ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
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
