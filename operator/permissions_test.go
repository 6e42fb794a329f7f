package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/testenv"
)

// seldomUsed are permissions that the operator may not need in the tests, each with the reason to keep it.
var seldomUsed = map[testenv.Permission]string{
	"patch events.events.k8s.io": "it repeats an event for the same version of an object only after a failed write",
}

// comparePermissions compares the operator's permissions with its requests in all tests. Every operator in the tests
// runs with the permissions of config/rbac/role.yaml only.
func comparePermissions() (problems []string, err error) {
	granted, err := grantedPermissions()
	if err != nil {
		return nil, err
	}
	used, refused, err := env.UsedPermissions(testenv.OperatorUser)
	if err != nil {
		return nil, err
	}
	for _, right := range granted {
		if _, seldom := seldomUsed[right]; !seldom && !slices.Contains(used, right) {
			problems = append(problems, fmt.Sprintf("config/rbac/role.yaml: the operator may %s, and no test makes it do so: "+
				"remove the marker, or test what needs it", right))
		}
	}
	for _, right := range refused {
		problems = append(problems, fmt.Sprintf("config/rbac/role.yaml: the operator tried to %s and was refused", right))
	}
	return problems, nil
}

func grantedPermissions() ([]testenv.Permission, error) {
	manifest, err := os.ReadFile(filepath.Join(env.Root, "config", "rbac", "role.yaml"))
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(manifest, role); err != nil {
		return nil, err
	}
	return testenv.Permissions(role.Rules), nil
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

// The ClusterRole covers the Secrets of every namespace: the operator must not list them.
func TestSecretsAreReadByName(t *testing.T) {
	granted, err := grantedPermissions()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []testenv.Permission{
		"get secrets",
		"create secrets", // for a downloaded report
	}
	for _, right := range granted {
		switch {
		case strings.HasSuffix(string(right), " secrets") && !slices.Contains(allowed, right):
			t.Errorf("the operator may %s; it may only %v", right, allowed)
		case strings.Contains(string(right), "*"):
			t.Errorf("the operator may %s: a wildcard cannot be reviewed", right)
		}
	}
	if !slices.Contains(granted, "get secrets") {
		t.Errorf("the ClusterRole was not read: %v", granted)
	}
}
