package await

import (
	"time"
	"unsafe"
)

// The bits of time.Time's first word: that there is a reading of the monotonic clock, and where the seconds begin.
const (
	hasMonotonic = 1 << 63
	secondsShift = 30
)

// Asleep is the time that a process reads after its machine has slept, of a time before that: the time of day goes on,
// the monotonic clock does not.
//
// Package time has no function for that, so this changes the value. Its test fails if a release of Go lays out
// time.Time in another way.
func Asleep(before time.Time, seconds uint32) time.Time {
	word := (*uint64)(unsafe.Pointer(&before)) //nolint:gosec // as documented above
	if *word&hasMonotonic == 0 {               // there is the time of day alone
		return before.Add(time.Duration(seconds) * time.Second)
	}
	*word += uint64(seconds) << secondsShift
	return before
}
