package threats

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/test/guards"
)

const (
	root  = "../../.."
	model = root + "/docs/threat-model.md"
)

var (
	withGuards = flag.Bool("guards", false, "switch the controls off, one at a time")
	parts      = flag.Uint64("parts", 1, "switch one control in so many off, those of a part")
	part       = flag.Uint64("part", 0, "number of the part, modulo -parts")
)

// control is what keeps a threat away. Files are relative to the root.
type control struct {
	off      string // what happens without it
	file     string
	old, new string // in new, ON is true unless the control is off; a manifest just gets the new text
	in       string // the package of the test
	test     string // that must fail
	guard    string // instead of the above but for in: the explorer of that package has a guard of this name
}

// explored is a control that the explorer of a package switches off.
func explored(in, guard string) control { return control{in: in, guard: guard} }

func (c *control) name() string { return c.in + ": " + cmp.Or(c.off, c.guard) }

// inManifest reports whether the control is in a file that tests read.
func (c *control) inManifest() bool { return c.guard == "" && filepath.Ext(c.file) != ".go" }

// TestEveryThreatHasAControl: the table of these tests has the rows of the threat model, and each row names the tests
// that notice when its controls are off.
func TestEveryThreatHasAControl(t *testing.T) {
	rows := rowsOfModel(t)
	for threat, heldBy := range rows {
		if len(controls[threat]) == 0 {
			t.Errorf("no control is switched off for %q: add one to the tables of this package", threat)
		}
		for _, c := range controls[threat] {
			if c.guard != "" {
				c.test = testOfGuard(t, &c)
			}
			test, _, _ := strings.Cut(c.test, "/")
			if !strings.Contains(heldBy, "`"+test+"`") {
				t.Errorf("%s is not among the tests that hold %q", test, threat)
			}
		}
	}
	for threat := range controls {
		if rows[threat] == "" {
			t.Errorf("%s has no row %q", model, threat)
		}
	}
}

// rowsOfModel gives the threats, each with the tests that hold its controls.
func rowsOfModel(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	rows, inTable := map[string]string{}, false
	for line := range strings.Lines(string(content)) {
		header := strings.Contains(line, "| held by |")
		inTable = strings.HasPrefix(line, "|") && (inTable || header)
		if !inTable || header || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || rows[cells[1]] != "" {
			t.Fatalf("a row has %d cells, or is there twice: %s", len(cells), line)
		}
		rows[cells[1]] = cells[3]
	}
	return rows
}

// TestControlsAreNeeded switches every control off, one at a time, and the test that is named for it must fail. Without
// -guards, it only looks whether the controls are where the tables say.
func TestControlsAreNeeded(t *testing.T) {
	run := newRunner(t)
	n := uint64(0)
	for _, threat := range slices.Sorted(maps.Keys(controls)) {
		for i := range controls[threat] {
			c := &controls[threat][i]
			if c.inManifest() {
				guards.Contains(t, c.name(), c.file, read(t, c.file), c.old)
			}
			if *withGuards && n%*parts == *part%*parts {
				run.without(t, threat, c)
			}
			n++
		}
	}
}

// testOfGuard gives the test that notices, by the table of the explorer, that a guard is off. The explorer's own test
// switches it off.
func testOfGuard(t *testing.T, c *control) (test string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, c.in, "explore_guards*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	caughtBy := regexp.MustCompile(`CaughtBy:\s*"([^"]*)"`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, guard, found := strings.Cut(string(content), "\n\t\t\""+c.guard+"\": {")
		if found && caughtBy.MatchString(guard) {
			return caughtBy.FindStringSubmatch(guard)[1]
		}
	}
	t.Fatalf("%s has no guard %q", c.in, c.guard)
	return ""
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// failed matches the line that says that a test failed.
func failed(test string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^ *--- FAIL: ` + regexp.QuoteMeta(strings.ReplaceAll(test, " ", "_")) + ` \(`)
}
