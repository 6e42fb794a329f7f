package mandate

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every guard of the protocol is switched off here, one at a time, and something must notice. The product has no
// switches: a copy of its sources with a switch at each guard takes their place when the tests are built once more, and
// the environment of a run says which one is off.

const switchedOff = "GUARD_OFF"

// switches is added to both packages.
const switches = `

func on(guard string) bool { return os.Getenv("GUARD_OFF") != guard }

func pick[T any](on bool, yes, no T) T {
	if on {
		return yes
	}
	return no
}
`

var withGuards = flag.Bool("guards", false, "switch the guards off, one at a time")

// TestGuardsAreNeeded without -guards only looks whether the table follows the code.
func TestGuardsAreNeeded(t *testing.T) {
	overlay := switched(t)
	if !*withGuards {
		return
	}
	binary := filepath.Join(t.TempDir(), "switched.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with switches: %v\n%s", err, output)
	}
	all := guards()
	for _, name := range sorted(all) {
		t.Run(name, func(t *testing.T) {
			g := all[name]
			run := exec.CommandContext(
				t.Context(), binary, "-test.run", pattern(g.caughtBy), "-test.v", "-states=400000",
			) // none needs a fifth of them
			run.Env = append(os.Environ(), switchedOff+"="+name)
			output, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("%s; nothing notices that this guard is off, not even %s:\n%s", g.why, g.caughtBy, output)
			}
			t.Logf("%s; without it, %s fails%s: %s", g.why, g.caughtBy, statesIn(output), failureIn(output))
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
func switched(t *testing.T) (overlay string) {
	t.Helper()
	sources := map[string]string{
		"switches.go":           "package mandate\n\nimport \"os\"" + switches,
		"../ledger/switches.go": "package ledger\n\nimport \"os\"" + switches,
	}
	all := guards()
	for _, name := range sorted(all) {
		g := all[name]
		if sources[g.file] == "" {
			content, err := os.ReadFile(g.file)
			if err != nil {
				t.Fatal(err)
			}
			sources[g.file] = string(content)
		}
		if n := strings.Count(sources[g.file], g.old); n != 1 {
			t.Fatalf("the guard %q is %d times in %s, and not once:\n%s", name, n, g.file, g.old)
		}
		sources[g.file] = strings.Replace(sources[g.file], g.old, strings.ReplaceAll(g.off, "ON", `on("`+name+`")`), 1)
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

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
