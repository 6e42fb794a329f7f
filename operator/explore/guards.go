package explore

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Guard is a line of the product that keeps a promise.
type Guard struct {
	Why      string
	File     string
	Old, Off string // in Off, ON is true unless the guard is off
	CaughtBy string // a test of the package that runs
}

// switches is added to each package with guards.
const switches = `

import "os"

func on(guard string) bool { return os.Getenv("GUARD_OFF") != guard }

func pick[T any](on bool, yes, no T) T {
	if on {
		return yes
	}
	return no
}
`

// CheckGuards switches every guard off, one at a time, and something must notice. The product has no switches: a copy
// of its sources with a switch at each guard takes their place when the tests are built once more, and the environment
// of a run says which one is off. Without -guards, it only looks whether the guards are in the code.
func CheckGuards(t *testing.T, all map[string]Guard) {
	t.Helper()
	overlay := switched(t, all)
	if !*withGuards {
		return
	}
	binary := filepath.Join(t.TempDir(), "switched.test")
	//nolint:gosec // the paths are this test's own
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with switches: %v\n%s", err, output)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			g := all[name]
			//nolint:gosec // the binary is this test's own; no guard needs a fifth of the states
			run := exec.CommandContext(t.Context(), binary, "-test.run", pattern(g.CaughtBy), "-test.v", "-states=400000")
			run.Env = append(os.Environ(), "GUARD_OFF="+name)
			output, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("%s; nothing notices that this guard is off, not even %s:\n%s", g.Why, g.CaughtBy, output)
			}
			t.Logf("%s; without it, %s fails%s: %s", g.Why, g.CaughtBy, statesIn(output), failureIn(output))
		})
	}
}

// failureIn finds the first line that a test complains with.
func failureIn(output []byte) string {
	for line := range strings.Lines(string(output)) {
		place, complaint, found := strings.Cut(strings.TrimSpace(line), ": ")
		if found && strings.Contains(place, "_test.go:") && !strings.Contains(complaint, " states, ") {
			return strings.TrimSpace(complaint)
		}
	}
	return string(output)
}

var explored = regexp.MustCompile(`(\d+) states, `)

// statesIn says how far it was to the failure: a guard that is only just noticed will be missed some day.
func statesIn(output []byte) string {
	if found := explored.FindSubmatch(output); found != nil {
		return " after " + string(found[1]) + " states"
	}
	return ""
}

// pattern selects one test, or one case of it.
func pattern(test string) string {
	return "^" + strings.ReplaceAll(strings.ReplaceAll(test, " ", "_"), "/", "$/^") + "$"
}

// switched writes the sources with a switch at every guard, and gives the file that puts them in place of the real
// ones.
func switched(t *testing.T, all map[string]Guard) (overlay string) {
	t.Helper()
	sources := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g := all[name]
		if sources[g.File] == "" {
			content, err := os.ReadFile(g.File)
			if err != nil {
				t.Fatal(err)
			}
			sources[g.File] = string(content)
			sources[filepath.Join(filepath.Dir(g.File), "switches.go")] = packageClause(string(content)) + switches
		}
		if n := strings.Count(sources[g.File], g.Old); n != 1 {
			t.Fatalf("the guard %q is %d times in %s, and not once:\n%s", name, n, g.File, g.Old)
		}
		sources[g.File] = strings.Replace(sources[g.File], g.Old, strings.ReplaceAll(g.Off, "ON", `on("`+name+`")`), 1)
	}
	directory, replaced := t.TempDir(), map[string]string{}
	for file, source := range sources {
		original, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replaced[original] = filepath.Join(directory, strings.ReplaceAll(file, "/", "_"))
		write(t, replaced[original], []byte(source))
	}
	data, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(directory, "overlay.json")
	write(t, overlay, data)
	return overlay
}

func packageClause(source string) string {
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "package ") {
			return line
		}
	}
	return ""
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
