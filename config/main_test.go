package config

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// env has the CRDs, and what the tests apply. What a test looks for in a cluster that has nothing, it starts one for.
var env *testenv.Environment

func TestMain(m *testing.M) { testenv.Main(m, &env) }

// cluster is an API server that a test works with as its administrator.
type cluster struct {
	*testing.T
	*testenv.Environment
	client.Client
	kubeconfig string
}

func in(t *testing.T, environment *testenv.Environment) *cluster {
	t.Helper()
	c := &cluster{T: t, Environment: environment, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	c.check(environment.WriteKubeconfig(c.kubeconfig))
	c.Client = c.as("")
	return c
}

// as is a client of a user, who has the access that RBAC gives them; of the administrator if name is empty.
func (c *cluster) as(name string, groups ...string) client.Client {
	c.Helper()
	config := rest.CopyConfig(c.Config)
	if name != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: append(groups, "system:authenticated")}
	}
	user, err := client.New(config, client.Options{})
	c.check(err)
	return client.WithFieldValidation(user, metav1.FieldValidationStrict)
}

func (c *cluster) check(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// kubectl runs kubectl, which must succeed, and gives what it prints.
func (c *cluster) kubectl(arguments ...string) string {
	c.Helper()
	output, err := c.tryKubectl("", arguments...)
	if err != nil {
		c.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

func (c *cluster) tryKubectl(stdin string, arguments ...string) (string, error) {
	c.Helper()
	arguments = append([]string{"--kubeconfig", c.kubeconfig, "--cache-dir", c.cache()}, arguments...)
	command := exec.CommandContext(c.Context(), c.Kubectl, arguments...)
	command.Dir = c.Root
	command.Stdin = strings.NewReader(stdin)
	output, err := command.CombinedOutput()
	return string(output), err
}

// cache is kubectl's. It would otherwise be in the user's home.
func (c *cluster) cache() string { return filepath.Join(c.Dir, "kubectl-cache") }

// bind gives a user the ClusterRoles in one namespace, or in the whole cluster if namespace is empty.
func (c *cluster) bind(namespace, user string, roles ...string) {
	c.Helper()
	metadata := metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	for _, role := range roles {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
		if namespace == "" {
			c.check(c.Create(c.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metadata, RoleRef: ref, Subjects: subjects}))
		} else {
			c.check(c.Create(c.Context(), &rbacv1.RoleBinding{ObjectMeta: metadata, RoleRef: ref, Subjects: subjects}))
		}
	}
}

// may asks the API server what a user may do with one of our resources.
func (c *cluster) may(namespace, user, verb, resource string) bool {
	c.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: v1alpha1.SchemeGroupVersion.Group, Resource: resource,
		},
	}}
	c.check(c.Create(c.Context(), review))
	return review.Status.Allowed
}

// waitForAccess waits until a user may do something: a binding is not in force as soon as it is stored.
func (c *cluster) waitForAccess(namespace, user, verb, resource string) {
	c.Helper()
	c.eventually(func() (bool, string) {
		return c.may(namespace, user, verb, resource), fmt.Sprintf("%s may not %s %s", user, verb, resource)
	})
}

// eventually waits until done, which otherwise describes what is missing.
func (c *cluster) eventually(done func() (bool, string)) {
	c.Helper()
	await.Until(c.T, done)
}

// parse reads YAML as the API server's JSON would be read: integers stay integers.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		t.Fatal(err)
	}
	return object
}
