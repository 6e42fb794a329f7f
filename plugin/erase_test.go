package plugin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// A Mandate with an outcome is erased after a confirmation, with the copy of its manifest. The command says what is
// left.
func TestErase(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	m := w.get("acme")
	m.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: email}
	m.Spec.Individuals[0].DetailsSecretRef = &v1alpha1.SecretReference{Name: "jane-details"}
	w.check(w.Update(w.Context(), m))
	w.contains(w.run("", 3, "erase", "acme", "--yes"), "has no outcome yet")
	w.patchStatus(w.get("acme"), `{"status":{"applicationID":4711,"outcome":"Rejected"}}`)
	w.contains(w.run("", 5, "erase", "acme"), "without a terminal it cannot ask")
	if !w.get("acme").Spec.Individuals[0].HasInline() {
		t.Error("erased without a confirmation")
	}
	w.contains(w.run("", 0, "erase", "acme", "--yes"), "Erased inline personal data of the Mandate acme.",
		"the Secret jane-details", "backups", "audit logs", "keyed digests")
	m = w.get("acme")
	one, copied := m.Spec.Individuals[0], m.Annotations[corev1.LastAppliedConfigAnnotation]
	if one.HasInline() || !one.Erased || copied != "" {
		t.Errorf("the Mandate has %+v, annotations %v", one, m.Annotations)
	}
	w.run("", 0, "erase", "acme", "--yes")

	direct := w.Client
	w.Client = client.WithFieldOwner(direct, "kustomize-controller")
	w.mandate("flux")
	w.Client = direct
	w.patchStatus(w.get("flux"), `{"status":{"applicationID":4712,"outcome":"Rejected"}}`)
	w.contains(w.run("", 3, "erase", "flux", "--yes"), "Flux applies this object", "Replace inline fields")
}
