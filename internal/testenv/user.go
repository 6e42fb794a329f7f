package testenv

import (
	"context"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// OperatorUser is the user with the permissions of the operator in config/rbac.
const OperatorUser = "mandate-operator"

// GrantOperatorRole installs the ClusterRole of config/rbac and binds OperatorUser to it.
func (e *Environment) GrantOperatorRole(ctx context.Context) error {
	manifest, err := os.ReadFile(filepath.Join(e.Root, "config", "rbac", "role.yaml"))
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(manifest, role); err != nil {
		return err
	}
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return err
	}
	if err := c.Create(ctx, role); err != nil {
		return err
	}
	return c.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: OperatorUser}},
	})
}

// WriteOperatorKubeconfig writes a kubeconfig of OperatorUser to a file that only its owner can read.
func (e *Environment) WriteOperatorKubeconfig(path string) error {
	e.mu.Lock() // envtest numbers certificates without a lock
	user, err := e.controlPlane.AddUser(envtest.User{Name: OperatorUser}, nil)
	e.mu.Unlock()
	if err != nil {
		return err
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return err
	}
	return os.WriteFile(path, kubeconfig, 0o600)
}
