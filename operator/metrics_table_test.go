package operator_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// documentedMetrics are the type and the labels of each metric, as docs/monitoring.md has them.
func documentedMetrics(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(env.Root, "docs", "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	line := regexp.MustCompile("(?m)^\\| `(idv_\\w+)` \\| (\\w+)[^|]* \\|([^|]*)\\|")
	for _, match := range line.FindAllStringSubmatch(string(page), -1) {
		var labels []string
		for _, label := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(match[3], -1) {
			labels = append(labels, label[1])
		}
		slices.Sort(labels)
		documented[match[1]] = match[2] + " " + strings.Join(labels, " ")
	}
	return documented
}

// parseMetrics reads the text format, by names.
func parseMetrics(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// The page has every metric of the operator with its type and its labels, and the names follow the conventions.
func TestMetricsTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	receiver := "--notification-bind-address=" + testenv.FreeAddress(t)
	w.start("--metrics-bind-address="+address, receiver, "--settle-delay=10m")
	w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com}]}")
	w.ready("acme")
	w.action("resend", resend)
	w.actionCompletes("resend")
	w.fault(answerLost)
	w.mandate("globex", "{}")
	w.condition("globex", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)
	w.action("waits", "{type: ResendInvite, mandateRef: {name: globex}}")
	w.actionWaits("waits", v1alpha1.ReasonMandateNotReady)

	text := w.scrape(address)
	served := map[string]string{}
	for name, family := range parseMetrics(t, text) {
		if !strings.HasPrefix(name, "idv_") {
			continue
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		slices.Sort(labels)
		served[name] = strings.ToLower(family.GetType().String()) + " " + strings.Join(labels, " ")
	}
	documented := documentedMetrics(t)
	if len(served) < 15 || !maps.Equal(served, documented) {
		for name := range maps.Keys(served) {
			if served[name] != documented[name] {
				t.Errorf("%s is %q, and docs/monitoring.md says %q", name, served[name], documented[name])
			}
		}
		for name := range documented {
			if served[name] == "" {
				t.Errorf("docs/monitoring.md has %s, which the operator does not serve", name)
			}
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	w.check(err)
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "idv_") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}
}
