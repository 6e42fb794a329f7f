package monitoring

import (
	"context"
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"
	"go.yaml.in/yaml/v2"
)

const directory = "../../../config/monitoring/"

// rule is an alert of the PrometheusRule.
type rule struct {
	Alert       string
	Expr        string
	For         duration
	Labels      map[string]string
	Annotations map[string]string
}

// duration is written as in 1h30m, or 2d.
type duration time.Duration

// UnmarshalYAML reads one.
func (d *duration) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil {
		return err
	}
	parsed, err := model.ParseDuration(text)
	*d = duration(parsed)
	return err
}

func TestDuration(t *testing.T) {
	t.Parallel()
	var read struct{ Hours, Days duration }
	if err := yaml.Unmarshal([]byte("{hours: 1h30m, days: 2d}"), &read); err != nil {
		t.Fatal(err)
	}
	if read.Hours != duration(90*time.Minute) || read.Days != duration(48*time.Hour) {
		t.Errorf("they are %s and %s", time.Duration(read.Hours), time.Duration(read.Days))
	}
}

func rules(t *testing.T) map[string]rule {
	t.Helper()
	var manifest struct {
		Spec struct{ Groups []struct{ Rules []rule } }
	}
	read(t, "prometheus_rule.yaml", &manifest)
	found := map[string]rule{}
	for _, group := range manifest.Spec.Groups {
		for _, r := range group.Rules {
			found[r.Alert] = r
		}
	}
	if len(found) == 0 {
		t.Fatal("there are no alerts")
	}
	return found
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(directory + name)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatal(name, err)
	}
}

// unitTest is one of promtool's, with what the tests here use of them.
type unitTest struct {
	Name     string
	Interval duration
	Input    []struct{ Series, Values string } `yaml:"input_series"`
	Queries  []struct {
		Expr    string
		At      duration                  `yaml:"eval_time"`
		Samples []struct{ Value float64 } `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// Each alert fires, and does not in the cases that nearly are one. The tests are those that promtool runs.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var tests []unitTest
	for _, name := range []string{"rules_test.yaml", "rules_applications_test.yaml"} {
		var file struct{ Tests []unitTest }
		read(t, name, &file)
		tests = append(tests, file.Tests...)
	}
	all := rules(t)
	fires, quiet := map[string]bool{}, map[string]bool{}
	for _, unit := range tests {
		alert, what, _ := strings.Cut(unit.Name, " ")
		tested, ok := all[alert]
		if !ok {
			t.Errorf("%s: there is no such alert", unit.Name)
			continue
		}
		if strings.HasPrefix(what, "fires") {
			fires[alert] = true
		} else {
			quiet[alert] = true
		}
		t.Run(strings.ReplaceAll(unit.Name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			runUnitTest(t, &tested, &unit)
		})
	}
	for alert := range all {
		if !fires[alert] || !quiet[alert] {
			t.Errorf("%s: tests that it fires: %t, and that it does not: %t", alert, fires[alert], quiet[alert])
		}
	}
}

func runUnitTest(t *testing.T, tested *rule, unit *unitTest) {
	t.Helper()
	samples, end := input(t, unit)
	engine := newEngine()
	evaluate(t, engine, samples, tested, end)
	fired := false
	for _, query := range unit.Queries {
		at := start.Add(time.Duration(query.At))
		result, err := instant(engine, samples, query.Expr, at)
		if err != nil || len(result) != 1 || len(query.Samples) != 1 {
			t.Fatalf("%s at %s: %v, %v", query.Expr, at.Sub(start), result, err)
		}
		fired = fired || query.Samples[0].Value > 0
		if result[0].F != query.Samples[0].Value {
			t.Errorf("at %s, %v are firing, want %v", at.Sub(start), result[0].F, query.Samples[0].Value)
		}
	}
	if wanted := strings.HasPrefix(unit.Name, tested.Alert+" fires"); fired != wanted {
		t.Errorf("the name says that it fires: %t; the test: %t", wanted, fired)
	}
}

var (
	start = time.Unix(0, 0).UTC()
	stale = math.Float64frombits(value.StaleNaN)
)

// input makes the series of a test, and says when the last query is.
func input(t *testing.T, unit *unitTest) (samples *Samples, end time.Time) {
	t.Helper()
	samples = &Samples{}
	for _, described := range unit.Input {
		of, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(described.Series + " " + described.Values)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if !v.Omitted {
				samples.Add(of, start.Add(time.Duration(i)*time.Duration(unit.Interval)), v.Value)
			}
		}
	}
	for _, query := range unit.Queries {
		if at := start.Add(time.Duration(query.At)); at.After(end) {
			end = at
		}
	}
	return samples, end
}

// evaluate does what Prometheus does with an alert every minute: what the expression gives is pending, and firing if it
// has lasted. The series ALERTS tell.
func evaluate(t *testing.T, engine *promql.Engine, samples *Samples, tested *rule, end time.Time) {
	t.Helper()
	active := map[string]time.Time{} // by labels, since when
	shown := map[string]labels.Labels{}
	for at := start; !at.After(end); at = at.Add(time.Minute) {
		result, err := instant(engine, samples, tested.Expr, at)
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]labels.Labels{}
		for _, found := range result {
			of := found.Metric.String()
			since, known := active[of]
			if !known {
				since = at
				active[of] = at
			}
			state := "pending"
			if at.Sub(since) >= time.Duration(tested.For) {
				state = "firing"
			}
			series, err := alertSeries(found, tested, state)
			if err != nil {
				t.Fatal(err)
			}
			now[of+state] = series
			samples.Add(series, at, 1)
		}
		for name, series := range shown {
			if now[name].IsEmpty() {
				samples.Add(series, at, stale)
			}
		}
		for of := range active {
			if now[of+"pending"].IsEmpty() && now[of+"firing"].IsEmpty() {
				delete(active, of)
			}
		}
		shown = now
	}
}

// alertSeries expands the labels of an alert as Prometheus does. An empty one is none.
func alertSeries(found promql.Sample, tested *rule, state string) (labels.Labels, error) {
	builder := labels.NewBuilder(found.Metric).Set(model.MetricNameLabel, "ALERTS")
	for name, text := range tested.Labels {
		data := template.AlertTemplateData(found.Metric.Map(), nil, "", found)
		expander := template.NewTemplateExpander(context.Background(), "{{$labels := .Labels}}"+text, tested.Alert, data,
			model.Time(found.T), nil, &url.URL{}, []string{"missingkey=zero"})
		expanded, err := expander.Expand()
		if err != nil {
			return labels.EmptyLabels(), err
		}
		builder.Set(name, expanded)
	}
	return builder.Set("alertname", tested.Alert).Set("alertstate", state).Labels(), nil
}

// Each alert says what is so, in words, and has a section of the runbooks, which has what somebody needs at night.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	const address = "https://github.com/mandate-io/idv/blob/main/docs/runbooks.md#"
	content, err := os.ReadFile("../../../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(string(content), "\n## ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[heading] = text
	}
	all := rules(t)
	for alert, r := range all {
		severity := r.Labels["severity"]
		if severity != "critical" && severity != "warning" && severity != "info" {
			t.Errorf("%s: the severity is %q", alert, severity)
		}
		if r.For == 0 || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s lacks for, a summary or a description", alert)
		}
		if want := address + strings.ToLower(alert); r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %s, want %s", alert, r.Annotations["runbook_url"], want)
		}
		for _, part := range []string{"**Meaning:**", "**Impact:**", "**Look:**", "**Do:**", "**Never:**"} {
			if !strings.Contains(sections[alert], part) {
				t.Errorf("docs/runbooks.md: the section %s lacks %s", alert, part)
			}
		}
		if !strings.Contains(sections[alert], "`"+severity+"`") {
			t.Errorf("docs/runbooks.md: the section %s lacks the severity %s", alert, severity)
		}
	}
	for heading := range sections {
		if strings.HasPrefix(heading, "IDV") && all[heading].Alert == "" {
			t.Errorf("docs/runbooks.md has a section %s, and there is no such alert", heading)
		}
	}
}
