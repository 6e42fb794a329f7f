package explore

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/mandate-io/idv/internal/guards"
)

// Guard is a line of the product that keeps a promise.
type Guard = guards.Guard

// CheckGuards switches every guard off, one at a time, and something must notice. Without -guards, it only looks
// whether the guards are in the code.
func CheckGuards(t *testing.T, all map[string]Guard) {
	t.Helper()
	overlay := guards.Overlay(t, ".", all)
	if !*withGuards {
		return
	}
	binary := filepath.Join(t.TempDir(), "switched.test")
	guards.Build(t, overlay, ".", binary)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			g := all[name]
			//nolint:gosec // the binary is this test's own; no guard needs a fifth of the states
			run := exec.CommandContext(t.Context(), binary, "-test.run", guards.Pattern(g.CaughtBy), "-test.v",
				"-states=400000")
			run.Env = append(os.Environ(), "GUARD_OFF="+name)
			output, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("%s; nothing notices that this guard is off, not even %s:\n%s", g.Why, g.CaughtBy, output)
			}
			t.Logf("%s; without it, %s fails%s: %s", g.Why, g.CaughtBy, statesIn(output), guards.Complaint(output))
		})
	}
}

var explored = regexp.MustCompile(`(\d+) states, `)

// statesIn says how far it was to the failure: a guard that is only just noticed will be missed some day.
func statesIn(output []byte) string {
	if found := explored.FindSubmatch(output); found != nil {
		return " after " + string(found[1]) + " states"
	}
	return ""
}
