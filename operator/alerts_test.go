package operator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
