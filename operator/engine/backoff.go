package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// MaxRequeue is the longest time between two tries, and how soon an obstacle that nothing announces is looked at again.
const MaxRequeue = 5 * time.Minute

// Backoff is an exponential backoff with jitter.
type Backoff struct {
	Min, Max time.Duration
}

var (
	// RequeueBackoff is between two reconciliations that fail.
	RequeueBackoff = Backoff{time.Second, MaxRequeue}
	// WriteBackoff is between two tries of a write to the API server that must not be given up.
	WriteBackoff = Backoff{200 * time.Millisecond, 3 * time.Second}
)

// After says how long to wait after so many failures in a row. It is never more than Max.
func (b Backoff) After(failures int) time.Duration {
	doublings := min(max(failures-1, 0), 20) // more would overflow
	return min(Jitter(b.Min<<doublings), JitterWithin(b.Max))
}

// Jitter adds up to a fifth, so that what happened at the same time does not happen at the same time again and again.
func Jitter(d time.Duration) time.Duration { return wait.Jitter(d, 0.2) }

// JitterWithin gives between five sixths of longest and longest.
func JitterWithin(longest time.Duration) time.Duration { return Jitter(longest * 5 / 6) }
