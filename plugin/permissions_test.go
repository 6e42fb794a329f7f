package plugin_test

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
)

// grant binds a ClusterRole of config/rbac, or one that can get Secrets, to the user: in the namespace, or everywhere.
func (w *world) grant(name string, everywhere bool) {
	w.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}
	if file, ok := strings.CutPrefix(name, "idv-"); ok {
		w.check(yaml.UnmarshalStrict([]byte(rootFile(w.T, "config/rbac/"+file+"_role.yaml")), role))
	}
	if err := w.Create(w.Context(), role); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: w.namespace + "-" + w.user + "-" + name}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: w.user}}
	scope := w.namespace
	if everywhere {
		meta.Namespace, scope = "", ""
		w.create(&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
	} else {
		w.check(w.Create(w.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}))
	}
	rule := role.Rules[0]
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: w.user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: scope, Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[len(rule.Verbs)-1],
		},
	}}
	await.Until(w, func() (bool, string) {
		asked := review.DeepCopy()
		w.check(w.Create(w.Context(), asked))
		return asked.Status.Allowed, w.user + " has not got " + name
	})
}

// TestPermissions are those of docs/kubectl-plugin.md, for what idv-editor in a namespace is not enough for. TestFlow
// runs the other commands as an idv-editor.
func TestPermissions(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.connect()
	shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	shared.Spec.BaseURL = w.url
	shared.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: w.namespace, Name: "idv"}
	shared.Spec.NamespaceSelector = &metav1.LabelSelector{}
	w.create(shared)
	pair := "username=" + sandbox.DefaultUsername + "\npassword=" + sandbox.DefaultPassword + "\n"
	check := func(input string, want int, arguments ...string) string {
		return w.run(input, want, append([]string{"check-connection", "--yes"}, arguments...)...)
	}
	const role, cluster = "ask for a Role that can get them", "ask for a ClusterRoleBinding of idv-viewer to read it"

	w.user = "viewer"
	w.grant("idv-viewer", false)
	w.contains(w.run("", 1, "refresh", "--identityservice", "default"), "idv-editor to change")
	w.contains(w.run("", 1, "status", "--all-namespaces"), "--all-namespaces needs a ClusterRoleBinding")
	w.contains(check("", 1, "--identityservice", "default"), role)
	check(pair, 0, "--identityservice", "default", "--credentials-file", "-")
	w.grant("secrets", false)
	check("", 0, "--identityservice", "default")
	check("", 0, "--base-url", w.url, "--secret", "idv")

	w.user = "editor"
	w.grant("idv-editor", false)
	w.contains(check("", 1, "--base-url", w.url, "--secret", "idv"), role)
	w.contains(check("", 1, "--clusteridentityservice", w.namespace), cluster)
	w.contains(w.run("", 1, "refresh", "--clusteridentityservice", w.namespace), "of idv-platform to change or refresh it")
	w.grant("idv-viewer", true)
	w.run("", 0, "status", "--all-namespaces")
	w.contains(check("", 1, "--clusteridentityservice", w.namespace), role)
	w.contains(w.run("", 1, "refresh", "--clusteridentityservice", w.namespace), "of idv-platform to change or refresh it")
	w.grant("secrets", false)
	check("", 0, "--clusteridentityservice", w.namespace)

	w.user = "platform"
	w.grant("idv-platform", true) // no operator answers
	w.run("", 4, "refresh", "--clusteridentityservice", w.namespace, "--timeout=3s")
}
