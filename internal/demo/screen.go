package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// screen shows the steps, one line each. On a terminal the running step and the table below it are drawn in place.
// Elsewhere, what has changed in the table is written line by line.
type screen struct {
	out   io.Writer
	color bool
	// width is the terminal's, 0 if it is none.
	width func() int

	mu      sync.Mutex
	table   table
	running *running
	drawn   int // lines that are drawn in place
}

const green, red, dim = "32", "31", "2"

func newScreen(out *os.File) *screen {
	descriptor := int(out.Fd())
	terminal := term.IsTerminal(descriptor) && os.Getenv("TERM") != "dumb"
	return &screen{
		out:   out,
		color: terminal && os.Getenv("NO_COLOR") == "",
		width: func() int {
			width, _, err := term.GetSize(descriptor)
			if !terminal || err != nil {
				return 0
			}
			return width
		},
	}
}

// print writes lines that stay.
func (s *screen) print(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redraw(lines)
}

// show replaces the table.
func (s *screen) show(t table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := t.changed(s.table)
	header := s.table.header
	s.table = t
	if s.width() > 0 {
		changed = nil // all of it is drawn in place
	}
	if len(changed) > 0 && header == "" {
		changed = append([]string{t.header}, changed...)
	}
	for i, row := range changed {
		changed[i] = tableIndent + row
	}
	s.redraw(changed)
}

// redraw writes lines that stay and, on a terminal, what is drawn in place below them.
func (s *screen) redraw(lines []string) {
	var out bytes.Buffer
	if s.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA\x1b[J", s.drawn)
	}
	for _, line := range lines {
		out.WriteString(line + "\n")
	}
	s.drawn = 0
	if width := s.width(); width > 0 && s.running != nil {
		for _, line := range s.moving() {
			out.WriteString(cut(line, width-1) + "\n")
			s.drawn++
		}
	}
	_, _ = s.out.Write(out.Bytes())
}

const tableIndent = "          "

// moving is what is drawn in place: the running step, and the table.
func (s *screen) moving() []string {
	frame := frames[s.running.frame%len(frames)]
	lines := []string{fmt.Sprintf("%c %s %s", frame, seconds(s.running.started), s.running.label)}
	if rows := s.table.lines(); len(rows) > 0 {
		lines = append(lines, "")
		for _, row := range rows {
			lines = append(lines, tableIndent+row)
		}
	}
	return lines
}

func (s *screen) paint(color, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// cut shortens a line, because one that is broken takes two of the terminal's, and more than is taken back.
func cut(line string, width int) string {
	if runes := []rune(line); len(runes) > width {
		return string(runes[:max(0, width)])
	}
	return strings.TrimRight(line, " ")
}
