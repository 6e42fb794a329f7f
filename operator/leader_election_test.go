package operator_test

import (
	"context"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/testenv"
)

// allowElection lets operators use Leases in the namespace, and returns the flags for leader election.
func (w *world) allowElection() []string {
	w.Helper()
	name := metav1.ObjectMeta{Namespace: w.namespace, Name: "leader"}
	w.check(w.Create(w.Context(), &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{
			APIGroups: []string{coordinationv1.GroupName},
			Resources: []string{"leases"},
			Verbs:     []string{"create", "get", "update"},
		},
		{APIGroups: []string{corev1.GroupName}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}}))
	w.check(w.Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: testenv.OperatorUser}},
	}))
	return []string{"--leader-elect", "--leader-election-namespace=" + w.namespace}
}

// Only the leader counts Mandates. Otherwise, a sum over replicas would count each one several times.
func TestReplicasCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	election := w.allowElection()
	first, second := w.freeAddress(), w.freeAddress()
	counted := `idv_mandates{outcome="",ready="True",reason="Accepted"} 1` + "\n"
	w.connect()
	w.start(append(election, "--metrics-bind-address="+first)...)
	w.mandate("acme", "{}")
	w.ready("acme")
	leader := w.operator
	w.start(append(election, "--metrics-bind-address="+second)...)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	w.check(w.operator.WaitForURL(ctx, "http://"+second+"/metrics"))
	if text := w.scrape(first); !strings.Contains(text, counted) {
		t.Errorf("the leader does not count the Mandate:\n%s", text)
	}
	if text := w.scrape(second); strings.Contains(text, "\nidv_mandates{") {
		t.Errorf("a replica that is not the leader counts Mandates:\n%s", text)
	}
	w.check(leader.Stop())
	w.eventually(func() (bool, string) {
		return strings.Contains(w.scrape(second), counted), "the next leader does not count the Mandate"
	})
}

// Two operators in one namespace that watch different namespaces do not wait for each other.
func TestTwoOperatorsInOneNamespace(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
	election := w.allowElection()
	for _, world := range []*world{w, other} {
		world.connect()
		world.mandate("acme", "{}")
	}
	w.start(election...)
	w.ready("acme")
	other.start(append(election, "--leader-election-id=other")...)
	other.ready("acme")
}
