package await

import (
	"testing"
	"time"
)

// Within fails the test if do takes longer than a promise allows. Beside other work it may take as many times longer as
// the machine is slower.
func Within(tb testing.TB, promise time.Duration, do func()) {
	tb.Helper()
	slowdown := Slowdown()
	began := time.Now()
	do()
	took := time.Since(began)
	if took <= promise {
		return
	}
	slowdown = max(slowdown, Slowdown())
	if limit := Stretch(promise, slowdown); took > limit {
		tb.Errorf("it took %s, and must take %s at most; the machine is %.1f times slower than without other work: %s",
			took, promise, slowdown, limit)
	}
}

// Stretch is a time on a machine that is so many times slower.
func Stretch(d time.Duration, slowdown float64) time.Duration {
	return time.Duration(float64(d) * slowdown)
}
