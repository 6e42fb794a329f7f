package mandate

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every guard of the protocol is switched off here, one at a time, and something must notice. The product has no switches:
// a copy of its sources with a switch at each guard takes their place when the tests are built once more, and the
// environment of a run says which one is off.

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

func TestGuardsAreNeeded(t *testing.T) {
	if !*withGuards {
		t.Skip("make test runs this on its own, with -guards: it takes minutes")
	}
	binary := buildSwitched(t)
	all := guards()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			g := all[name]
			run := exec.CommandContext(t.Context(), binary, "-test.run", pattern(g.caughtBy), "-test.v", "-states", "60000")
			run.Env = append(os.Environ(), switchedOff+"="+name)
			run.Dir = "."
			output, err := run.CombinedOutput()
			if err == nil {
				t.Errorf("%s: nothing notices that it is off. %s\n%s", g.why, g.caughtBy, tail(output))
				return
			}
			t.Logf("%s\n%s", g.why, head(output))
		})
	}
}

// pattern selects one test, or one case of it.
func pattern(test string) string {
	return "^" + strings.ReplaceAll(strings.ReplaceAll(test, " ", "_"), "/", "$/^") + "$"
}

// buildSwitched builds the tests of this package from sources in which every guard has a switch.
func buildSwitched(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	replaced := map[string]string{}
	sources := map[string]string{}
	all := guards()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g := all[name]
		source, ok := sources[g.file]
		if !ok {
			content, err := os.ReadFile(g.file)
			if err != nil {
				t.Fatal(err)
			}
			source = string(content)
		}
		if n := strings.Count(source, g.old); n != 1 {
			t.Fatalf("the guard %q is in %s %d times, and not once: %s", name, g.file, n, g.old)
		}
		sources[g.file] = strings.Replace(source, g.old, strings.ReplaceAll(g.off, "ON", `on("`+name+`")`), 1)
	}
	sources["switches.go"] = "package mandate\n\nimport \"os\"" + switches
	sources["../ledger/switches.go"] = "package ledger\n\nimport \"os\"" + switches
	for file, source := range sources {
		copied := filepath.Join(directory, strings.ReplaceAll(file, "/", "_"))
		original, err := filepath.Abs(file)
		if err == nil {
			err = os.WriteFile(copied, []byte(source), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		replaced[original] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(directory, "switched.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", filepath.Join(directory, "overlay.json"), "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building with switches: %v\n%s", err, output)
	}
	return binary
}

func head(output []byte) string {
	lines := strings.Split(string(output), "\n")
	return strings.Join(lines[:min(len(lines), 40)], "\n")
}

func tail(output []byte) string {
	lines := strings.Split(string(output), "\n")
	return strings.Join(lines[max(len(lines)-8, 0):], "\n")
}
