// Package guards takes lines of the product away, one at a time, so that a test can show that another test notices. The
// product has no switches: a copy of its sources with a switch at each guard takes their place when the tests are built
// once more, and the environment of a run says which one is off.
package guards

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
	Fails    string // a regular expression of what it says: the promise that does not hold, or the case that fails
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

// Overlay writes the sources with a switch at every guard, whose files are relative to root. It gives the file that
// puts them in place of the real ones: what the flag -overlay of go build takes.
func Overlay(t *testing.T, root string, all map[string]Guard) (overlay string) {
	t.Helper()
	sources := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g := all[name]
		if sources[g.File] == "" {
			content, err := os.ReadFile(filepath.Join(root, g.File))
			if err != nil {
				t.Fatal(err)
			}
			sources[g.File] = string(content)
			sources[filepath.Join(filepath.Dir(g.File), "switches.go")] = packageClause(string(content)) + switches
		}
		Contains(t, name, g.File, sources[g.File], g.Old)
		sources[g.File] = strings.Replace(sources[g.File], g.Old, strings.ReplaceAll(g.Off, "ON", `on("`+name+`")`), 1)
	}
	directory, replaced := t.TempDir(), map[string]string{}
	for file, source := range sources {
		original, err := filepath.Abs(filepath.Join(root, file))
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

// Contains fails the test unless a guard is in its file, once.
func Contains(t *testing.T, name, file, content, old string) {
	t.Helper()
	if n := strings.Count(content, old); n != 1 {
		t.Fatalf("the guard %q is %d times in %s, and not once:\n%s", name, n, file, old)
	}
}

// Build builds the tests of packages with the switches, which are relative to a directory, into a directory.
func Build(t *testing.T, overlay, directory, into string, packages ...string) {
	t.Helper()
	arguments := append([]string{"test", "-c", "-ldflags=-w", "-overlay", overlay, "-o", into + "/"}, packages...)
	build := exec.CommandContext(t.Context(), "go", arguments...) //nolint:gosec // the paths are this test's own
	build.Dir = directory
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s with switches: %v\n%s", packages, err, output)
	}
}

// Pattern selects one test, or one case of it, with the flag -test.run.
func Pattern(test string) string {
	return "^" + strings.ReplaceAll(strings.ReplaceAll(test, " ", "_"), "/", "$/^") + "$"
}

// Complaint finds what a test complains of first: the most special case that fails, and its first line.
func Complaint(output []byte) string {
	var line, failed string
	for text := range strings.Lines(string(output)) {
		text = strings.TrimSpace(text)
		place, complaint, found := strings.Cut(text, ": ")
		switch {
		case found && place == "--- FAIL":
			if name, _, _ := strings.Cut(complaint, " ("); strings.HasPrefix(name, failed) {
				failed = name
			}
		case found && line == "" && strings.Contains(place, ".go:") && !strings.Contains(complaint, " states"):
			line = strings.TrimSpace(complaint)
		}
	}
	if line == "" {
		return string(output)
	}
	return failed + ": " + line
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
