package operator_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

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
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	w.check(err)
	address := listener.Addr().String()
	w.check(listener.Close())
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("acme", "{}")
	w.ready("acme")
	series := w.scrape(address)
	reasons, err := reasonConstants()
	w.check(err)
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
}
