package testenv

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPermissions(t *testing.T) {
	got := Permissions([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
		{APIGroups: []string{"a", "b"}, Resources: []string{"x", "y/status"}, Verbs: []string{"patch", "get"}},
		{APIGroups: []string{"a"}, Resources: []string{"x"}, Verbs: []string{"get"}},
		{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
	})
	want := []Permission{
		"get secrets", "get x.a", "get x.b", "get y.a/status", "get y.b/status",
		"patch x.a", "patch x.b", "patch y.a/status", "patch y.b/status",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
}

// The audit log distinguishes allowed from refused requests.
func TestUsedPermissions(t *testing.T) {
	e := newControlPlane(t)
	if err := e.GrantOperatorRole(t.Context()); err != nil {
		t.Fatal(err)
	}
	kubeconfig := t.TempDir() + "/kubeconfig"
	if err := e.WriteOperatorKubeconfig(t.Context(), kubeconfig); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "none"}}
	if err := operator.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsNotFound(err) {
		t.Fatalf("error = %v, want one that says that the Secret is not found", err)
	}
	if err := operator.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Fatalf("error = %v, want one that forbids it", err)
	}
	allowed, refused, err := e.UsedPermissions(OperatorUser)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Permission{"get secrets"}, allowed); diff != "" {
		t.Errorf("allowed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Permission{"list secrets"}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// The audit log has the reasons of what was written, and not of what the API server rejected.
func TestWrittenReasons(t *testing.T) {
	e := newControlPlane(t)
	if err := e.InstallCRDs(); err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(e.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "idv.mandate.io/v1alpha1", "kind": "IdentityService",
		"metadata": map[string]any{"namespace": "default", "name": "default"},
		"spec": map[string]any{
			"baseURL":              "https://idv.example.com",
			"credentialsSecretRef": map[string]any{"name": "credentials"},
		},
	}}
	if err = admin.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	const patch = `{"status": {"conditions": [{"type": "Ready", "status": %q, "reason": %q, "message": "",
		"lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	for status, reason := range map[string]string{"True": "Written", "invalid": "Rejected"} {
		data := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, patch, status, reason))
		err = admin.Status().Patch(t.Context(), service.DeepCopy(), data)
		if apierrors.IsInvalid(err) != (status == "invalid") {
			t.Fatalf("status %q: %v", status, err)
		}
	}
	written, err := e.WrittenReasons()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[Reason]bool{{"identityservices", "Written"}: true}, written); diff != "" {
		t.Errorf("written reasons (-want +got):\n%s", diff)
	}
}
