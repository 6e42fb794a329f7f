package operator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const shared = "serviceRef: {kind: ClusterIdentityService, name: shared}"

// share applies a ClusterIdentityService, with its Secret in a namespace of its own. All operators see it, so
// that the tests that have one run one after the other, and it is gone when they end.
func (w *world) share(name, selector string) {
	w.Helper()
	platform := *w
	platform.namespace = env.Namespace(w.T)
	platform.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
	w.apply(fmt.Sprintf(`
kind: ClusterIdentityService
metadata: {name: %s}
spec:
  baseURL: %s
  credentialsSecretRef: {namespace: %s, name: idv}
  requestsPerSecond: 100
  polling: {minIntervalSeconds: 1, maxIntervalSeconds: 2}
  %s
`, name, w.url, platform.namespace, selector))
	w.Cleanup(func() {
		ctx, s := context.WithoutCancel(w.Context()), sharedService(name)
		w.check(client.IgnoreNotFound(w.Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
		w.check(client.IgnoreNotFound(w.Delete(ctx, s)))
	})
}

func sharedService(name string) *v1alpha1.ClusterIdentityService {
	return &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// neighbour is the same world in another namespace.
func (w *world) neighbour() *world {
	w.Helper()
	other := *w
	other.namespace = env.Namespace(w.T)
	return &other
}

// label labels the namespace, or takes the label away.
func (w *world) label(team string) {
	w.Helper()
	w.kubectl("label", "namespace", w.namespace, "--overwrite", "team"+team)
}

// unsharedIsStill makes sure that nothing is asked of the service any more: two polls would have come in this time.
func (w *world) unsharedIsStill(do func()) {
	w.Helper()
	before := w.requests(control.RetrieveApplication)
	do()
	if got := w.requests(control.RetrieveApplication); got > before+1 { // one may have been under way
		w.Errorf("%d applications were read", got-before)
	}
}

// One connection serves the namespaces that it selects, and no other.
func TestClusterService(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	other := w.neighbour()
	w.share("shared", "namespaceSelector: {matchLabels: {team: onboarding}}")
	w.label("=onboarding")
	other.label("=sales")
	w.start("--watch-namespaces=" + w.namespace + "," + other.namespace)

	w.mandate("acme", "{"+shared+"}")
	other.mandate("acme", "{"+shared+"}")
	if m := w.ready("acme"); m.Status.Reference != w.namespace+".acme" {
		t.Errorf("the reference is %s", m.Status.Reference)
	}
	other.stalled("acme", v1alpha1.ReasonServiceNotAllowed)
	w.emails(1)
	w.neighbour().label("=onboarding") // none of this operator's
	other.label("=onboarding")
	if m := other.ready("acme"); m.Status.Reference != other.namespace+".acme" {
		t.Errorf("the reference is %s", m.Status.Reference)
	}
	w.emails(2)

	// The ledger is one of a namespace; across them the service is what refuses to create twice.
	w.mandate("first", "{reference: same, "+shared+"}")
	id := *w.ready("first").Status.ApplicationID
	other.mandate("second", "{reference: same, "+shared+"}")
	other.stalled("second", v1alpha1.ReasonReferenceConflict)
	other.mandate("third", fmt.Sprintf("{reference: same, adopt: {applicationID: %d}, %s}", id, shared))
	other.stalled("third", v1alpha1.ReasonAdoptionRefused)
	w.emails(3)

	// The kind is edited as long as there is no application.
	w.mandate("edited", "{serviceRef: {name: shared}}")
	w.condition("edited", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServiceNotFound)
	w.mandate("edited", "{"+shared+"}")
	w.ready("edited")
	w.emails(4)

	w.order("again", "{mandateRef: {name: acme}, type: ResendInvite, individual: jane}")
	w.completes("again")
	w.emails(5)
	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	if strings.Contains(string(log), "Failed to list the Mandates of a namespace") {
		t.Error("the operator logs an error about a namespace that it does not watch")
	}
}

// A namespace that is not selected any more: nothing is created, read or decided, and nothing is lost.
func TestClusterServiceWithdrawn(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.share("shared", "namespaceSelector: {matchLabels: {team: onboarding}}")
	w.label("=onboarding")
	w.start()
	w.mandate("acme", "{"+shared+"}")
	w.mandate("globex", "{deletionPolicy: Delete, "+shared+"}")
	id := *w.ready("acme").Status.ApplicationID
	w.ready("globex")

	w.label("-")
	w.stalled("acme", v1alpha1.ReasonServiceNotAllowed)
	w.stalled("globex", v1alpha1.ReasonServiceNotAllowed)
	w.unsharedIsStill(func() {
		w.mandate("initech", "{"+shared+"}")
		w.stalled("initech", v1alpha1.ReasonServiceNotAllowed)
		w.order("again", "{mandateRef: {name: acme}, type: ResendInvite, individual: jane}")
		w.waits("again", v1alpha1.ReasonServiceNotAllowed)
		w.deletes("globex")
		w.condition("globex", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeletionWaiting)
		w.mandate("retained", "{"+shared+"}")
		w.kubectl("delete", "mandate", "retained", "--timeout=20s")
	})
	w.emails(2)

	w.label("=onboarding")
	if m := w.ready("acme"); *m.Status.ApplicationID != id {
		t.Errorf("the application is %d now, and was %d", *m.Status.ApplicationID, id)
	}
	w.gone("globex")
	w.ready("initech")
	w.completes("again")
	w.emails(4)
}

// A selector that cannot be read is said at the ClusterIdentityService, and one that is not there selects nothing.
func TestClusterServiceSelectors(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.start()
	for _, c := range []struct{ name, selector, service, mandate string }{
		{"none", "", v1alpha1.ReasonConnected, v1alpha1.ReasonServiceNotAllowed},
		{"wrong", "namespaceSelector: {matchExpressions: [{key: team, operator: Is, values: [onboarding]}]}", v1alpha1.ReasonNamespaceSelectorInvalid, v1alpha1.ReasonServiceNotAllowed},
		{"all", "namespaceSelector: {}", v1alpha1.ReasonConnected, v1alpha1.ReasonAccepted},
	} {
		w.share("shared", c.selector)
		s := sharedService("shared")
		w.untilService(s, c.service, func(client.Object) bool {
			ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
			return ready != nil && ready.Reason == c.service && ready.ObservedGeneration == s.Generation
		})
		w.mandate(c.name, "{"+shared+"}")
		w.condition(c.name, v1alpha1.ConditionReady, map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}[c.mandate == v1alpha1.ReasonAccepted], c.mandate)
	}
}

// The operator that sees all namespaces keeps a ClusterIdentityService for the Mandates of all of them.
func TestClusterServiceInUse(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	other := w.neighbour()
	w.share("kept", "namespaceSelector: {}")
	w.start("--watch-namespaces=")
	w.mandate("acme", "{serviceRef: {kind: ClusterIdentityService, name: kept}}")
	other.mandate("acme", "{serviceRef: {kind: ClusterIdentityService, name: kept}}")
	w.ready("acme")
	other.ready("acme")
	s := sharedService("kept")
	w.untilService(s, "protected", protected)
	w.kubectl("delete", "clusteridentityservice", "kept", "--wait=false")
	w.untilService(s, "in use", func(client.Object) bool {
		return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionInUse)
	})
	w.kubectl("delete", "mandate", "acme")
	other.kubectl("delete", "mandate", "acme")
	w.untilService(s, "gone", absent)
}

// runAs has the operator run as a user with the rights of config/rbac in the namespace of this world only.
func (w *world) runAs(user string) {
	w.Helper()
	w.check(w.Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mandate-operator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}))
	config, err := clientcmd.LoadFromFile(w.kubeconfig)
	w.check(err)
	for _, info := range config.AuthInfos {
		info.Impersonate = user
	}
	w.operatorConfig = filepath.Join(w.TempDir(), "kubeconfig")
	w.check(clientcmd.WriteToFile(*config, w.operatorConfig))
}

// An operator with rights in its namespace only serves IdentityServices, and says so where it is asked for more.
func TestNamespacedOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.runAs("namespaced-operator")
	w.connect()
	w.start()
	w.mandate("acme", "{}")
	w.mandate("globex", "{"+shared+"}")
	w.ready("acme")
	w.stalled("globex", v1alpha1.ReasonServiceNotAllowed)
	w.emails(1)
}

// An operator that may read ClusterIdentityServices, and Secrets of its namespace only, says that it is not let at the others.
func TestSecretForbidden(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	const user = "operator-without-secrets"
	w.runAs(user)
	read := []string{"get", "list", "watch"}
	w.check(w.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: read},
			{APIGroups: []string{v1alpha1.SchemeGroupVersion.Group}, Resources: []string{"clusteridentityservices"}, Verbs: read},
			{APIGroups: []string{v1alpha1.SchemeGroupVersion.Group}, Resources: []string{"clusteridentityservices/status"}, Verbs: []string{"patch"}},
		},
	}))
	w.check(w.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}))
	w.share("shared", "namespaceSelector: {}")
	w.start()
	s := sharedService("shared")
	w.untilService(s, v1alpha1.ReasonSecretForbidden, func(client.Object) bool {
		ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == v1alpha1.ReasonSecretForbidden
	})
}
