package config

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// The charts install what config/default, config/reports, config/policy and config/monitoring do, but for names and
// labels, and:
//
//   - the namespace: helm creates it, without the label that enforces the restricted Pod Security standard
//   - the image, which the version of the chart selects, and when it is pulled
//   - flags that have the operator's own defaults: the values show them
//   - the annotation of the CRDs by which helm keeps them
func TestChartsEqualConfig(t *testing.T) {
	c := in(t, env)
	rendered := c.render("mandate-operator", "--set=policy.enabled=true,policy.requireSecrets=true,reports.enabled=true,"+
		"metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboard.enabled=true")
	rendered = strings.ReplaceAll(rendered, "mandate-operator.reports.idv", "reports.idv")
	rendered = strings.ReplaceAll(rendered, "mandate-operator.record.idv", "record.idv")
	rendered = strings.ReplaceAll(rendered, "mandate-operator.operator.idv", "operator.idv")
	rendered += "\n---\n" + c.helm("template", "mandate-operator-crds", crdChart)
	got, want := map[string]any{}, map[string]any{}
	for _, object := range objects(t, rendered) {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "helm.sh/resource-policy")
		if object.GetKind() == "Deployment" {
			c.withoutDefaults(object)
		}
		addCompared(t, got, object)
	}
	for _, directory := range []string{
		"config/default", "config/reports", "config/policy", "config/policy/require-secrets", "config/monitoring",
	} {
		for _, object := range objects(t, c.kubectl("kustomize", directory)) {
			if object.GetKind() != "Namespace" {
				addCompared(t, want, object)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 30 {
		t.Errorf("of %d objects (-config +charts):\n%s", len(want), diff)
	}
}

// addCompared adds an object without what may differ.
func addCompared(t *testing.T, to map[string]any, object *unstructured.Unstructured) {
	t.Helper()
	key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
	if to[key] != nil {
		t.Errorf("%s is there twice", key)
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "labels")
	if object.GetKind() == "Deployment" {
		container := containerOf(t, object)
		delete(container, "image")
		delete(container, "imagePullPolicy")
		arguments, _, err := unstructured.NestedStringSlice(container, "args")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(arguments)
		container["args"] = arguments
	}
	to[key] = withoutInstance(object.Object)
}

func containerOf(t *testing.T, deployment *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	return containers.([]any)[0].(map[string]any) // a Deployment has containers
}

// withoutInstance removes the label of the release from selectors and Pods, wherever it is.
func withoutInstance(content any) any {
	switch typed := content.(type) {
	case map[string]any:
		delete(typed, "app.kubernetes.io/instance")
		delete(typed, "jobLabel") // the label that the release, or the name, is in
		for _, member := range typed {
			withoutInstance(member)
		}
	case []any:
		for _, item := range typed {
			withoutInstance(item)
		}
	}
	return content
}

// withoutDefaults removes the flags that have the operator's own default. Those that config sets stay.
func (c *cluster) withoutDefaults(deployment *unstructured.Unstructured) {
	c.Helper()
	container := containerOf(c.T, deployment)
	arguments, _, err := unstructured.NestedStringSlice(container, "args")
	c.check(err)
	defaults := c.defaultsOfFlags()
	before := len(arguments)
	arguments = slices.DeleteFunc(arguments, func(argument string) bool {
		name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		byDefault, known := defaults[name]
		return known && sameValue(byDefault, value) && name != "health-probe-bind-address"
	})
	if len(arguments) == before {
		c.Errorf("no flag has the default of the operator: %q", defaults)
	}
	kept := make([]any, len(arguments))
	for i, argument := range arguments {
		kept[i] = argument
	}
	container["args"] = kept
}

// defaultsOfFlags asks the operator.
func (c *cluster) defaultsOfFlags() map[string]string {
	c.Helper()
	testenv.SkipIfShort(c.T)
	binary, err := c.Build("./cmd/mandate-operator")
	c.check(err)
	help, err := exec.CommandContext(c.Context(), binary, "--help").CombinedOutput()
	c.check(err)
	defaults := map[string]string{}
	for _, flag := range regexp.MustCompile(`(?m)^ {2}-([a-z-]+).*\n(.*)$`).FindAllStringSubmatch(string(help), -1) {
		defaults[flag[1]] = "false" // of which --help has nothing
		if match := regexp.MustCompile(`\(default "?([^")]+)"?\)`).FindStringSubmatch(flag[2]); match != nil {
			defaults[flag[1]] = match[1]
		}
	}
	defaults["zap-log-level"] = "info" // which --help does not have
	return defaults
}

// sameValue compares values of flags: 90s is 1m30s.
func sameValue(a, b string) bool {
	first, err := time.ParseDuration(a)
	second, otherErr := time.ParseDuration(b)
	return a == b || err == nil && otherErr == nil && first == second
}
