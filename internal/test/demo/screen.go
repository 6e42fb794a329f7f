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

// screen shows the steps. A terminal shows the running step and the table in place. Other outputs get the changed rows
// of the table.
type screen struct {
	out   io.Writer
	color bool
	// width is the width of the terminal, 0 without a terminal.
	width func() int

	mu        sync.Mutex
	table     table
	running   *runningStep
	liveLines int // on the terminal, below the permanent ones
}

// The colors of paint, as ANSI codes.
const (
	green = "32"
	red   = "31"
	dim   = "2"
)

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

// print writes permanent lines.
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
		changed = nil // the live lines have the whole table
	}
	if len(changed) > 0 && header == "" {
		changed = append([]string{t.header}, changed...)
	}
	for i, line := range changed {
		changed[i] = tableIndent + line
	}
	s.redraw(changed)
}

// redraw writes permanent lines and, on a terminal, the live lines below them.
func (s *screen) redraw(lines []string) {
	var out bytes.Buffer
	if s.liveLines > 0 {
		fmt.Fprintf(&out, "\x1b[%dA\x1b[J", s.liveLines)
	}
	for _, line := range lines {
		out.WriteString(line + "\n")
	}
	s.liveLines = 0
	if width := s.width(); width > 0 && s.running != nil {
		for _, line := range s.live() {
			out.WriteString(truncate(line, width-1) + "\n")
			s.liveLines++
		}
	}
	_, _ = s.out.Write(out.Bytes())
}

const tableIndent = "          "

// live returns the live lines: the running step and the table.
func (s *screen) live() []string {
	frame := spinner[s.running.frame%len(spinner)]
	lines := []string{fmt.Sprintf("%c %s %s", frame, seconds(s.running.started), s.running.label)}
	if rows := s.table.lines(); len(rows) > 0 {
		lines = append(lines, "")
		for _, line := range rows {
			lines = append(lines, tableIndent+line)
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

// truncate shortens a line to the width of the terminal, because redraw cannot erase a wrapped line.
func truncate(line string, width int) string {
	if runes := []rune(line); len(runes) > width {
		return string(runes[:max(0, width)])
	}
	return strings.TrimRight(line, " ")
}
