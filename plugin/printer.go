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

// A printer writes a view: with colours on a terminal, and within its width.
type printer struct {
	strings.Builder

	colored bool
	width   int
}

// defaultWidth is that of an output that is not a terminal.
const defaultWidth = 100

// newPrinter returns a printer for a stream. With the environment variable NO_COLOR (https://no-color.org), or on a
// dumb terminal, it uses no colours.
func newPrinter(out io.Writer) *printer {
	p := &printer{width: defaultWidth}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return p
	}
	p.colored = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		p.width = min(max(width, 40), 120)
	}
	return p
}

func (p *printer) styled(s style, text string) string {
	if !p.colored || s == plain || text == "" {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// warn writes a warning.
func warn(out io.Writer, text string) {
	fmt.Fprintln(out, newPrinter(out).styled(yellow, "warning:"), text)
}

func (p *printer) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// wrap writes a text in lines that fit, the first one after a text of its own, and the others after a prefix.
func (p *printer) wrap(first, prefix, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for line != "" {
			part, rest := p.splitAt(line, p.width-len([]rune(prefix)))
			p.line(first, part)
			first, line = prefix, rest
		}
	}
}

// splitAt splits a line at the last space before a width.
func (p *printer) splitAt(line string, width int) (part, rest string) {
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
