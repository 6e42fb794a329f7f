package plugin

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/util/duration"
)

// A style is an ANSI colour of the terminal's own palette, so that it fits light and dark ones.
type style string

const (
	plain  style = ""
	bold   style = "\x1b[1m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	grey   style = "\x1b[90m"
)

// A paper is what a view is written on: with colours on a terminal, and with its width.
type paper struct {
	strings.Builder

	colours bool
	width   int
}

// defaultWidth is that of what is no terminal.
const defaultWidth = 100

// newPaper returns a paper for a stream. The environment variable NO_COLOR (https://no-color.org) and a terminal that
// is dumb have no colours.
func newPaper(out io.Writer) *paper {
	p := &paper{width: defaultWidth}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return p
	}
	p.colours = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		p.width = min(max(width, 40), 120)
	}
	return p
}

func (p *paper) in(s style, text string) string {
	if !p.colours || s == plain || text == "" {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// warn writes a warning.
func warn(out io.Writer, text string) { fmt.Fprintln(out, newPaper(out).in(yellow, "warning:"), text) }

func (p *paper) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// wrapped writes a text in lines that fit, the first one after a text of its own, and the others after a prefix.
func (p *paper) wrapped(first, prefix, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for line != "" {
			part, rest := p.cut(line, p.width-len([]rune(prefix)))
			p.line(first, part)
			first, line = prefix, rest
		}
	}
}

// cut cuts a line at the last space before a width.
func (p *paper) cut(line string, width int) (part, rest string) {
	letters := []rune(line)
	if len(letters) <= width {
		return line, ""
	}
	at := strings.LastIndex(string(letters[:width+1]), " ")
	if at <= 0 {
		at = strings.Index(line, " ")
	}
	if at <= 0 {
		return line, ""
	}
	return line[:at], strings.TrimSpace(line[at:])
}

// A clock tells the time.
type clock func() time.Time

func systemClock() time.Time { return time.Now() }

// age is how long ago a time is, as kubectl writes it.
func (c clock) age(t time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(c().Sub(t))
}

// until is how long it is to a time, which is not past.
func (c clock) until(t time.Time) string { return duration.HumanDuration(t.Sub(c())) }
