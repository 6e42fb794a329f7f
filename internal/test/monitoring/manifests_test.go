package monitoring

import (
	"log/slog"
	"os"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// The manifests have only fields that the Prometheus operator knows, and Prometheus takes the rules.
func TestManifests(t *testing.T) {
	t.Parallel()
	rules, monitor := &monitoringv1.PrometheusRule{}, &monitoringv1.ServiceMonitor{}
	decode(t, "prometheus_rule.yaml", rules)
	decode(t, "service_monitor.yaml", monitor)
	for want, got := range map[string]schema.GroupVersionKind{
		monitoringv1.PrometheusRuleKind:  rules.GroupVersionKind(),
		monitoringv1.ServiceMonitorsKind: monitor.GroupVersionKind(),
	} {
		if got != monitoringv1.SchemeGroupVersion.WithKind(want) {
			t.Errorf("the manifest is a %s, want a %s", got, want)
		}
	}
	groups, err := yaml.Marshal(rules.Spec)
	if err != nil {
		t.Fatal(err)
	}
	const unknownFields = false
	_, problems := rulefmt.Parse(groups, unknownFields, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	for _, problem := range problems {
		t.Error(problem)
	}
}

// decode refuses unknown and repeated fields.
func decode(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(directory + name)
	if err == nil {
		err = yaml.UnmarshalStrict(content, into)
	}
	if err != nil {
		t.Fatal(name, err)
	}
}
