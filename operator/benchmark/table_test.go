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

// figures collects the results of the benchmarks for one table at the end.
var figures table

type table struct {
	mu   sync.Mutex
	rows [][]string
}

var heads = []string{"", "operator", "bare loop", "target", ""}

// add adds a row. loop and target are empty if they do not apply.
func (t *table) add(what, operator, loop string, c comparison) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, []string{what, operator, loop, c.target, c.result})
}

// addFigure adds a row of the operator without a target.
func (t *table) addFigure(what, operator string) { t.add(what, operator, "", comparison{}) }

func (t *table) heading(text string) { t.add("**"+text+"**", "", "", comparison{}) }

// print writes the table in Markdown, with aligned columns.
func (t *table) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) == 0 {
		return
	}
	widths := make([]int, len(heads))
	for _, cells := range append([][]string{heads}, t.rows...) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	printRow := func(cells []string, fill string) {
		for i, cell := range cells {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintln(w)
	printRow(heads, " ")
	printRow(make([]string, len(heads)), "-")
	for _, cells := range t.rows {
		printRow(cells, " ")
	}
}

// comparison is a target, and whether a figure meets it.
type comparison struct{ target, result string }

// atLeast and atMost compare a figure with its target; format prints both.
func atLeast(value, target float64, format string) comparison {
	return compare(value >= target, target-value, "≥ "+fmt.Sprintf(format, target), format)
}

func atMost(value, target float64, format string) comparison {
	return compare(value <= target, value-target, "≤ "+fmt.Sprintf(format, target), format)
}

func compare(met bool, by float64, target, format string) comparison {
	if met {
		return comparison{target, "met"}
	}
	return comparison{target, "missed by " + fmt.Sprintf(format, by)}
}

// ratio compares the operator's figure divided by the loop's, the median of all pairs, with its target.
func ratio(quotient spread) comparison {
	c := atLeast(quotient.median, 0.9, "%.2f")
	c.target = fmt.Sprintf("ratio %s: %s", c.target, quotient.format("%.2f"))
	return c
}

func TestTable(t *testing.T) {
	cases := map[string]struct{ got, want comparison }{
		"above a least":     {atLeast(1, 0.8, "%.1f"), comparison{"≥ 0.8", "met"}},
		"at a least":        {atLeast(0.8, 0.8, "%.1f"), comparison{"≥ 0.8", "met"}},
		"below a least":     {atLeast(0.5, 0.8, "%.1f"), comparison{"≥ 0.8", "missed by 0.3"}},
		"below a most":      {atMost(44, 45, "%.0f MiB"), comparison{"≤ 45 MiB", "met"}},
		"above a most":      {atMost(47, 45, "%.0f MiB"), comparison{"≤ 45 MiB", "missed by 2 MiB"}},
		"a ratio":           {ratio(spread{0.8, 0.9, 1}), comparison{"ratio ≥ 0.90: 0.90 (0.80 to 1.00)", "met"}},
		"a ratio too small": {ratio(spread{0.6, 0.6, 0.6}), comparison{"ratio ≥ 0.90: 0.60", "missed by 0.30"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(comparison{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	var text strings.Builder
	some := table{}
	some.add("rate", "9", "10", comparison{"≥ 8", "met"})
	some.print(&text)
	want := `
|      | operator | bare loop | target |     |
| ---- | -------- | --------- | ------ | --- |
| rate | 9        | 10        | ≥ 8    | met |
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}
