package plugin_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/internal/sandbox"
)

// deploy creates the Deployment of an operator, which nothing runs.
func (w *world) deploy(version string) {
	w.Helper()
	labels := map[string]string{"app.kubernetes.io/name": "mandate-operator"}
	d := &appsv1.Deployment{ObjectMeta: w.named("mandate-operator")}
	d.Labels = map[string]string{"app.kubernetes.io/name": "mandate-operator"}
	if version != "" {
		d.Labels["app.kubernetes.io/version"] = version
	}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "operator", Image: "ghcr.io/mandate-io/mandate-operator:v1.2.3",
	}}
	w.create(d)
}

// version prints that of the operator, or why it cannot be read.
func TestVersionOfTheOperator(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.contains(w.run("", 0, "version"), "test\nNo Deployment has the label app.kubernetes.io/name=mandate-operator")
	w.deploy("1.2.3")
	w.contains(w.run("", 0, "version"), "test\nmandate-operator 1.2.3 (namespace "+w.namespace+
		", image ghcr.io/mandate-io/mandate-operator:v1.2.3)\n")
	w.contains(w.run("", 0, "version", "-o", "jsonpath={.operators[0].version}"), "1.2.3")
	w.user = "viewer-of-versions"
	w.grant("idv-viewer", false)
	w.contains(w.run("", 0, "version"), "test\nThe version of the operator cannot be read: you may not list Deployments.")
	if out := w.run("", 0, "version", "--client"); out != "test\n" {
		t.Errorf("%q", out)
	}
}
