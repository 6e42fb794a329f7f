package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of the page and the help have each exit status, with the same meaning.
func TestExitStatuses(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "kubectl-plugin.md"))
	if err != nil {
		t.Fatal(err)
	}
	out, status := run(t, "--help")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, out)
	}
	for status, meaning := range exitStatuses {
		if entry := fmt.Sprintf("| %d | %s |\n", status, meaning); !strings.Contains(string(page), entry) {
			t.Errorf("docs/kubectl-plugin.md lacks %q", entry)
		}
		if line := fmt.Sprintf("  %d  %s\n", status, meaning); !strings.Contains(out, line) {
			t.Errorf("--help lacks %q:\n%s", line, out)
		}
	}
	_, table, _ := strings.Cut(string(page), "| status | meaning |\n")
	if strings.Count(table, "\n")-1 != len(exitStatuses) {
		t.Errorf("docs/kubectl-plugin.md has other exit statuses:\n%s", table)
	}
}

// Each command that is called wrongly ends with 1, as kubectl does. Only plan uses 2, for what it found.
func TestWrongArgumentsOfEachCommand(t *testing.T) {
	for _, command := range New(Streams{}, "test").Commands() {
		if command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		for _, wrong := range [][]string{{"--nonsense"}, {"-o", "xml"}, {"--timeout", "soon"}} {
			out, status := run(t, append([]string{command.Name()}, wrong...)...)
			if status != exitFailure || !strings.HasPrefix(out, "error: ") {
				t.Errorf("%s %v: status %d, want %d:\n%s", command.Name(), wrong, status, exitFailure, out)
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		planned := strings.Contains(string(content), "exitWouldSend")
		if planned && file != "run.go" && !strings.HasPrefix(file, "plan") && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s uses the exit status of plan", file)
		}
	}
}
