package engine_test

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator/engine"
)

func TestElapsed(t *testing.T) {
	now := time.Now()
	for what, c := range map[string]struct {
		since, now time.Time
		want       time.Duration
	}{
		"a machine that did not sleep":        {now, now.Add(time.Second), time.Second},
		"a machine that slept for an hour":    {now, await.Asleep(now.Add(time.Second), 3600), time.Hour + time.Second},
		"a time of day that was set back":     {await.Asleep(now, 3600), now.Add(time.Second), time.Second},
		"times without the monotonic reading": {now.Round(0), now.Round(0).Add(time.Minute), time.Minute},
	} {
		if got := engine.Elapsed(c.since, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}
