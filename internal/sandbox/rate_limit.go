package sandbox

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// rateLimiter refuses requests above a rate. It uses the machine's clock, not the sandbox's.
type rateLimiter struct {
	mu        sync.Mutex
	perSecond int
	limiter   *rate.Limiter
}

// delay returns 0 if the request is allowed, or how long the client should have waited.
func (l *rateLimiter) delay(perSecond int) time.Duration {
	if perSecond == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limiter == nil || l.perSecond != perSecond {
		l.perSecond = perSecond
		l.limiter = rate.NewLimiter(rate.Limit(perSecond), perSecond)
	}
	reservation := l.limiter.Reserve()
	delay := reservation.Delay()
	if delay > 0 {
		reservation.Cancel()
	}
	return delay
}

func writeTooManyRequests(w http.ResponseWriter, d dialect.Dialect, delay time.Duration) {
	seconds := int64(math.Ceil(delay.Seconds()))
	switch d.RateLimitAnswer {
	case dialect.RateLimitDate:
		date := time.Now().Add(time.Duration(seconds+1) * time.Second)
		w.Header().Set("Retry-After", date.UTC().Format(http.TimeFormat))
	case dialect.RateLimitAbsent:
	default:
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	writeProblem(w, d, http.StatusTooManyRequests, problem{Title: "Too many requests"})
}
