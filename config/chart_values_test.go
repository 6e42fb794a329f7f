package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// changedValues has each value of the chart, changed from its default. Some need others to have an effect.
var changedValues = map[string]struct {
	to    string // JSON
	other string // more of them, for helm --set-json
}{
	"replicas":                 {to: `1`},
	"image.repository":         {to: `"registry.example.com:5000/mandate-operator"`},
	"image.tag":                {to: `"v1"`},
	"image.digest":             {to: `"sha256:` + strings.Repeat("0a", 32) + `"`},
	"image.pullPolicy":         {to: `"Always"`},
	"imagePullSecrets":         {to: `[{"name": "registry"}]`},
	"fullnameOverride":         {to: `"operator"`},
	"watchNamespaces":          {to: `["default", "kube-public"]`},
	"allowedHosts":             {to: `["idv.example.com", "*.example.org:8443"]`},
	"allowLoopbackHTTP":        {to: `true`},
	"maxConcurrentReconciles":  {to: `1000000`},
	"maxRequestsPerSecond":     {to: `50`},
	"minPollInterval":          {to: `"30s"`},
	"settleDelay":              {to: `"2m30s"`},
	"recordRetention":          {to: `"17520h"`},
	"deletionGiveUpAfter":      {to: `"1h"`},
	"leaderElectionID":         {to: `"second.idv.mandate.io"`},
	"logLevel":                 {to: `"debug"`},
	"extraArgs":                {to: `["--pprof-bind-address=127.0.0.1:6060"]`},
	"extraEnv":                 {to: `[{"name": "HTTPS_PROXY", "value": "http://proxy.example.com:443"}]`},
	"resources.requests":       {to: `{"cpu": 1}`},
	"resources.limits":         {to: `{"memory": "2Gi"}`},
	"labels":                   {to: `{"team": "a"}`},
	"annotations":              {to: `{"example.com/team": "a"}`},
	"podLabels":                {to: `{"team": "a"}`},
	"podAnnotations":           {to: `{"example.com/team": "a"}`},
	"podSecurityContext":       {to: `{"fsGroup": 65532}`},
	"securityContext":          {to: `{"runAsNonRoot": true}`},
	"nodeSelector":             {to: `{"kubernetes.io/os": "linux"}`},
	"tolerations":              {to: `[{"key": "dedicated", "operator": "Exists"}]`},
	"affinity.nodeAffinity":    {to: `{"preferredDuringSchedulingIgnoredDuringExecution": []}`},
	"affinity.podAffinity":     {to: `{"preferredDuringSchedulingIgnoredDuringExecution": []}`},
	"affinity.podAntiAffinity": {to: `{"preferredDuringSchedulingIgnoredDuringExecution": []}`},
	"topologySpreadConstraints": {
		to: `[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]`,
	},
	"priorityClassName":                   {to: `"system-cluster-critical"`},
	"podDisruptionBudget.enabled":         {to: `false`},
	"serviceAccount.create":               {to: `false`, other: ownAccounts},
	"serviceAccount.name":                 {to: `"own"`},
	"serviceAccount.receiverName":         {to: `"own"`},
	"serviceAccount.annotations":          {to: `{"example.com/role": "operator"}`},
	"metrics.enabled":                     {to: `false`},
	"metrics.secure":                      {to: `false`},
	"metrics.certificateSecret":           {to: `"metrics-tls"`},
	"metrics.serviceMonitor.enabled":      {to: `true`},
	"metrics.serviceMonitor.labels":       {to: `{"release": "prometheus"}`, other: `metrics.serviceMonitor.enabled=true`},
	"metrics.serviceMonitor.tlsConfig":    {to: `{"serverName": "metrics"}`, other: `metrics.serviceMonitor.enabled=true`},
	"metrics.rules.enabled":               {to: `true`},
	"metrics.rules.labels":                {to: `{"release": "prometheus"}`, other: `metrics.rules.enabled=true`},
	"metrics.rules.additionalLabels":      {to: `{"cluster": "eu"}`, other: `metrics.rules.enabled=true`},
	"metrics.rules.runbookBaseURL":        {to: `"https://wiki/"`, other: `metrics.rules.enabled=true`},
	"metrics.dashboard.enabled":           {to: `true`},
	"metrics.dashboard.labels":            {to: `{"dashboards": "yes"}`, other: `metrics.dashboard.enabled=true`},
	"notifications.enabled":               {to: `false`},
	"notifications.separate":              {to: `false`},
	"notifications.capture":               {to: `true`},
	"notifications.ingress.enabled":       {to: `true`, other: ingressValues},
	"notifications.ingress.className":     {to: `"public"`, other: ingressValues},
	"notifications.ingress.annotations":   {to: `{"example.com/limit": "10"}`, other: ingressValues},
	"notifications.ingress.host":          {to: `"other.example.com"`, other: ingressValues},
	"notifications.ingress.tlsSecret":     {to: `"other"`, other: ingressValues},
	"notifications.httpRoute.enabled":     {to: `true`, other: routeValues},
	"notifications.httpRoute.annotations": {to: `{"example.com/limit": "10"}`, other: routeValues},
	"notifications.httpRoute.parentRefs":  {to: `[{"name": "other"}]`, other: routeValues},
	"notifications.httpRoute.hostnames":   {to: `["other.example.com"]`, other: routeValues},
	"networkPolicy.enabled":               {to: `false`},
	"networkPolicy.egressPorts":           {to: `[8443]`},
	"networkPolicy.metricsFrom":           {to: `[]`},
	"networkPolicy.notificationsFrom":     {to: `[{"podSelector": {}, "namespaceSelector": {}}]`},
	"reports.enabled":                     {to: `true`},
	"recordPolicy.enabled":                {to: `false`},
	"operatorPolicy.enabled":              {to: `false`},
	"policy.enabled":                      {to: `true`},
	"policy.requireSecrets":               {to: `true`},
	"roles.create":                        {to: `false`},
	"roles.aggregateToDefault":            {to: `true`},
}

const (
	ownAccounts   = `serviceAccount={"name":"own","receiverName":"own-receiver"}`
	ingressValues = `notifications.ingress={"enabled":true,"host":"hooks.example.com","tlsSecret":"hooks-example-com"}`
	routeValues   = `notifications.httpRoute={"enabled":true,"hostnames":["hooks.example.com"],` +
		`"parentRefs":[{"name":"public","namespace":"gateways","sectionName":"https"}]}`
)

// testedApart are values that change nothing here, each with the reason.
var testedApart = map[string]string{
	"enabled":     "for charts that depend on this one",
	"global":      "for charts that depend on this one",
	"requireCRDs": "it refuses: TestChartNeedsCRDs",
}

// Every value of the schema is in values.yaml, is described and has an effect, and the API server takes what follows.
func TestEveryValueHasAnEffect(t *testing.T) {
	c := in(t, env)
	described := c.schema()
	got, want := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(changedValues))
	if !slices.Equal(got, want) {
		t.Fatalf("the schema has %q, and the test %q", got, want)
	}
	var mu sync.Mutex
	rendered := map[string]*unstructured.Unstructured{}
	t.Run("render", func(t *testing.T) {
		for path, change := range changedValues {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				if described[path] == "" {
					t.Error("it has no description")
				}
				before, after := renderChange(t, path, change.to, change.other)
				if before == after {
					t.Errorf("%s makes no difference", change.to)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, object := range objects(t, after) {
					rendered[object.GetKind()+object.GetName()+string(jsonOf(t, object))] = object
				}
			})
		}
	})
	c.accepts(slices.Collect(maps.Values(rendered)))
}

// renderChange renders the chart without and with a change of one value.
func renderChange(t *testing.T, path, to, other string) (before, after string) {
	t.Helper()
	c := in(t, env)
	var arguments []string
	if other != "" {
		arguments = append(arguments, "--set-json="+other)
	}
	after = c.render("test", append(arguments, "--set-json="+path+"="+to)...)
	if strings.HasSuffix(path, ".enabled") { // what it enables has values that are required
		arguments = append(arguments, "--set-json="+path+"="+map[string]string{"true": "false", "false": "true"}[to])
	}
	return c.render("test", arguments...), after
}

// schema gives the description of each value of the operator's chart.
func (c *cluster) schema() map[string]string {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.Root, operatorChart, "values.schema.json"))
	c.check(err)
	schema := valueSchema{}
	c.check(json.Unmarshal(content, &schema))
	descriptions := map[string]string{}
	schema.describe("", descriptions)
	for path := range testedApart {
		if _, ok := descriptions[path]; !ok {
			c.Errorf("the schema has no %s", path)
		}
		delete(descriptions, path)
	}
	return descriptions
}

type valueSchema struct {
	Type                 any                    `json:"type"`
	Description          string                 `json:"description"`
	Properties           map[string]valueSchema `json:"properties"`
	AdditionalProperties any                    `json:"additionalProperties"`
}

// describe adds the descriptions of what a schema consists of. What has none has that of what it belongs to.
func (s valueSchema) describe(path string, descriptions map[string]string) {
	if len(s.Properties) == 0 || s.AdditionalProperties != false {
		descriptions[path] = s.Description
	}
	for name, property := range s.Properties {
		if property.Description == "" {
			property.Description = s.Description
		}
		property.describe(strings.TrimPrefix(path+"."+name, "."), descriptions)
	}
}

// foreignGroups are the groups of kinds that the API server of the tests does not know.
var foreignGroups = []string{"gateway.networking.k8s.io", "monitoring.coreos.com"}

// accepts sends objects to the API server, which stores none.
func (c *cluster) accepts(found []*unstructured.Unstructured) {
	c.Helper()
	c.apply("--filename", "config/manager/namespace.yaml")
	var manifests strings.Builder
	kinds := map[string]bool{}
	for _, object := range found {
		if !slices.Contains(foreignGroups, object.GroupVersionKind().Group) {
			kinds[object.GetKind()] = true
			manifests.WriteString("---\n" + string(jsonOf(c.T, object)) + "\n")
		}
	}
	output, err := c.tryKubectl(manifests.String(), "apply", "--dry-run=server", "--server-side", "--force-conflicts",
		"--validate=strict", "--filename=-")
	if err != nil || strings.Contains(output, "Warning") {
		accepted := regexp.MustCompile(`(?m)^.* serverside-applied .*\n`)
		c.Errorf("%v\n%s", err, accepted.ReplaceAllString(output, ""))
	}
	for _, kind := range []string{"Deployment", "Ingress", "NetworkPolicy", "RoleBinding", "ValidatingAdmissionPolicy"} {
		if !kinds[kind] {
			c.Errorf("no %s was sent, only %q", kind, slices.Sorted(maps.Keys(kinds)))
		}
	}
}

func jsonOf(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	content, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The chart's Ingress and HTTPRoute are those of the examples.
func TestChartRoutesNotifications(t *testing.T) {
	c := in(t, env)
	for file, tc := range map[string]struct{ values, kind string }{
		"ingress.yaml":   {ingressValues, "Ingress"},
		"httproute.yaml": {routeValues, "HTTPRoute"},
	} {
		content, err := os.ReadFile(filepath.Join(c.Root, "examples", "notifications", file))
		c.check(err)
		want := map[string]any{}
		c.check(yaml.Unmarshal(content, &want))
		for _, object := range objects(t, c.render("mandate-operator", "--set-json="+tc.values)) {
			if object.GetKind() != tc.kind {
				continue
			}
			if diff := cmp.Diff(want["spec"], object.Object["spec"], equateNumbers); diff != "" {
				t.Errorf("%s (-example +chart):\n%s", file, diff)
			}
			delete(want, "spec")
		}
		if want["spec"] != nil {
			t.Errorf("the chart has no %s", tc.kind)
		}
	}
}

// equateNumbers ignores that one decoder has other types of numbers than another.
var equateNumbers = cmp.FilterValues(func(a, b any) bool { return isNumber(a) && isNumber(b) },
	cmp.Comparer(func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }))

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}
