package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// The API server accepts every directory that kubectl apply -k can be given, without a warning.
func TestEveryDirectoryIsAccepted(t *testing.T) {
	c := in(t, env)
	c.apply("--filename", "config/manager/namespace.yaml")
	directories, err := filepath.Glob("*/kustomization.yaml")
	c.check(err)
	var names []string
	for _, path := range directories {
		directory := filepath.Dir(path)
		names = append(names, directory)
		if directory == "monitoring" { // this API server has no such kinds; internal/test/monitoring decodes the manifests
			c.kubectl("kustomize", "config/monitoring")
			continue
		}
		t.Run(directory, func(t *testing.T) {
			c := in(t, env)
			output := c.kubectl("apply", "--dry-run=server", "--server-side", "--force-conflicts", "--validate=strict",
				"--kustomize", filepath.Join("config", directory))
			if strings.Contains(output, "Warning") {
				t.Error(output)
			}
		})
	}
	want := []string{"admission", "crd", "default", "manager", "monitoring", "policy", "rbac", "reports", "samples"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("directories (-want +got):\n%s", diff)
	}
}

// What the manifests say of each other holds: nothing in an API server notices a name or a port that does not exist.
func TestManagerFitsTogether(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.apply("--kustomize", "config/manager")
	c.fitsTogether("mandate-operator", "mandate-operator-metrics")
	c.fitsTogether("mandate-operator-receiver", "mandate-operator-receiver-metrics", "mandate-operator-notifications")
}

// fitsTogether compares a Deployment with its NetworkPolicy, its PodDisruptionBudget and its Services.
func (c *cluster) fitsTogether(name string, services ...string) {
	c.Helper()
	get := func(name string, into client.Object) {
		c.Helper()
		c.check(c.Get(c.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: name}, into))
	}
	t, deployment := c.T, &appsv1.Deployment{}
	policy, budget := &networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{}
	get(name, deployment)
	get(name, policy)
	get(name, budget)
	template := deployment.Spec.Template
	selectors := map[string]map[string]string{
		"Deployment":          deployment.Spec.Selector.MatchLabels,
		"NetworkPolicy":       policy.Spec.PodSelector.MatchLabels,
		"PodDisruptionBudget": budget.Spec.Selector.MatchLabels,
	}
	container := template.Spec.Containers[0]
	named := map[string]intstr.IntOrString{
		"the liveness probe":  container.LivenessProbe.HTTPGet.Port,
		"the readiness probe": container.ReadinessProbe.HTTPGet.Port,
	}
	for _, of := range services {
		service := &corev1.Service{}
		get(of, service)
		selectors[of], named[of] = service.Spec.Selector, service.Spec.Ports[0].TargetPort
	}
	for i, rule := range policy.Spec.Ingress {
		named[fmt.Sprintf("the NetworkPolicy %d", i)] = *rule.Ports[0].Port
	}
	if len(policy.Spec.Ingress) != len(services) {
		t.Errorf("%s has %d Services, and its NetworkPolicy admits %d", name, len(services), len(policy.Spec.Ingress))
	}
	for what, selector := range selectors {
		for key, value := range selector {
			if template.Labels[key] != value {
				t.Errorf("the %s selects %s=%s; the Pod has %v", what, key, value, template.Labels)
			}
		}
		if len(selector) == 0 {
			t.Errorf("the %s selects everything", what)
		}
	}
	ports := portsOf(t, deployment)
	for what, port := range named {
		if ports[port.StrVal] == 0 {
			t.Errorf("%s names the port %s; the Pod has %v", what, &port, ports)
		}
	}
	get(template.Spec.ServiceAccountName, &corev1.ServiceAccount{})
	requests, limits := container.Resources.Requests, container.Resources.Limits
	if requests.Cpu().IsZero() || requests.Memory().IsZero() || limits.Memory().IsZero() {
		t.Errorf("the resources are %+v", container.Resources)
	}
}

// The Go runtime keeps below the memory limit of the container, whatever it is set to.
func TestMemoryLimitOfTheRuntime(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.apply("--kustomize", "config/manager")
	deployment := c.deployment()
	container := &deployment.Spec.Template.Spec.Containers[0]
	for _, limit := range []string{container.Resources.Limits.Memory().String(), "300M", "512Mi", "1Gi", "1536Mi"} {
		container.Resources.Limits[corev1.ResourceMemory] = resource.MustParse(limit)
		environment := testenv.ContainerEnvironment(container)
		i := slices.IndexFunc(environment, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") })
		if i < 0 {
			t.Fatalf("the environment is %q", environment)
		}
		runtimeLimit, err := strconv.ParseFloat(strings.TrimPrefix(environment[i], "GOMEMLIMIT="), 64)
		c.check(err)
		if ratio := runtimeLimit / container.Resources.Limits.Memory().AsApproximateFloat64(); ratio < 0.9 || ratio > 0.97 {
			t.Errorf("%s: %s, which is %.0f %%", limit, environment[i], 100*ratio)
		}
	}
}

// portsOf are the Pod's ports by name, which are those that its arguments make it listen on.
func portsOf(t *testing.T, deployment *appsv1.Deployment) map[string]int32 {
	t.Helper()
	container := deployment.Spec.Template.Spec.Containers[0]
	ports := map[string]int32{}
	var named, listens []string
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
		named = append(named, ":"+strconv.Itoa(int(port.ContainerPort)))
	}
	for _, argument := range container.Args {
		if match := listenAddress.FindStringSubmatch(argument); match != nil {
			listens = append(listens, match[1])
		}
	}
	slices.Sort(named)
	slices.Sort(listens)
	if diff := cmp.Diff(named, listens); diff != "" || len(named) == 0 {
		t.Errorf("ports of the Pod (-named +listens):\n%s", diff)
	}
	return ports
}
