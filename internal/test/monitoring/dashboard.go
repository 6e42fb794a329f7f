package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql"
)

// Dashboard is what the tests and the picture need of Grafana's model.
type Dashboard struct {
	Title      string  `json:"title"`
	Panels     []Panel `json:"panels"`
	Templating struct {
		List []struct {
			Name string `json:"name"`
		} `json:"list"`
	} `json:"templating"`
}

// Panel is one rectangle of it.
type Panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Grid        struct {
		X int `json:"x"`
		Y int `json:"y"`
		W int `json:"w"`
		H int `json:"h"`
	} `json:"gridPos"`
	Fields struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []struct {
					Value *float64 `json:"value"`
				} `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []Target `json:"targets"`
}

// Target is a query with what its series are called.
type Target struct {
	Query  string `json:"expr"`
	Legend string `json:"legendFormat"`
}

// ReadDashboard reads Grafana's JSON.
func ReadDashboard(name string) (*Dashboard, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := &Dashboard{}
	return d, json.Unmarshal(content, d)
}

// Line is a series of a panel, with its name in the legend.
type Line struct {
	Name   string
	Points []promql.FPoint
}

// rateInterval is short, as the recording is.
const rateInterval = "15s"

// Lines gives what a panel shows of a recording, at every second.
func (p *Panel) Lines(recording *Recording) ([]Line, error) {
	var lines []Line
	for _, target := range p.Targets {
		found, err := target.lines(recording)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, errors.New("no data: " + target.Query)
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

func (t *Target) lines(recording *Recording) ([]Line, error) {
	values := strings.NewReplacer("$__rate_interval", rateInterval, "$connection", ".*", "$namespace", ".*")
	query := values.Replace(t.Query)
	options := promql.NewPrometheusQueryOpts(false, maxScrapeGap, nil)
	prepared, err := newEngine().NewRangeQuery(context.Background(), recording.Samples, options,
		query, recording.First, recording.Last, time.Second)
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	result, err := prepared.Exec(context.Background()).Matrix()
	if err != nil {
		return nil, err
	}
	var lines []Line
	for _, series := range result {
		points := slices.DeleteFunc(slices.Clone(series.Floats), func(p promql.FPoint) bool { return p.F != p.F }) // NaN
		if len(points) > 0 {
			lines = append(lines, Line{legend(t.Legend, series.Metric.Map()), points})
		}
	}
	slices.SortFunc(lines, func(a, b Line) int { return strings.Compare(a.Name, b.Name) })
	return lines, nil
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

func legend(format string, labels map[string]string) string {
	return placeholder.ReplaceAllStringFunc(format, func(found string) string {
		return labels[placeholder.FindStringSubmatch(found)[1]]
	})
}
