package benchmark_test

import (
	"fmt"
	"slices"
	"testing"
)

// spread is what several runs gave.
type spread struct{ least, median, most float64 }

func newSpread(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{sorted[0], (sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[n-1]}
}

// spreadOf is that of one figure of runs.
func spreadOf(runs []run, figure func(run) float64) spread {
	var values []float64
	for _, r := range runs {
		values = append(values, figure(r))
	}
	return newSpread(values)
}

// format prints the median, and the least and the most if they look different.
func (s spread) format(format string) string {
	least, most := fmt.Sprintf(format, s.least), fmt.Sprintf(format, s.most)
	median := fmt.Sprintf(format, s.median)
	if least == most {
		return median
	}
	return fmt.Sprintf("%s (%s to %s)", median, least, most)
}

func TestSpread(t *testing.T) {
	for want, values := range map[string][]float64{
		"3.0 (1.0 to 9.0)": {9, 1, 3},
		"2.5 (1.0 to 4.0)": {4, 1, 2, 3},
		"2.0":              {2, 2},
		"1.0":              {1.01, 0.99},
	} {
		if got := newSpread(values).format("%.1f"); got != want {
			t.Errorf("the spread of %v is %s, want %s", values, got, want)
		}
	}
}
