package engine_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/mandate-io/idv/operator/engine"
)

// The requests of a reconciliation share 45 seconds, and the last one has ten.
func TestDeadline(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	deadline := engine.NewDeadline(clock)
	for _, test := range []struct{ elapsed, want time.Duration }{
		{0, 45 * time.Second}, {20 * time.Second, 25 * time.Second}, {40 * time.Second, 10 * time.Second},
		{time.Hour, 10 * time.Second},
	} {
		began := time.Now()
		clock.SetTime(clock.Now().Add(test.elapsed))
		ctx, cancel := deadline.Bound(t.Context())
		cancel()
		until, _ := ctx.Deadline()
		if got := until.Sub(began).Round(time.Second); got != test.want {
			t.Errorf("after %s, a step has %s, want %s", test.elapsed, got, test.want)
		}
		clock.SetTime(clock.Now().Add(-test.elapsed))
	}
}
