package monitoring

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
)

// maxScrapeGap is how far apart scrapes may be, before a series that is in one and not in the next one counts as gone.
const maxScrapeGap = 5 * time.Second

// Recording is what Prometheus would have of a run.
type Recording struct {
	*Samples
	First, Last time.Time
}

// ReadRecording reads scrapes, each after a line with its time. As Prometheus does, it adds the label instance, and
// marks series that a scrape does not have any more.
func ReadRecording(name string) (*Recording, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	r := &Recording{Samples: &Samples{}}
	parse := parser.NewParser(parser.Options{})
	known := map[string]labels.Labels{}
	var before, now map[string]labels.Labels
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if at, ok := strings.CutPrefix(line, "# at "); ok {
			r.markStale(before, now)
			millis, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("the time of a scrape: %w", err)
			}
			r.Last = time.UnixMilli(millis).UTC()
			if r.First.IsZero() {
				r.First = r.Last
			}
			before, now = now, map[string]labels.Labels{}
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		series, text := line[:end], line[end+1:]
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", series, err)
		}
		if known[series].IsEmpty() {
			found, _, err := parse.ParseSeriesDesc(series + " 0")
			if err != nil {
				return nil, fmt.Errorf("%s: %w", series, err)
			}
			known[series] = labels.NewBuilder(found).Set("instance", "operator").Labels()
		}
		now[series] = known[series]
		r.Add(known[series], r.Last, number)
	}
	r.markStale(before, now)
	return r, lines.Err()
}

func (r *Recording) markStale(before, now map[string]labels.Labels) {
	for name, series := range before {
		if now[name].IsEmpty() {
			r.Add(series, r.Last, math.Float64frombits(value.StaleNaN))
		}
	}
}
