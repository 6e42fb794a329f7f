package operator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

type alert struct {
	Alert, Expr         string
	For                 string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(env.Root, "config", "monitoring", "prometheus_rule.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Groups []struct {
				Name  string
				Rules []alert
			}
		}
	}
	if err := yaml.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Spec.Groups) != 1 || len(manifest.Spec.Groups[0].Rules) == 0 {
		t.Fatal("there are no rules")
	}
	return manifest.Spec.Groups[0].Rules
}

var (
	metricName = regexp.MustCompile(`\b(?:idv|controller_runtime)_\w+`)
	matchers   = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"([^"]*)"`)
)

// An alert on a metric, a label or a reason that does not exist would never fire.
func TestAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("acme", "{}")
	w.ready("acme")
	series := w.scrape(address)
	reasons, err := reasonConstants()
	w.check(err)
	watched := map[string][]string{} // reasons by metric
	for _, a := range alerts(t) {
		names := metricName.FindAllString(a.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s uses no metric of the operator", a.Alert)
		}
		for _, name := range names {
			if strings.Contains(a.Expr, name+")") { // all its series
				watched[name] = append(watched[name], reasonsOf(series, name)...)
			}
			if !strings.Contains(series, "\n"+name+"{") && !strings.Contains(series, "\n"+name+" ") {
				t.Errorf("%s: there is no metric %s", a.Alert, name)
			}
		}
		for _, selector := range matchers.FindAllStringSubmatch(a.Expr, -1) {
			for _, m := range matcher.FindAllStringSubmatch(selector[2], -1) {
				label, values := m[1], m[2]
				if !regexp.MustCompile(`(?m)^` + selector[1] + `\{([^}]*,)?` + label + `="`).MatchString(series) {
					t.Errorf("%s: %s has no label %s", a.Alert, selector[1], label)
				}
				for value := range strings.SplitSeq(values, "|") {
					if label == "reason" {
						watched[selector[1]] = append(watched[selector[1]], value)
					}
					if label == "reason" && !reasons[value] {
						t.Errorf("%s: there is no reason %s", a.Alert, value)
					}
					if (label == "operation" || label == "controller") && !strings.Contains(series, label+`="`+value+`"`) {
						t.Errorf("%s: there is no %s %s", a.Alert, label, value)
					}
				}
			}
		}
	}
	for _, reason := range needPerson(t) {
		if !slices.Contains(watched["idv_mandates"], reason) {
			t.Errorf("no alert covers Mandates that need a person for the reason %s", reason)
		}
	}
}

// reasonsOf are the values of the label reason in the series of a metric.
func reasonsOf(series, metric string) (reasons []string) {
	line := regexp.MustCompile(`(?m)^` + metric + `\{(?:[^}]*,)?reason="(\w+)"`)
	for _, match := range line.FindAllStringSubmatch(series, -1) {
		reasons = append(reasons, match[1])
	}
	return reasons
}

// needPerson are the reasons of Ready for which a Mandate waits for a person: in docs/status.md, Argo CD reports
// Degraded.
func needPerson(t *testing.T) (reasons []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(env.Root, "docs", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\|[^|]*\| \w+, (\w+) \|[^|]*\|[^|]*\|[^|]*\|[^|]*\| Degraded \|`)
	for _, match := range line.FindAllStringSubmatch(string(page), -1) {
		if match[1] != string(v1alpha1.OutcomeExpired) { // expected for every application that is never completed
			reasons = append(reasons, match[1])
		}
	}
	if len(reasons) < 13 {
		t.Fatalf("docs/status.md has %q", reasons)
	}
	return reasons
}

// The alerts fire for the first loss, although its series did not exist before.
func TestAlertsOfAFirstLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address="+address, "--settle-delay=10m")
	w.mandate("acme", "{}")
	m := w.ready("acme")
	before := w.scrape(address)
	_, err := w.client(w.url).DeleteApplication(t.Context(), *m.Status.ApplicationID)
	w.check(err)
	w.fault(answerLost)
	w.mandate("globex", "{}")
	w.condition("globex", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeDeleted))
	after := w.scrape(address)
	tested := 0
	for _, a := range alerts(t) {
		if a.Alert != "IDVMandatesVanished" && a.Alert != "IDVCreateAnswerLost" {
			continue
		}
		tested++
		if fires(t, a.Expr, before, before) {
			t.Errorf("%s fires before anything is lost", a.Alert)
		}
		if !fires(t, a.Expr, before, after) {
			t.Errorf("%s does not fire: %s", a.Alert, a.Expr)
		}
	}
	if tested != 2 {
		t.Errorf("%d of 2 alerts were tested", tested)
	}
}

var (
	grown     = regexp.MustCompile(`^sum\((\S+)\) > \(?sum\((\S+) offset \w+\)( or vector\(0\)\))?$`)
	increased = regexp.MustCompile(`^sum\(increase\((\S+)\[\w+\]\)\) > 0$`)
)

// fires evaluates the two forms of expression that compare with the past, which is one earlier scrape. As in
// Prometheus, the sum of no series is empty and matches no comparison, and a new series has no increase.
func fires(t *testing.T, expression, before, now string) bool {
	t.Helper()
	if match := grown.FindStringSubmatch(expression); match != nil {
		past, current := selected(before, match[2]), selected(now, match[1])
		return len(current) > 0 && (len(past) > 0 || match[3] != "") && sum(current) > sum(past)
	}
	match := increased.FindStringSubmatch(expression)
	if match == nil {
		t.Fatalf("this test cannot evaluate %s", expression)
	}
	past, increase := selected(before, match[1]), 0.0
	for series, value := range selected(now, match[1]) {
		if earlier, ok := past[series]; ok {
			increase += value - earlier
		}
	}
	return increase > 0
}

// selected returns the series of a scrape that match a selector with at most one label, such as up{job="a"}.
func selected(scrape, selector string) map[string]float64 {
	name, label, _ := strings.Cut(strings.TrimSuffix(selector, "}"), "{")
	series := map[string]float64{}
	for line := range strings.Lines(scrape) {
		labels, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if n, err := strconv.ParseFloat(value, 64); found && err == nil && strings.HasPrefix(labels, name+"{") &&
			strings.Contains(labels, label) {
			series[labels] = n
		}
	}
	return series
}

func sum(series map[string]float64) (total float64) {
	for _, value := range series {
		total += value
	}
	return total
}
