package config

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	operatorChart = "config/chart/mandate-operator"
	crdChart      = "config/chart/mandate-operator-crds"
)

// helm runs helm, which must succeed, and gives what it prints.
func (c *cluster) helm(arguments ...string) string {
	c.Helper()
	output, err := c.tryHelm(arguments...)
	if err != nil {
		c.Fatalf("helm %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// tryHelm runs helm in the operator's namespace, unless the arguments name another one. Its files would otherwise be in
// the user's home.
func (c *cluster) tryHelm(arguments ...string) (string, error) {
	c.Helper()
	helm := filepath.Join(c.Root, "bin", "helm")
	if _, err := os.Stat(helm); err != nil {
		c.Fatalf("bin/helm is missing: run make tools (%v)", err)
	}
	arguments = append([]string{"--namespace=" + operatorNamespace}, arguments...)
	command := exec.CommandContext(c.Context(), helm, arguments...)
	command.Dir = c.Root
	home := filepath.Join(c.Dir, "helm")
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home,
		"HELM_DATA_HOME="+home)
	output, err := command.CombinedOutput()
	return string(output), err
}

// render gives what the operator's chart has as a release of a name, in the operator's namespace.
func (c *cluster) render(release string, arguments ...string) string {
	c.Helper()
	return c.helm(append([]string{"template", release, operatorChart}, arguments...)...)
}

// objects parses rendered manifests.
func objects(t *testing.T, manifests string) (parsed []*unstructured.Unstructured) {
	t.Helper()
	for document := range strings.SplitSeq("\n"+manifests, "\n---\n") {
		if hasContent(document) {
			parsed = append(parsed, parse(t, document))
		}
	}
	if len(parsed) == 0 {
		t.Fatalf("there are no objects in:\n%s", manifests)
	}
	return parsed
}

// hasContent is false if all lines of a document are empty or comments.
func hasContent(document string) bool {
	return slices.ContainsFunc(strings.Split(document, "\n"), func(line string) bool {
		return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#")
	})
}

func TestChartsAreLinted(t *testing.T) {
	c := in(t, env)
	c.helm("lint", "--strict", crdChart)
	c.helm("lint", "--strict", operatorChart)
	c.helm("lint", "--strict", operatorChart, "--set=policy.enabled=true,reports.enabled=true")
}

// refusedValues are wrong, each with what the error names and says.
var refusedValues = map[string][]string{
	"replicas=two":                            {"/replicas", "want integer"},
	"image.digest=1234":                       {"/image/digest"},
	"image.repository=registry/operator:v1":   {"/image/repository"},
	"image.pullPolicy=Sometimes":              {"/image/pullPolicy", "'Always', 'IfNotPresent', 'Never'"},
	"allowLoopbackHttp=true":                  {"'allowLoopbackHttp' not allowed"},
	"metrics.tls=false":                       {"/metrics", "'tls' not allowed"},
	"settleDelay=90":                          {"/settleDelay", "want string"},
	"recordRetention=0h":                      {"/recordRetention"},
	"deletionGiveUpAfter=1d":                  {"/deletionGiveUpAfter"},
	"maxConcurrentReconciles=0":               {"/maxConcurrentReconciles", "want 1"},
	"watchNamespaces={a b}":                   {"/watchNamespaces/0"},
	"allowedHosts={}":                         {"/allowedHosts"},
	"networkPolicy.egressPorts={65536}":       {"/networkPolicy/egressPorts/0"},
	"extraArgs={leader-elect}":                {"/extraArgs/0"},
	"extraArgs={--leader-elect=false}":        {"extraArgs: the chart sets --leader-elect itself"},
	"extraArgs={-watch-namespaces=a}":         {"extraArgs: the chart sets --watch-namespaces itself"},
	"serviceAccount.create=false":             {"serviceAccount.name is empty"},
	"notifications.ingress.enabled=true":      {"notifications.ingress.host is empty"},
	"notifications.httpRoute.enabled=true":    {"notifications.httpRoute.parentRefs is empty"},
	"resources.limit.memory=1Gi":              {"/resources", "'limit' not allowed"},
	"extraEnv[0].value=http://127.0.0.1:3128": {"/extraEnv/0", "'name'"},

	"metrics.serviceMonitor.tlsConfig.servername=a": {"/metrics/serviceMonitor/tlsConfig", "servername"},
	"metrics.secure=false,metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.tlsConfig.serverName=a": {
		"metrics.serviceMonitor.tlsConfig is set, but the metrics are served without TLS",
	},

	"notifications.enabled=false,notifications.ingress.enabled=true":                  {"notifications.enabled is false"},
	"notifications.ingress.enabled=true,notifications.ingress.host=hooks.example.com": {"ingress.tlsSecret is empty"},
}

// A wrong value is refused before anything is sent, by an error that names it.
func TestChartRefusesWrongValues(t *testing.T) {
	for values, want := range refusedValues {
		t.Run(values, func(t *testing.T) {
			t.Parallel()
			c := in(t, env)
			output, err := c.tryHelm("template", "test", operatorChart, "--set="+values)
			for _, text := range want {
				if err == nil || !strings.Contains(output, text) {
					t.Errorf("%v: want an error that says %q\n%s", err, text, output)
				}
			}
		})
	}
}

// Another chart can depend on the operator's: Helm adds global, and the user a condition.
func TestChartAsDependency(t *testing.T) {
	c := in(t, env)
	dir := t.TempDir()
	c.check(os.CopyFS(filepath.Join(dir, "charts", "mandate-operator"), os.DirFS(filepath.Join(c.Root, operatorChart))))
	c.check(os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte(`{apiVersion: v2, name: platform, version: 1.0.0,
		dependencies: [{name: mandate-operator, version: ">=0-0", condition: mandate-operator.enabled}]}`), 0o600))
	for enabled, want := range map[bool]int{true: 2, false: 0} {
		output := c.helm("template", "test", dir, "--set=global.team=a,mandate-operator.replicas=3",
			fmt.Sprintf("--set=mandate-operator.enabled=%t", enabled))
		if got := strings.Count(output, "replicas: 3"); got != want {
			t.Errorf("enabled %t: %d Deployments, want %d: the operator and the receiver\n%s", enabled, got, want, output)
		}
	}
}
