package plugin

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden")

// fixedNow is the clock of the tests.
func fixedNow() time.Time { return time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC) }

// secret is the personal data in the objects of the tests.
const secret = "Jane.Doe.1990@example.com"

// TestStatusOfEveryReason shows the tree of an object with each reason of docs/conditions.md. A reason that is added to
// the page has no text here, so the test fails until somebody has read what make update writes.
func TestStatusOfEveryReason(t *testing.T) {
	shown := map[string]*strings.Builder{}
	for i := range explanations {
		e := &explanations[i]
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{Out: out, ErrOut: out}, now: fixedNow}
		v := newView(factsFor(t, e))
		if err := s.showViews([]view{v}, true); err != nil {
			t.Fatal(err)
		}
		if shown[e.Kind] == nil {
			shown[e.Kind] = &strings.Builder{}
		}
		fmt.Fprintf(shown[e.Kind], "=== %s\n\n%s\n", e.Reason, out)
		// These two say that another reason says it, and the names of those who are waited for say more.
		indirect := e.Reason == "Creating" || e.Reason == "InProgress"
		if !indirect && len(e.Steps) > 0 && !strings.Contains(squeeze(out.String()), squeeze(e.Steps[0])) {
			t.Errorf("%s %s: the text does not say what to do: %s", e.Kind, e.Reason, out)
		}
		if strings.Contains(out.String(), "kubectl logs") {
			t.Errorf("%s %s: people of a namespace cannot read the operator's log: %s", e.Kind, e.Reason, out)
		}
		if strings.Contains(out.String(), secret) || placeholder.MatchString(out.String()) {
			t.Errorf("%s %s: personal data, or a placeholder: %s", e.Kind, e.Reason, out)
		}
		if strings.HasSuffix(strings.TrimSpace(out.String()), "What to do next") {
			t.Errorf("%s %s: nothing says what to do: %s", e.Kind, e.Reason, out)
		}
		if !strings.Contains(out.String(), e.Reason) {
			t.Errorf("%s %s: the reason is not shown: %s", e.Kind, e.Reason, out)
		}
	}
	for kind, text := range shown {
		compareGolden(t, "status-"+kind+".golden", text.String())
	}
	if len(shown) != 3 {
		t.Errorf("%d kinds, want 3", len(shown))
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run make update, and look at it\n%s", name, diff)
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }
