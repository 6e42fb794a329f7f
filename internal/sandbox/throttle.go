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

// throttle refuses requests above a rate. The zero value refuses none. It goes by the
// machine's time: nobody waits on the sandbox's.
type throttle struct {
	mu        sync.Mutex
	perSecond int
	limiter   *rate.Limiter
}

// wait returns 0 if a request may pass, or how long it should have waited.
func (t *throttle) wait(perSecond int) time.Duration {
	if perSecond == 0 {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limiter == nil || t.perSecond != perSecond {
		t.perSecond, t.limiter = perSecond, rate.NewLimiter(rate.Limit(perSecond), perSecond)
	}
	reservation := t.limiter.Reserve()
	delay := reservation.Delay()
	if delay > 0 {
		reservation.Cancel()
	}
	return delay
}

// limited answers a request that came too early.
func limited(w http.ResponseWriter, spoken dialect.Dialect, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	switch spoken.RateLimitAnswer {
	case dialect.RateLimitDate:
		w.Header().Set("Retry-After", time.Now().Add(time.Duration(seconds+1)*time.Second).UTC().Format(http.TimeFormat))
	case dialect.RateLimitAbsent:
	default:
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	writeProblem(w, spoken, http.StatusTooManyRequests, problem{Title: "Too many requests"})
}
