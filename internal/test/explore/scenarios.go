package explore

import (
	"flag"
	"maps"
	"slices"
	"testing"
	"time"
)

var (
	states     = flag.Int64("states", 100, "how many states of each scenario to explore")
	withGuards = flag.Bool("guards", false, "switch the guards off, one at a time")
)

// Scenarios explores each scenario from its start, as far as -states says, and reports the first violation.
func Scenarios[C, S any](
	t *testing.T, all map[string]C, start func(C) (*Search[S], S), report func(*Violation[S]) string,
) {
	t.Helper()
	started, total := time.Now(), int64(0)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			started := time.Now()
			x, first := start(all[name])
			complete := x.Run(first, *states*max(1, x.Deep))
			total += x.States()
			t.Logf("%s%s", x.Summary(started), map[bool]string{true: ", all there are"}[complete])
			if v := x.Found(); v != nil {
				t.Fatal(report(v))
			}
		})
	}
	t.Logf("%d states in %.0f s", total, time.Since(started).Seconds())
}
