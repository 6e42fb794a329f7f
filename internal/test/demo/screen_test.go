package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newTestScreen(width int, color bool) (*screen, *bytes.Buffer) {
	var out bytes.Buffer
	return &screen{out: &out, color: color, width: func() int { return width }}, &out
}

// showSteps shows two steps, and table updates with and without changes during the first.
func showSteps(t *testing.T, s *screen) {
	t.Helper()
	err := s.step(t.Context(), step{"applying", func(context.Context) (string, error) {
		s.show(parseTable(someTable))
		s.show(parseTable(someTable))
		s.show(parseTable(strings.Replace(someTable, "2/6", "3/6", 1)))
		return "two Mandates", nil
	}})
	if err != nil {
		t.Error(err)
	}
	failure := errors.New("no")
	err = s.step(t.Context(), step{"waiting", func(context.Context) (string, error) { return "not shown", failure }})
	if !errors.Is(err, failure) {
		t.Errorf("the step's error is %v", err)
	}
	s.print("last line")
}

// withoutTime replaces the duration of a step.
func withoutTime(text string) string {
	return regexp.MustCompile(` +\d+\.\d s`).ReplaceAllString(text, " TIME")
}

func TestScreenWithoutTerminal(t *testing.T) {
	s, out := newTestScreen(0, false)
	showSteps(t, s)
	want := `          NAME     READY   REASON     STATE         PROGRESS   OUTCOME   AGE
          acme     True    Accepted   in progress   2/6                  9s
          globex   True    Accepted   in review     0/3                  9s
          acme     True    Accepted   in progress   3/6                  9s
✓ TIME applying: two Mandates
✗ TIME waiting
last line
`
	if diff := cmp.Diff(want, withoutTime(out.String())); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// The live lines are gone at the end, even if the terminal is narrow.
func TestScreenOnTerminal(t *testing.T) {
	for _, width := range []int{120, 40} {
		s, out := newTestScreen(width, true)
		showSteps(t, s)
		if drawn := strings.Count(out.String(), "acme"); drawn < 2 {
			t.Errorf("width %d: the table was drawn %d times", width, drawn)
		}
		want := []string{
			"\x1b[32m✓\x1b[0m \x1b[2m TIME\x1b[0m applying: two Mandates",
			"\x1b[31m✗\x1b[0m \x1b[2m TIME\x1b[0m waiting",
			"last line",
		}
		if diff := cmp.Diff(want, visible(t, withoutTime(out.String()), width)); diff != "" {
			t.Errorf("width %d, what remains (-want +got):\n%s", width, diff)
		}
	}
}

// visible is what a terminal of that width finally shows.
func visible(t *testing.T, output string, width int) []string {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(output, "\n"), "\n") {
		if match := regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J(.*)`).FindStringSubmatch(line); match != nil {
			up, err := strconv.Atoi(match[1])
			if err != nil {
				t.Fatal(err)
			}
			lines, line = lines[:len(lines)-up], match[2]
		}
		lines = append(lines, line)
		if strings.HasPrefix(line, tableIndent) && len(line) >= width {
			t.Errorf("a line of %d columns wraps: %q", len(line), line)
		}
	}
	return lines
}
