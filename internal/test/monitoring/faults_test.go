package monitoring

import (
	"bufio"
	"cmp"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

var faultsDirectory = flag.String("faults", "", "directory that operator's TestFaults has written into")

const (
	// history is how long all was well before a fault.
	history = 2 * time.Hour
	// soon is how soon an alert has to fire.
	soon = 5 * time.Minute
	// minFaults is how many recordings there have to be: with the simulated ones, there are more than thirty faults.
	minFaults = 25
)

// scrape is the value of each series.
type scrape map[string]float64

// fault is what an operator serves before and after.
type fault struct {
	alert         string
	before, after scrape
	ended         string // a counter that rises by one an hour before, and not any more after
}

func readFault(t *testing.T, name string) fault {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	used := map[string]bool{} // by the alerts: the others take long
	for _, r := range rules(t) {
		for _, name := range metric.FindAllString(r.Expr, -1) {
			used[name] = true
		}
	}
	found, scrapes := fault{}, []scrape{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if alert, ok := strings.CutPrefix(line, "# alert "); ok {
			found.alert = alert
		}
		if strings.HasPrefix(line, "# at ") {
			scrapes = append(scrapes, scrape{})
		}
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || strings.HasPrefix(line, "#") || !used[metric.FindString(line)] {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		scrapes[len(scrapes)-1][line[:end]] = value
	}
	found.before, found.after = scrapes[0], scrapes[1]
	return found
}

var (
	metric  = regexp.MustCompile(`\b(?:idv|controller_runtime)_\w+`)
	counter = regexp.MustCompile(`^\w+_(total|bucket|sum|count)(\{|$)`)
)

// at is what Prometheus would have got, so long after the fault. It goes on: each minute is like the recorded one. What
// the service was asked before goes on, too.
func (f *fault) at(since time.Duration) scrape {
	if since < 0 {
		now := maps.Clone(f.before)
		if f.ended != "" {
			now[f.ended] += 1000 + since.Hours()
		}
		return now
	}
	now := maps.Clone(f.after)
	if f.ended != "" {
		now[f.ended] += 1000
	}
	for series, value := range f.after {
		if counter.MatchString(series) && series != f.ended {
			now[series] = value + (value-f.before[series])*since.Minutes()
		}
	}
	return now
}

// samples are those of the hours before a fault, and of the minutes after it.
func (f *fault) samples(t *testing.T, before, after, step time.Duration) *Samples {
	t.Helper()
	samples, parse := &Samples{}, parser.NewParser(parser.Options{})
	known, shown := map[string]labels.Labels{}, scrape{}
	for since := -before; since <= after; since += step {
		at, now := start.Add(before+since), f.at(since)
		for series, value := range now {
			if known[series].IsEmpty() {
				of, _, err := parse.ParseSeriesDesc(series + " 0")
				if err != nil {
					t.Fatal(series, err)
				}
				known[series] = labels.NewBuilder(of).Set("namespace", "operators").Set("job", "mandate-operator").Labels()
			}
			samples.Add(known[series], at, value)
		}
		for series := range shown {
			if _, still := now[series]; !still {
				samples.Add(known[series], at, stale)
			}
		}
		shown = now
	}
	return samples
}

// firing are the alerts that fire within some time after a fault, each with when it does and in which namespace.
func firing(t *testing.T, samples *Samples, from, to time.Time, step time.Duration) map[string]time.Duration {
	t.Helper()
	engine, fired := newEngine(), map[string]time.Duration{}
	for name, r := range rules(t) {
		active := map[string]time.Time{}
		for at := from.Add(-time.Duration(r.For)); !at.After(to); at = at.Add(step) {
			result, err := instant(engine, samples, r.Expr, at)
			if err != nil {
				t.Fatal(name, err)
			}
			now := map[string]time.Time{}
			for _, found := range result {
				of := found.Metric.String()
				now[of] = at
				if since, ok := active[of]; ok {
					now[of] = since
				}
				if _, known := fired[name]; !known && !at.Before(from) && at.Sub(now[of]) >= time.Duration(r.For) {
					fired[name] = at.Sub(from)
					checkLabels(t, found, &r)
				}
			}
			active = now
		}
	}
	return fired
}

// checkLabels looks whether an alert says of which operator and, if it can, of which team it is.
func checkLabels(t *testing.T, found promql.Sample, r *rule) {
	t.Helper()
	fired, err := alertSeries(found, r, "firing")
	if err != nil {
		t.Fatal(err)
	}
	if fired.Get("operator") != "operators/mandate-operator" {
		t.Errorf("%s is of the operator %q", r.Alert, fired.Get("operator"))
	}
	team := found.Metric.Get("mandate_namespace")
	if r.Labels["namespace"] != "" && (team == "" || fired.Get("namespace") != team) {
		t.Errorf("%s of the team %q is in the namespace %q", r.Alert, team, fired.Get("namespace"))
	}
}

// Each fault fires its own alert within five minutes, and no other. A real operator has served the metrics before and
// after. The hours before are the first ones, and each minute after is like the second.
func TestFaults(t *testing.T) {
	t.Parallel()
	if *faultsDirectory == "" {
		t.Fatal("no -faults: run make test-monitoring")
	}
	files, err := filepath.Glob(*faultsDirectory + "/*.prom")
	if err != nil || len(files) < minFaults {
		t.Fatalf("there are %d faults, and the error %v", len(files), err)
	}
	fired := map[string]bool{}
	for _, name := range files {
		f := readFault(t, name)
		if filepath.Base(name) == healthy {
			continue
		}
		fired[f.alert] = true
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			samples := f.samples(t, history, soon, time.Minute/2)
			f.check(t, firing(t, samples, start.Add(history), start.Add(history+soon), time.Minute/2))
		})
	}
	for name := range rules(t) {
		if _, simulated := simulatedFaults[name]; !fired[name] && !simulated {
			t.Errorf("no fault fires %s", name)
		}
	}
}

func (f *fault) check(t *testing.T, fired map[string]time.Duration) {
	t.Helper()
	if after, ok := fired[f.alert]; !ok || after == 0 || len(fired) != 1 {
		t.Errorf("%v fire, want %s", fired, f.alert)
	}
}

// simulatedFaults take longer, or need a failure for some of the requests only. They change what a real operator served
// while all was well.
var simulatedFaults = map[string]struct {
	within time.Duration // how soon the alert has to fire; 0: five minutes
	step   time.Duration // between scrapes; 0: half a minute
	ended  string
	change func(after scrape)
}{
	"IDVServiceFails": {change: func(after scrape) { // more than half fail, and never many in a row
		after[`idv_service_requests_total{operation="retrieve_application",status="200"}`] += 10
		after[`idv_service_requests_total{operation="retrieve_application",status="503"}`] += 100
	}},
	"IDVServiceSlow": {change: func(after scrape) { // none takes less than 10.9 seconds
		after[`idv_service_request_duration_seconds_bucket{operation="retrieve_application",le="+Inf"}`] += 10
	}},
	"IDVPollLag":          {change: func(after scrape) { each(after, "idv_poll_lag_seconds", 1801) }},
	"IDVMandatesExpiring": {change: func(after scrape) { each(after, "idv_mandates_expiring", 1) }},
	"IDVConnectionSaturated": {within: 31 * time.Minute, change: func(after scrape) {
		each(after, "idv_connection_slots_used", 10)
		each(after, "idv_connection_waiting", 5)
	}},
	"IDVNotificationsStopped": {
		within: 49 * time.Hour, step: 4 * time.Minute, ended: `idv_notification_deliveries_total{result="matched"}`,
	},
}

// each sets all series of a metric.
func each(of scrape, metric string, value float64) {
	for series := range of {
		if name, _, _ := strings.Cut(series, "{"); name == metric {
			of[series] = value
		}
	}
}

func TestSimulatedFaults(t *testing.T) {
	t.Parallel()
	for alert, c := range simulatedFaults {
		t.Run(alert, func(t *testing.T) {
			t.Parallel()
			f := readFault(t, filepath.Join(*faultsDirectory, healthy))
			f.alert, f.ended = alert, c.ended
			f.after = maps.Clone(f.before)
			if c.change != nil {
				c.change(f.after)
			}
			within, step := max(c.within, soon), cmp.Or(c.step, time.Minute/2)
			past := history
			if c.ended != "" {
				past = 9 * 24 * time.Hour
			}
			samples := f.samples(t, past, within, step)
			f.check(t, firing(t, samples, start.Add(past), start.Add(past+within), step))
		})
	}
}

// healthy is a recording in which all goes well: people are e-mailed, finish, and are decided about.
const healthy = "healthy.prom"

// In a week of which each minute is like the recorded one, no alert fires.
func TestWeekWithoutFaults(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	f := readFault(t, filepath.Join(*faultsDirectory, healthy))
	samples := f.samples(t, history, week, time.Minute)
	if fired := firing(t, samples, start.Add(history), start.Add(history+week), 10*time.Minute); len(fired) > 0 {
		t.Errorf("%v fire", fired)
	}
}
