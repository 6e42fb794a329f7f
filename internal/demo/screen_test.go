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

// drive shows two steps and, during the first, a table that changes and does not.
func drive(t *testing.T, s *screen) {
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
	if err := s.step(t.Context(), step{"waiting", func(context.Context) (string, error) { return "not shown", failure }}); !errors.Is(err, failure) {
		t.Errorf("the step's error is %v", err)
	}
	s.print("the end")
}

// withoutTime replaces what a step took.
func withoutTime(text string) string {
	return regexp.MustCompile(` +\d+\.\d s`).ReplaceAllString(text, " TIME")
}

func TestScreenWithoutTerminal(t *testing.T) {
	s, out := newTestScreen(0, false)
	drive(t, s)
	want := `          NAME     READY   STATE         PROGRESS   OUTCOME   APPLICATION   AGE
          acme     True    in progress   2/6                  4711          9s
          globex   True    in review     0/3                  4720          9s
          acme     True    in progress   3/6                  4711          9s
✓ TIME applying: two Mandates
✗ TIME waiting
the end
`
	if diff := cmp.Diff(want, withoutTime(out.String())); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// What was drawn in place is gone in the end, also where the terminal is too narrow for it.
func TestScreenOnTerminal(t *testing.T) {
	for _, width := range []int{120, 40} {
		s, out := newTestScreen(width, true)
		drive(t, s)
		if moved := strings.Count(out.String(), "acme"); moved < 2 {
			t.Errorf("width %d: the table was drawn %d times", width, moved)
		}
		want := []string{"\x1b[32m✓\x1b[0m \x1b[2m TIME\x1b[0m applying: two Mandates", "\x1b[31m✗\x1b[0m \x1b[2m TIME\x1b[0m waiting", "the end"}
		if diff := cmp.Diff(want, visible(t, withoutTime(out.String()), width)); diff != "" {
			t.Errorf("width %d, what remains (-want +got):\n%s", width, diff)
		}
	}
}

// visible is what a terminal of that width shows in the end.
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
			t.Errorf("a line has %d columns and breaks: %q", len(line), line)
		}
	}
	return lines
}
