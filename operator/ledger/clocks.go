package ledger

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is recorded is by the clock of the process that wrote it, and another process compares it with its own.

// MicroTime is a time in the precision in which it is recorded, so that it equals what is read.
func MicroTime(t time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(t.Truncate(time.Microsecond))
}

// MaxSkew is by how much the clocks of two processes may differ.
const MaxSkew = 10 * time.Minute

// Within reports whether a time that may be of another process is less than a period ago. One from the future is by a
// clock that is fast, says nothing of how long ago that was, and is not believed.
func Within(period time.Duration, recorded, now time.Time) bool {
	return now.Sub(recorded) < period && IsBelieved(recorded, now)
}

// IsBelieved reports whether a time is not from the future.
func IsBelieved(recorded, now time.Time) bool { return !recorded.After(now.Add(MaxSkew)) }
