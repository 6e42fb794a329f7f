package plugin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// sharedYAML is the manifest of a ClusterIdentityService for all namespaces, as kustomize's namespace makes it.
func sharedYAML(name, spec string) string {
	return fmt.Sprintf(`---
apiVersion: idv.mandate.io/v1alpha1
kind: ClusterIdentityService
metadata: {name: %s, namespace: platform}
spec: {baseURL: "https://idv.example.com", credentialsSecretRef: {namespace: system, name: idv}%s}
`, name, spec)
}

// TestPlanOfWhatWaits plans changes that do not have the Mandates that they release.
func TestPlanOfWhatWaits(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	shared.Spec.BaseURL = "https://idv.example.com"
	shared.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: "system", Name: "idv"}
	shared.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": w.namespace}}
	w.create(shared)
	acme := &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
	acme.Spec.MandateType.Code = "kyc"
	acme.Spec.ServiceRef = v1alpha1.IdentityServiceReference{Kind: "ClusterIdentityService", Name: w.namespace}
	acme.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: email}}
	w.check(w.Create(w.Context(), acme))
	open := sharedYAML(w.namespace, ", namespaceSelector: {}")
	label := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {team: %s}}\n", w.namespace,
		w.namespace)

	w.contains(w.run(open, 2, "plan", "-f", "-"), "create", w.namespace+"/acme", "1 e-mail. ")
	w.contains(w.run(open, 2, "plan", "-f", "-", "--prune"), "create", w.namespace+"/acme", "1 e-mail. ")
	w.contains(w.run(label, 2, "plan", "-f", "-"), "create", w.namespace+"/acme", "1 e-mail. ")
	w.contains(w.run(mandateYAML("new", ""), 0, "plan", "-f", "-"), "IdentityServiceNotFound")
	added := strings.ReplaceAll(open, "name: "+w.namespace, "name: new-"+w.namespace) +
		mandateYAML("new", ", serviceRef: {kind: ClusterIdentityService, name: new-"+w.namespace+"}")
	w.contains(w.run(added, 2, "plan", "-f", "-"), "create", "1 e-mail. ")
	credentials := "apiVersion: v1\nkind: Secret\ntype: idv.mandate.io/credentials\n" +
		"metadata: {namespace: system, name: idv}\n"
	shared.Spec.NamespaceSelector = &metav1.LabelSelector{}
	w.check(w.Update(w.Context(), shared))
	w.contains(w.run(credentials, 2, "plan", "-f", "-"), "create", w.namespace+"/acme")
	w.user = "viewer"
	w.grant("idv-viewer", false)
	w.contains(w.run(open, 2, "plan", "-f", "-"), "Mandates that you may not read", "What would be sent is not known.")
	w.contains(w.run(label, 2, "plan", "-f", "-"), "create", "1 e-mail. ")
	details := "apiVersion: v1\nkind: Secret\ntype: idv.mandate.io/individual\nmetadata: {namespace: other, name: x}\n"
	w.contains(w.run(details, 2, "plan", "-f", "-"), "Namespace", "other", "Mandates that you may not read")
	unrelated := strings.ReplaceAll(details, "idv.mandate.io/individual", "Opaque")
	w.contains(w.run(unrelated, 0, "plan", "-f", "-"), "Nothing would be sent.")
}

// TestPlanOfLists plans what lists and generated names stand for.
func TestPlanOfLists(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.mandate("acme")
	const action = `---
apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata: {generateName: resend-}
spec: {mandateRef: {name: acme}, type: ResendInvite, individual: jane}
`
	w.contains(w.run(action+action+mandateYAML("acme", ""), 2, "plan", "-f", "-"), "create 1, resend 2", "3 e-mails")
	generated := strings.ReplaceAll(mandateYAML("new", ""), "{name: new}", "{generateName: new-}")
	listed := "apiVersion: idv.mandate.io/v1alpha1\nkind: MandateList\nitems:\n- metadata: {name: globex}\n" +
		"  spec: {mandateType: {code: kyc}, individuals: [{name: jane, email: jane@globex.example.com}]}\n"
	w.contains(w.run(generated+generated+"---\n"+listed, 2, "plan", "-f", "-"), "create 4", "4 e-mails", "globex")
}

// TestPlanOfDryRun plans what kubectl apply, which the API server does not merge, makes of a manifest.
func TestPlanOfDryRun(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.connect()
	acme := &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
	acme.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"suspend":true}}`}
	acme.Spec.MandateType.Code, acme.Spec.Suspend = "kyc", true
	acme.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: email}}
	w.check(w.Create(w.Context(), acme, client.FieldOwner("kubectl-client-side-apply")))
	resumed := mandateYAML("acme", "")
	w.contains(w.run(resumed, 2, "plan", "-f", "-"), "create", "1 e-mail. ")
	w.contains(w.run(resumed, 2, "plan", "-f", "-", "--dry-run=server"), "create", "1 e-mail. ")
	w.contains(w.run(mandateYAML("acme", ", adopt: {applicationID: 0}"), 0, "plan", "-f", "-", "--dry-run=server"),
		"refuse", "spec.adopt.applicationID")
	wrong := w.run(mandateYAML("new", ", adopt: [private]"), 0, "plan", "-f", "-", "--dry-run=server")
	w.contains(wrong, "refuse")
	if strings.Contains(wrong, "private") {
		t.Errorf("the plan has a value:\n%s", wrong)
	}
	for _, name := range []string{"new", "acme"} {
		unknown := w.run(mandateYAML(name, ", private@example.com: x"), 0, "plan", "-f", "-", "--dry-run=server")
		w.contains(unknown, "refuse", "A field whose name a plan does not show does not exist.")
		if strings.Contains(unknown, "private") {
			t.Errorf("the plan has a key that is no name of a field:\n%s", unknown)
		}
	}
}

// TestPlanOfNewNamespace plans with a dry run for a namespace that the change makes: the API server finds none yet.
func TestPlanOfNewNamespace(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	added := "new-" + w.namespace
	within := func(manifest string) string {
		return strings.ReplaceAll(manifest, "metadata: {", "metadata: {namespace: "+added+", ")
	}
	objects := within(mandateYAML("acme", "")+mandateYAML("late", ", adopt: {applicationID: 0}")) + within(`---
apiVersion: idv.mandate.io/v1alpha1
kind: IdentityService
metadata: {name: default}
spec: {baseURL: "https://idv.example.com", credentialsSecretRef: {name: idv}}
`)
	namespace := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + added + "}\n"
	w.contains(w.run(objects+namespace, 2, "plan", "-f", "-", "--dry-run=server"), "create", "1 e-mail. ", "refuse",
		"spec.adopt.applicationID")
	w.contains(w.run(objects, 0, "plan", "-f", "-", "--dry-run=server"), "refuse", "404 NotFound")
}

// TestPlanOfBrokenKustomization quotes nothing of a patch.
func TestPlanOfBrokenKustomization(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	dir := t.TempDir()
	w.check(os.WriteFile(filepath.Join(dir, "acme.yaml"), []byte(mandateYAML("acme", "")), 0o600))
	w.check(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(`resources: [acme.yaml]
patches:
- patch: |
    apiVersion: idv.mandate.io/v1alpha1
    kind: Mandate
    metadata: {name: acme}
    spec: {individuals: [{name: jane, email: private@example.com]}
`), 0o600))
	said := w.run("", 1, "plan", "-k", dir)
	w.contains(said, dir, "kubectl kustomize")
	if strings.Contains(said, "private") {
		t.Errorf("the error quotes the patch: %s", said)
	}
}
