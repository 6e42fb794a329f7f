package benchmark_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// figures collects what the benchmarks find, for the one table at the end.
var figures table

type table struct {
	mu   sync.Mutex
	rows [][]string
}

var heads = []string{"", "operator", "bare loop", "target", ""}

// add adds a row. A loop or a target that does not apply is empty.
func (t *table) add(what, operator, loop string, goal goal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, []string{what, operator, loop, goal.target, goal.verdict})
}

func (t *table) heading(text string) { t.add("**"+text+"**", "", "", goal{}) }

// print writes the table in Markdown, with columns that also line up in a terminal.
func (t *table) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return
	}
	widths := make([]int, len(heads))
	for _, row := range append([][]string{heads}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string, fill string) {
		for i, cell := range cells {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintln(w)
	line(heads, " ")
	line(make([]string, len(heads)), "-")
	for _, row := range t.rows {
		line(row, " ")
	}
}

// goal is a target, and whether it was met.
type goal struct{ target, verdict string }

// atLeast and atMost compare a figure with its target; format prints both.
func atLeast(value, target float64, format string) goal {
	return compare(value >= target, target-value, "≥ "+fmt.Sprintf(format, target), format)
}

func atMost(value, target float64, format string) goal {
	return compare(value <= target, value-target, "≤ "+fmt.Sprintf(format, target), format)
}

func compare(met bool, by float64, target, format string) goal {
	if met {
		return goal{target, "met"}
	}
	return goal{target, "missed by " + fmt.Sprintf(format, by)}
}

// ratio is the operator's figure over the loop's, with the target that it has.
func ratio(operator, loop float64) goal {
	g := atLeast(operator/loop, 0.8, "%.2f")
	g.target = fmt.Sprintf("ratio %s: %.2f", g.target, operator/loop)
	return g
}

func TestTable(t *testing.T) {
	cases := map[string]struct{ got, want goal }{
		"above a least":     {atLeast(1, 0.8, "%.1f"), goal{"≥ 0.8", "met"}},
		"at a least":        {atLeast(0.8, 0.8, "%.1f"), goal{"≥ 0.8", "met"}},
		"below a least":     {atLeast(0.5, 0.8, "%.1f"), goal{"≥ 0.8", "missed by 0.3"}},
		"below a most":      {atMost(44, 45, "%.0f MiB"), goal{"≤ 45 MiB", "met"}},
		"above a most":      {atMost(47, 45, "%.0f MiB"), goal{"≤ 45 MiB", "missed by 2 MiB"}},
		"a ratio":           {ratio(90, 100), goal{"ratio ≥ 0.80: 0.90", "met"}},
		"a ratio too small": {ratio(60, 100), goal{"ratio ≥ 0.80: 0.60", "missed by 0.20"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(goal{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	var text strings.Builder
	some := table{}
	some.add("rate", "9", "10", goal{"≥ 8", "met"})
	some.print(&text)
	want := "\n|      | operator | bare loop | target |     |\n| ---- | -------- | --------- | ------ | --- |\n| rate | 9        | 10        | ≥ 8    | met |\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}
