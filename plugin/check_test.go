package plugin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
)

// schemas waits until the API server shows the schemas of the CRDs, some time after it serves their kinds.
func (w *world) schemas() {
	w.Helper()
	await.Until(w, func() (bool, string) {
		return !strings.Contains(w.run("", 3, "check"), "does not show their schemas yet"), "there are no schemas"
	})
}

// TestCheck goes from a cluster with the CRDs only to one where all works. What needs a person is named until it is
// done, and nothing is written.
func TestCheck(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.schemas()
	out := w.run("", 3, "check")
	w.contains(out, "ok   CRDs", "installed, with the ", "!    admission policies", "Next: apply config/admission",
		"!    operator", "no Deployment has the label", "ok   your permissions")
	w.create(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "record.idv.mandate.io"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "record.idv.mandate.io", ValidationActions: []admissionregistrationv1.ValidationAction{"Deny"},
		},
	})
	w.deploy("1.2.3")
	out = w.run("", 3, "check")
	w.contains(out, "1 bound: record", "!    operator in "+w.namespace, "1.2.3, 0 replicas ready",
		"Next: kubectl describe pods -n "+w.namespace+" -l app.kubernetes.io/name=mandate-operator",
		"?    leader in "+w.namespace)
	w.connect()
	now := metav1.NewMicroTime(time.Now())
	lease := &coordinationv1.Lease{ObjectMeta: w.named("mandate-operator.idv.mandate.io")}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("pod-1"), &metav1.MicroTime{Time: now.Add(-time.Hour)}
	w.check(w.Create(t.Context(), lease))
	w.contains(w.run("", 3, "check"), "!    leader in "+w.namespace, "pod-1, renewed 60m ago",
		"!    IdentityService default", "the operator has not seen it")
	lease.Spec.RenewTime = &now
	w.check(w.Update(t.Context(), lease))
	d := &appsv1.Deployment{}
	w.check(w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "mandate-operator"}, d))
	d.Status.ReadyReplicas, d.Status.Replicas = 2, 2
	w.check(w.Status().Update(t.Context(), d))
	const ready = `{"status": {"conditions": [{"type": "Ready", "status": "STATUS", "reason": "REASON", "message": "m",
	  "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	service := &v1alpha1.IdentityService{ObjectMeta: w.named("default")}
	w.patchStatus(service, strings.NewReplacer("STATUS", "False", "REASON", "CredentialsInvalid").Replace(ready))
	w.contains(w.run("", 3, "check"), "Ready=False, CredentialsInvalid",
		"Next: kubectl mandate explain CredentialsInvalid")
	w.patchStatus(service, strings.NewReplacer("STATUS", "True", "REASON", "Connected").Replace(ready))
	// The version of a test is none of the operator's.
	w.contains(w.run("", 3, "check"), "1.2.3, 2 replicas ready", "Next: install the plugin of this version: yours is test")
	d.Labels["app.kubernetes.io/version"] = ""
	w.check(w.Update(t.Context(), d))
	if out := w.run("", 0, "check"); strings.Contains(out, "!") || strings.Contains(out, "Next:") {
		t.Errorf("something needs a person:\n%s", out)
	}
	w.contains(w.run("", 0, "check", "-o", "jsonpath={.parts[*].result}"), "ok ok ok")
	w.user = "checker"
	w.grant("idv-viewer", false)
	w.contains(w.run("", 0, "check"), "ok   CRDs", "?    admission policies", "?    operator", "you may not read this",
		"you may get mandates, watch mandates; not patch mandates", "?    ClusterIdentityServices",
		"ok   IdentityService default")
}

// Without the CRDs, check says so.
func TestCheckWithoutCRDs(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.changing(func(response *http.Response) error {
		if strings.HasSuffix(response.Request.URL.Path, "/apis/idv.mandate.io/v1alpha1") {
			response.StatusCode = http.StatusNotFound
			return replaceBody(response, metav1.Status{Status: "Failure", Reason: "NotFound", Code: http.StatusNotFound})
		}
		return nil
	})
	w.contains(w.run("", 3, "check"), "CRDs   not installed", "Next: install them")
}

// With CRDs of another version, check says which fields differ.
func TestCheckOfOtherCRDs(t *testing.T) {
	for name, c := range map[string]struct {
		old, changed string
		want         []string
	}{
		"older": {`"createBefore"`, `"x"`, []string{"they lack Mandate.spec.createBefore", "upgrade the CRDs"}},
		"newer": {`"createBefore":`, `"createBefore":{},"createAfter":`, []string{
			"this plugin does not know Mandate.spec.createAfter", "install the plugin of the operator's version",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{})
			w.schemas()
			w.changing(func(response *http.Response) error {
				if !strings.Contains(response.Request.URL.Path, "/openapi/v3") {
					return nil
				}
				return editBody(response, func(body string) string { return strings.ReplaceAll(body, c.old, c.changed) })
			})
			w.contains(w.run("", 3, "check"), c.want...)
		})
	}
}
