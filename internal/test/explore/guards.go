package explore

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/mandate-io/idv/internal/test/guards"
)

// Guard is a line of the product that keeps a promise.
type Guard = guards.Guard

// CheckGuards switches every guard off, one at a time, and its test must notice: within the states that make test
// explores, and by the failure that the guard names. With all guards on, the same tests pass. Without -guards, it only
// looks whether the guards are in the code.
func CheckGuards(t *testing.T, all map[string]Guard) {
	t.Helper()
	overlay := guards.Overlay(t, ".", all)
	if !*withGuards {
		return
	}
	directory := t.TempDir()
	guards.Build(t, overlay, ".", directory, ".")
	built, err := filepath.Glob(filepath.Join(directory, "*.test"))
	if err != nil || len(built) != 1 {
		t.Fatal(built, err)
	}
	binary := built[0]
	names := slices.Sorted(maps.Keys(all))
	run := func(off, pattern string, n int64) ([]byte, error) {
		//nolint:gosec // the binary is this test's own
		run := exec.CommandContext(t.Context(), binary, "-test.run", pattern, "-test.v", "-states="+strconv.FormatInt(n, 10))
		run.Env = append(os.Environ(), "GUARD_OFF="+off)
		return run.CombinedOutput()
	}
	// make explore takes the same way without the switches, in every scenario, and with as many states.
	for _, test := range testsOf(all) {
		if output, err := run("", guards.Pattern(test), min(*states, baseline)); err != nil {
			t.Fatalf("with all guards on, %s: %v\n%s", test, err, output)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			g := all[name]
			output, err := run(name, guards.Pattern(g.CaughtBy), *states)
			complaint := guards.Complaint(output)
			switch {
			case err == nil:
				t.Fatalf("%s; nothing notices that this guard is off, not even %s:\n%s", g.Why, g.CaughtBy, output)
			case g.Fails == "" || !regexp.MustCompile(g.Fails).Match(output):
				t.Fatalf("without it, %s does not fail by %q, but so: %s", g.CaughtBy, g.Fails, complaint)
			}
			t.Logf("%s; without it, %s fails%s: %s", g.Why, g.CaughtBy, statesIn(output), complaint)
		})
	}
}

// baseline is how many states of a scenario are explored with all guards on.
const baseline = 300

// testsOf are the tests, or cases of them, that notice guards.
func testsOf(all map[string]Guard) []string {
	var tests []string
	for _, g := range all {
		tests = append(tests, g.CaughtBy)
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

var explored = regexp.MustCompile(`(\d+) states, `)

// statesIn says how far it was to the failure: a guard that is only just noticed will be missed some day.
func statesIn(output []byte) string {
	if found := explored.FindSubmatch(output); found != nil {
		return " after " + string(found[1]) + " states"
	}
	return ""
}
