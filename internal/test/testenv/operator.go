package testenv

import (
	"context"
	"errors"
	"net"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// GrantLeaderElection lets OperatorUser elect a leader in a namespace. It returns the flags of an operator that does.
func (e *Environment) GrantLeaderElection(ctx context.Context, namespace string) ([]string, error) {
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return nil, err
	}
	name := metav1.ObjectMeta{Namespace: namespace, Name: "leader"}
	leases := rbacv1.PolicyRule{
		APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"},
		Verbs: []string{"create", "get", "update"},
	}
	events := rbacv1.PolicyRule{
		APIGroups: []string{corev1.GroupName}, Resources: []string{"events"}, Verbs: []string{"create"},
	}
	err = errors.Join(
		c.Create(ctx, &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{leases, events}}),
		c.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: name,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: OperatorUser}},
		}),
	)
	return []string{"--leader-elect", "--leader-election-namespace=" + namespace}, err
}

// FreeAddress returns an unused loopback address.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
