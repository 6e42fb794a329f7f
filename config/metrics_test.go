package config

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/internal/test/await"
)

// servesMetrics scrapes the metrics at an address with a token that may, and with all that may not.
func (c *cluster) servesMetrics(address string) {
	c.Helper()
	namespace := c.Namespace(c.T)
	c.check(c.Create(c.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mandate-operator-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "prometheus"}},
	}))
	reader, stranger := c.newToken(namespace, "prometheus"), c.newToken(namespace, "stranger")
	url := "https://" + address + "/metrics"
	c.eventually(func() (bool, string) {
		status, body := scrape(c.T, url, reader)
		return status == http.StatusOK && strings.Contains(body, "\nidv_create_attempts_total"), fmt.Sprint(status, body)
	})
	own := strings.TrimSpace(c.kubectl("create", "token", "mandate-operator", "--namespace", operatorNamespace))
	for what, tc := range map[string]struct {
		url, token string
		want       int // 0: any but 200
	}{
		"without a token":              {url, "", http.StatusUnauthorized},
		"with an invalid token":        {url, reader + "x", 0}, // controller-runtime says 500
		"with a token that may not":    {url, stranger, http.StatusForbidden},
		"with the operator's own":      {url, own, http.StatusForbidden},
		"without TLS":                  {"http://" + address + "/metrics", reader, 0},
		"profiles, with a token":       {"https://" + address + "/debug/pprof/", reader, http.StatusNotFound},
		"again, with a token that may": {url, reader, http.StatusOK},
	} {
		got, body := scrape(c.T, tc.url, tc.token)
		wrong := got != tc.want && tc.want != 0 || got == http.StatusOK && tc.want != http.StatusOK
		if wrong || got != http.StatusOK && strings.Contains(body, "idv_") {
			c.Errorf("%s: status %d, want %d\n%.200s", what, got, tc.want, body)
		}
	}
}

// newToken creates a ServiceAccount, and gives a token of it.
func (c *cluster) newToken(namespace, name string) string {
	c.Helper()
	c.check(c.Create(c.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
	return strings.TrimSpace(c.kubectl("create", "token", name, "--namespace", namespace))
}

// scrape gets a URL with a token. The status is 0 if there is no answer.
func scrape(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(await.Context(t), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the certificate is self-signed
		DisableKeepAlives: true,
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(content)
}

// With metrics.serviceMonitor.tlsConfig, Prometheus verifies the certificate before it sends its token, and nothing of
// the default is left.
func TestChartVerifiesTheCertificateOfMetrics(t *testing.T) {
	c := in(t, env)
	const tlsConfig = `{"ca": {"secret": {"name": "metrics-tls", "key": "ca.crt"}}, "serverName": "metrics.example.com"}`
	for values, want := range map[string]string{
		`{}`:      `{"insecureSkipVerify": true}`,
		tlsConfig: tlsConfig,
	} {
		rendered := c.render("mandate-operator", `--set-json=metrics.certificateSecret="metrics-tls"`,
			"--set-json=metrics.serviceMonitor.enabled=true", "--set-json=metrics.serviceMonitor.tlsConfig="+values)
		found := false
		for _, object := range objects(t, rendered) {
			if object.GetKind() != "ServiceMonitor" {
				continue
			}
			found = true
			endpoints, _, err := unstructured.NestedSlice(object.Object, "spec", "endpoints")
			c.check(err)
			wanted := map[string]any{}
			c.check(yaml.Unmarshal([]byte(want), &wanted))
			endpoint, ok := endpoints[0].(map[string]any)
			if diff := cmp.Diff(wanted, endpoint["tlsConfig"]); !ok || diff != "" || endpoint["bearerTokenFile"] == nil {
				t.Errorf("with tlsConfig %s (-want +got):\n%s", values, diff)
			}
		}
		if !found {
			t.Error("there is no ServiceMonitor")
		}
	}
}

// The ServiceMonitor selects the Services that have the metrics, and reads them as they are served: over TLS, with a
// token, at the path that the role of readers names.
func TestServiceMonitor(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.apply("--kustomize", "config/manager")
	content, err := os.ReadFile(filepath.Join(env.Root, "config", "monitoring", "service_monitor.yaml"))
	c.check(err)
	var monitor struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			Selector  metav1.LabelSelector `json:"selector"`
			Endpoints []struct {
				Port            string `json:"port"`
				Path            string `json:"path"`
				Scheme          string `json:"scheme"`
				BearerTokenFile string `json:"bearerTokenFile"`
				TLSConfig       struct {
					InsecureSkipVerify bool `json:"insecureSkipVerify"`
				} `json:"tlsConfig"`
			} `json:"endpoints"`
		} `json:"spec"`
	}
	c.check(yaml.Unmarshal(content, &monitor))
	if len(monitor.Spec.Endpoints) != 1 {
		t.Fatalf("it has %d endpoints", len(monitor.Spec.Endpoints))
	}
	endpoint := monitor.Spec.Endpoints[0]
	if endpoint.Scheme != "https" || endpoint.BearerTokenFile == "" || !endpoint.TLSConfig.InsecureSkipVerify {
		t.Errorf("it reads with %+v", endpoint)
	}
	services := &corev1.ServiceList{}
	c.check(c.List(t.Context(), services, client.InNamespace(monitor.Metadata.Namespace),
		client.MatchingLabels(monitor.Spec.Selector.MatchLabels)))
	ports := 0
	for _, service := range services.Items {
		for _, port := range service.Spec.Ports {
			ofChart := service.Labels["app.kubernetes.io/instance"] != "" // of another test
			if port.Name == endpoint.Port && !ofChart {
				ports++
			}
		}
	}
	if ports != 2 { // of the operator, and of the receiver of notifications
		t.Errorf("%d of %d Services that it selects have the port %s", ports, len(services.Items), endpoint.Port)
	}
	role := &rbacv1.ClusterRole{}
	c.check(c.Get(t.Context(), client.ObjectKey{Name: "mandate-operator-metrics-reader"}, role))
	if !slices.Contains(role.Rules[0].NonResourceURLs, endpoint.Path) {
		t.Errorf("the role of readers has %v, and not %s", role.Rules[0].NonResourceURLs, endpoint.Path)
	}
}

// The links to the runbooks are of the chart's version, or go where the values say, and every alert has the additional
// labels.
func TestChartAlerts(t *testing.T) {
	c := in(t, env)
	const github = "https://github.com/mandate-io/idv/blob/"
	for values, want := range map[string]string{
		"":      github + "main/docs/runbooks.md#idvnoleader", // a clone has no version
		"wiki/": "wiki/idvnoleader",
	} {
		rendered := c.render("mandate-operator", "--set=metrics.rules.enabled=true",
			"--set=metrics.rules.additionalLabels.cluster=eu,metrics.rules.runbookBaseURL="+values)
		found := 0
		for _, object := range objects(t, rendered) {
			if object.GetKind() != "PrometheusRule" {
				continue
			}
			var spec struct {
				Groups []struct {
					Rules []struct {
						Alert               string            `json:"alert"`
						Labels, Annotations map[string]string `json:",omitempty"`
					} `json:"rules"`
				} `json:"groups"`
			}
			content, err := yaml.Marshal(object.Object["spec"])
			c.check(err)
			c.check(yaml.Unmarshal(content, &spec))
			for _, rule := range spec.Groups[0].Rules {
				found++
				if rule.Labels["cluster"] != "eu" || rule.Labels["severity"] == "" || rule.Labels["operator"] == "" {
					t.Errorf("%s has the labels %v", rule.Alert, rule.Labels)
				}
				if got := rule.Annotations["runbook_url"]; rule.Alert == "IDVNoLeader" && got != want {
					t.Errorf("with %q, the runbook is at %s, want %s", values, got, want)
				}
			}
		}
		if found < 20 {
			t.Errorf("there are %d alerts", found)
		}
	}
}
