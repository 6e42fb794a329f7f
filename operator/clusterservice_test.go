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
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const sharedServiceRef = "serviceRef: {kind: ClusterIdentityService, name: shared}"

// newClusterService applies a ClusterIdentityService, with its Secret in a namespace of its own. All operators see it:
// the tests that use one are not parallel, and delete it at their end.
func (w *world) newClusterService(name, selector string) {
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
		ctx, s := context.WithoutCancel(w.Context()), clusterService(name)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		w.check(client.IgnoreNotFound(w.Patch(ctx, s, patch)))
		w.check(client.IgnoreNotFound(w.Delete(ctx, s)))
	})
}

func clusterService(name string) *v1alpha1.ClusterIdentityService {
	return &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// inNewNamespace is the same world in another namespace.
func (w *world) inNewNamespace() *world {
	w.Helper()
	other := *w
	other.namespace = env.Namespace(w.T)
	return &other
}

// label sets or removes the label team of the namespace.
func (w *world) label(team string) {
	w.Helper()
	w.kubectl("label", "namespace", w.namespace, "--overwrite", "team"+team)
}

// checkNoReads checks that the operator does not poll the service during do, which takes longer than two polls.
func (w *world) checkNoReads(do func()) {
	w.Helper()
	before := w.requests(control.RetrieveApplication)
	do()
	if got := w.requests(control.RetrieveApplication); got > before+1 { // one may have been in progress
		w.Errorf("%d applications were read", got-before)
	}
}

// A ClusterIdentityService serves the namespaces that it selects, and no others.
func TestClusterService(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	other := w.inNewNamespace()
	w.newClusterService("shared", "referencePolicy: Any\n  namespaceSelector: {matchLabels: {team: onboarding}}")
	w.label("=onboarding")
	other.label("=sales")
	w.start("--watch-namespaces=" + w.namespace + "," + other.namespace)

	w.mandate("acme", "{"+sharedServiceRef+"}")
	other.mandate("acme", "{"+sharedServiceRef+"}")
	if m := w.ready("acme"); m.Status.Reference != w.namespace+".acme" {
		t.Errorf("the reference is %s", m.Status.Reference)
	}
	other.stalled("acme", v1alpha1.ReasonIdentityServiceNotAllowed)
	w.emails(1)
	w.inNewNamespace().label("=onboarding") // the operator does not watch this one
	other.label("=onboarding")
	if m := other.ready("acme"); m.Status.Reference != other.namespace+".acme" {
		t.Errorf("the reference is %s", m.Status.Reference)
	}
	w.emails(2)

	// Each namespace has a ledger of its own. Across namespaces, the service rejects a reference that exists.
	w.mandate("first", "{reference: same, "+sharedServiceRef+"}")
	id := *w.ready("first").Status.ApplicationID
	other.mandate("second", "{reference: same, "+sharedServiceRef+"}")
	other.stalled("second", v1alpha1.ReasonReferenceConflict)
	other.mandate("third", fmt.Sprintf("{reference: same, adopt: {applicationID: %d}, %s}", id, sharedServiceRef))
	other.stalled("third", v1alpha1.ReasonAdoptionRefused)
	w.emails(3)

	// The kind may change as long as there is no application.
	w.mandate("edited", "{serviceRef: {name: shared}}")
	w.condition("edited", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotFound)
	w.mandate("edited", "{"+sharedServiceRef+"}")
	w.ready("edited")
	w.emails(4)

	w.action("again", "{mandateRef: {name: acme}, type: ResendInvite, individual: jane}")
	w.actionCompletes("again")
	w.emails(5)
	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	if strings.Contains(string(log), "Failed to list the Mandates of a namespace") {
		t.Error("the operator logs an error about a namespace that it does not watch")
	}
}

// In a namespace that is no longer selected, nothing is created, read or decided, and nothing is lost.
func TestClusterServiceWithdrawn(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.newClusterService("shared", "namespaceSelector: {matchLabels: {team: onboarding}}")
	w.label("=onboarding")
	w.start()
	w.mandate("acme", "{"+sharedServiceRef+"}")
	w.mandate("globex", "{deletionPolicy: Delete, "+sharedServiceRef+"}")
	id := *w.ready("acme").Status.ApplicationID
	w.ready("globex")

	w.label("-")
	w.stalled("acme", v1alpha1.ReasonIdentityServiceNotAllowed)
	w.stalled("globex", v1alpha1.ReasonIdentityServiceNotAllowed)
	w.checkNoReads(func() {
		w.mandate("initech", "{"+sharedServiceRef+"}")
		w.stalled("initech", v1alpha1.ReasonIdentityServiceNotAllowed)
		w.action("again", "{mandateRef: {name: acme}, type: ResendInvite, individual: jane}")
		w.actionWaits("again", v1alpha1.ReasonIdentityServiceNotAllowed)
		w.deleteMandate("globex")
		w.condition("globex", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeletionWaiting)
		w.mandate("retained", "{"+sharedServiceRef+"}")
		w.kubectl("delete", "mandate", "retained", await.Timeout(t))
	})
	w.emails(2)

	w.label("=onboarding")
	if m := w.ready("acme"); *m.Status.ApplicationID != id {
		t.Errorf("the application is %d, want %d", *m.Status.ApplicationID, id)
	}
	w.waitGone("globex")
	w.ready("initech")
	w.actionCompletes("again")
	w.emails(4)
}

// The ClusterIdentityService reports an invalid selector. Without a selector, it selects nothing.
func TestClusterServiceSelectors(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.start()
	for _, c := range []struct{ name, selector, service, mandate string }{
		{"none", "", v1alpha1.ReasonConnected, v1alpha1.ReasonIdentityServiceNotAllowed},
		{
			"wrong", "namespaceSelector: {matchExpressions: [{key: team, operator: Is, values: [onboarding]}]}",
			v1alpha1.ReasonNamespaceSelectorInvalid, v1alpha1.ReasonIdentityServiceNotAllowed,
		},
		{"all", "namespaceSelector: {}", v1alpha1.ReasonConnected, v1alpha1.ReasonAccepted},
	} {
		w.newClusterService("shared", c.selector)
		s := clusterService("shared")
		w.untilService(s, c.service, func(client.Object) bool {
			ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
			return ready != nil && ready.Reason == c.service && ready.ObservedGeneration == s.Generation
		})
		stalled := meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionStalled)
		if wrong := c.service == v1alpha1.ReasonNamespaceSelectorInvalid; stalled != wrong {
			t.Errorf("%s: Stalled is %t: %+v", c.name, stalled, s.Status.Conditions)
		}
		w.mandate(c.name, "{"+sharedServiceRef+"}")
		status := metav1.ConditionFalse
		if c.mandate == v1alpha1.ReasonAccepted {
			status = metav1.ConditionTrue
		}
		w.condition(c.name, v1alpha1.ConditionReady, status, c.mandate)
	}
}

// An operator that watches all namespaces keeps a ClusterIdentityService for the Mandates of all of them.
func TestClusterServiceInUse(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	other := w.inNewNamespace()
	w.newClusterService("kept", "namespaceSelector: {}")
	w.start("--watch-namespaces=")
	w.mandate("acme", "{serviceRef: {kind: ClusterIdentityService, name: kept}}")
	other.mandate("acme", "{serviceRef: {kind: ClusterIdentityService, name: kept}}")
	w.ready("acme")
	other.ready("acme")
	s := clusterService("kept")
	w.untilService(s, "protected", protected)
	w.kubectl("delete", "clusteridentityservice", "kept", "--wait=false")
	w.untilService(s, "in use", func(client.Object) bool {
		return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionInUse)
	})
	w.kubectl("delete", "mandate", "acme")
	other.kubectl("delete", "mandate", "acme")
	w.untilService(s, "gone", absent)
}

// runAs makes the operator run as a user with the permissions of config/rbac in this namespace only, and with the verb
// record, which the policy of config/admission requires in the whole cluster.
func (w *world) runAs(user string) {
	w.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}}
	w.check(w.Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mandate-operator"},
		Subjects:   subjects,
	}))
	w.check(w.Create(w.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "mandate-operator-record"},
		Subjects:   subjects,
	}))
	config, err := clientcmd.LoadFromFile(w.kubeconfig)
	w.check(err)
	for _, info := range config.AuthInfos {
		info.Impersonate = user
	}
	w.operatorConfig = filepath.Join(w.TempDir(), "kubeconfig")
	w.check(clientcmd.WriteToFile(*config, w.operatorConfig))
}

// An operator with permissions in its namespace only serves IdentityServices, and reports ClusterIdentityServices as
// not allowed.
func TestNamespacedOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.runAs("namespaced-operator")
	w.connect()
	w.start()
	w.mandate("acme", "{}")
	w.mandate("globex", "{"+sharedServiceRef+"}")
	w.ready("acme")
	w.stalled("globex", v1alpha1.ReasonIdentityServiceNotAllowed)
	w.emails(1)
}

// An operator that may read Secrets of its namespace only reports a ClusterIdentityService whose Secrets are forbidden.
func TestSecretForbidden(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	const user = "operator-without-secrets"
	w.runAs(user)
	read := []string{"get", "list", "watch"}
	w.check(w.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: read},
			{
				APIGroups: []string{v1alpha1.SchemeGroupVersion.Group},
				Resources: []string{"clusteridentityservices"},
				Verbs:     read,
			},
			{
				APIGroups: []string{v1alpha1.SchemeGroupVersion.Group},
				Resources: []string{"clusteridentityservices/status"},
				Verbs:     []string{"patch"},
			},
		},
	}))
	w.check(w.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}))
	w.newClusterService("shared", `namespaceSelector: {}
  notifications: {secretRef: {namespace: default, name: tokens}}`)
	w.start("--notification-bind-address=" + testenv.FreeAddress(t))
	s := clusterService("shared")
	for condition, reason := range map[string]string{
		v1alpha1.ConditionReady:                    v1alpha1.ReasonSecretForbidden,
		v1alpha1.ConditionNotificationsUnavailable: v1alpha1.ReasonNotificationSecretForbidden,
	} {
		w.untilService(s, reason, func(client.Object) bool {
			found := meta.FindStatusCondition(s.Status.Conditions, condition)
			return found != nil && found.Reason == reason
		})
	}
}
