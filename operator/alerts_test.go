package operator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

type alert struct {
	Alert, Expr         string
	For                 string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(env.Root, "examples", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	if err := yaml.UnmarshalStrict(content, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) == 0 {
		t.Fatal("there are no rules")
	}
	return file.Groups[0].Rules
}

var (
	metricName = regexp.MustCompile(`\b(?:idv|controller_runtime)_\w+`)
	matchers   = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"([^"]*)"`)
)

// An alert on a metric, a label or a reason that does not exist never fires, and nobody notices.
func TestAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := w.freeAddress()
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("acme", "{}")
	w.ready("acme")
	series := w.scrape(address)
	reasons, err := reasonConstants()
	w.check(err)
	watched := map[string]bool{}
	for _, a := range alerts(t) {
		if a.Alert == "" || a.Labels["severity"] == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("the alert %q lacks a severity, a summary or a description", a.Alert)
		}
		names := metricName.FindAllString(a.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s is about no metric of the operator", a.Alert)
		}
		for _, name := range names {
			if !strings.Contains(series, "\n"+name+"{") {
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
					watched[value] = watched[value] || label == "reason"
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
	for _, reason := range stalledReasons(t) {
		if !watched[reason] {
			t.Errorf("no alert tells of Mandates that need a person because of %s", reason)
		}
	}
}

// stalledReasons are those with which a Mandate that was not verified waits for a person, as docs/conditions.md has them.
func stalledReasons(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(env.Root, explanation))
	if err != nil {
		t.Fatal(err)
	}
	_, mandates, _ := strings.Cut(string(page), "\n## Mandate\n")
	mandates, _, _ = strings.Cut(mandates, "\n## ")
	var reasons []string
	section := regexp.MustCompile(`(?m)^### (\w+)\n\n.*Stalled=True`)
	for _, match := range section.FindAllStringSubmatch(mandates, -1) {
		if match[1] != string(v1alpha1.OutcomeExpired) { // the end of every application that nobody finished
			reasons = append(reasons, match[1])
		}
	}
	if len(reasons) == 0 {
		t.Fatal("no reason stalls a Mandate")
	}
	return reasons
}

// A first loss is told of, although there was no series of it before.
func TestAlertsOfAFirstLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := w.freeAddress()
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	before := w.scrape(address)
	w.check(w.client(w.url).DeleteApplication(t.Context(), *m.Status.ApplicationID))
	w.fault(lost)
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

// fires evaluates the two forms of expression that compare with the past, of which there is one scrape, as Prometheus does: the
// sum of no series is nothing, to which nothing compares, and a series that is new has no increase.
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

// selected are the series of a scrape with the name and the one label of a selector, such as up{job="a"}.
func selected(scrape, selector string) map[string]float64 {
	name, label, _ := strings.Cut(strings.TrimSuffix(selector, "}"), "{")
	series := map[string]float64{}
	for line := range strings.Lines(scrape) {
		labels, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if n, err := strconv.ParseFloat(value, 64); found && err == nil && strings.HasPrefix(labels, name+"{") && strings.Contains(labels, label) {
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
