package operator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// seldomUsed are permissions that no request of the operator in the tests may need, each with the reason to keep it.
var seldomUsed = map[testenv.Permission]string{
	"patch events.events.k8s.io": "it repeats an event for the same version of an object only after a failed write",

	"record applicationrecords.idv.mandate.io": "config/admission requires it, and no request has this verb",
}

// comparePermissions compares the operator's permissions with its requests in all tests. Every operator in the tests
// runs with the permissions of config/rbac and config/reports only, and with the policies of config/admission and
// config/reports in force.
func comparePermissions() (problems []string, err error) {
	granted, err := grantedPermissions(context.Background())
	if err != nil {
		return nil, err
	}
	used, refused, err := env.UsedPermissions(testenv.OperatorUser)
	if err != nil {
		return nil, err
	}
	for _, right := range granted {
		if _, seldom := seldomUsed[right]; !seldom && !slices.Contains(used, right) {
			problems = append(problems, fmt.Sprintf("config: the operator may %s, and no test makes it do so: "+
				"remove the permission, or test what needs it", right))
		}
	}
	for _, right := range refused {
		problems = append(problems, fmt.Sprintf("config: the operator tried to %s and was refused", right))
	}
	return problems, nil
}

// grantedPermissions are those of all ClusterRoles that the operator's ServiceAccount is bound to in the whole cluster.
func grantedPermissions(ctx context.Context) ([]testenv.Permission, error) {
	c, err := client.New(env.Config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, err
	}
	bindings := &rbacv1.ClusterRoleBindingList{}
	if err := c.List(ctx, bindings); err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule
	for _, binding := range bindings.Items {
		if !slices.ContainsFunc(binding.Subjects, isOperator) {
			continue
		}
		role := &rbacv1.ClusterRole{}
		if err := c.Get(ctx, client.ObjectKey{Name: binding.RoleRef.Name}, role); err != nil {
			return nil, err
		}
		rules = append(rules, role.Rules...)
	}
	return testenv.Permissions(rules), nil
}

func isOperator(subject rbacv1.Subject) bool {
	return subject.Kind == rbacv1.ServiceAccountKind &&
		"system:serviceaccount:"+subject.Namespace+":"+subject.Name == testenv.OperatorUser
}

// Some versions of the API server have no streaming lists. Without them, the operator lists before it watches.
func TestListedBeforeWatched(t *testing.T) {
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
}

// A reference under which nothing was created is free for another Mandate. Each has a record of its own.
func TestReferenceFreeAgain(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	w.stalled("first", v1alpha1.ReasonRefused)
	w.kubectl("delete", "mandate", "first")
	w.mandate("second", "{reference: shared}")
	w.ready("second")
	w.emails(1)
	for _, record := range w.records() {
		if found := record.Spec.ApplicationID != nil; found != (record.Name == "second") {
			t.Errorf("the record %s has an application: %t", record.Name, found)
		}
	}
}
