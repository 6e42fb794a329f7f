package plugin

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mitchellh/go-wordwrap"
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
	reset  style = "\x1b[0m"
)

// styles are all that a terminal shows.
var styles = []style{bold, red, green, yellow, grey, reset}

// A printer writes a view: with colours on a terminal, and within its width.
type printer struct {
	strings.Builder

	colored bool
	width   int
}

// defaultWidth is that of an output that is not a terminal.
const defaultWidth = 100

// newPrinter returns a printer for a stream.
func newPrinter(out io.Writer) *printer {
	if t, ok := out.(*terminal); ok {
		return &printer{colored: t.colored, width: t.width}
	}
	return &printer{width: defaultWidth}
}

func (p *printer) styled(s style, text string) string {
	if !p.colored || s == plain || text == "" {
		return text
	}
	return string(s) + text + string(reset)
}

func (p *printer) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// columns writes lines with their cells in columns.
func (p *printer) columns(lines [][]string) {
	for _, line := range aligned(lines) {
		p.line(line)
	}
}

// aligned are lines with their cells in columns.
func aligned(lines [][]string) []string {
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 8, 3, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	_ = writer.Flush() // a Builder takes everything
	return strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
}

// orDashes are cells with a dash in each that is empty.
func orDashes(cells ...string) []string {
	for i := range cells {
		cells[i] = cmp.Or(cells[i], "-")
	}
	return cells
}

// wrap writes a text in lines that fit, the first one after a text of its own, and the others after a prefix.
func (p *printer) wrap(first, prefix, text string) {
	width := uint(p.width - len([]rune(prefix)))
	for line := range strings.SplitSeq(wordwrap.WrapString(text, width), "\n") {
		if line != "" {
			p.line(first, line)
			first = prefix
		}
	}
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
