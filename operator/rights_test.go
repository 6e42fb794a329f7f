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

// seldomUsed are rights in config/rbac/role.yaml that the tests may make the operator use or not, each with the reason to keep it.
var seldomUsed = map[testenv.Permission]string{
	"patch events.events.k8s.io": "an event is patched if it is told twice of one version of an object, which takes a failed write right after the first",
}

// compareRights compares what the operator may do with what it did in all tests. Every operator here runs with the rights of
// config/rbac/role.yaml and no more.
func compareRights() (problems []string, err error) {
	granted, err := grantedRights()
	if err != nil {
		return nil, err
	}
	used, refused, err := env.UsedPermissions(testenv.OperatorUser)
	if err != nil {
		return nil, err
	}
	for _, right := range granted {
		if _, seldom := seldomUsed[right]; !seldom && !slices.Contains(used, right) {
			problems = append(problems, fmt.Sprintf("config/rbac/role.yaml: the operator may %s and never did: take it out of the markers, or test what needs it", right))
		}
	}
	for _, right := range refused {
		problems = append(problems, fmt.Sprintf("config/rbac/role.yaml: the operator tried to %s and was refused", right))
	}
	return problems, nil
}

func grantedRights() ([]testenv.Permission, error) {
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

// Not every version of the API server has streaming lists. Without them, everything is listed before it is watched.
func TestListedBeforeWatched(t *testing.T) {
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
}

// A reference under which provably nothing was created is free for another Mandate, once its own has gone.
func TestReferenceFreeAgain(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("first", "{reference: shared, mandateType: {id: 999999}}")
	w.stalled("first", v1alpha1.ReasonRefused)
	w.kubectl("delete", "mandate", "first")
	w.mandate("second", "{reference: shared}")
	w.ready("second")
	w.emails(1)
	if records := w.records(); len(records) != 1 || records[0].Spec.MandateRef.Name != "second" {
		t.Errorf("the records are %+v, want one, of the second Mandate", records)
	}
}

// The ClusterRole reaches the Secrets of every namespace: nobody may see through the operator which there are.
func TestSecretsAreReadByName(t *testing.T) {
	granted, err := grantedRights()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []testenv.Permission{
		"get secrets",
		"create secrets", // a report that is downloaded goes into a new one
	}
	for _, right := range granted {
		switch {
		case strings.HasSuffix(string(right), " secrets") && !slices.Contains(allowed, right):
			t.Errorf("the operator may %s; it may only %v", right, allowed)
		case strings.Contains(string(right), "*"):
			t.Errorf("the operator may %s: a wildcard is more than anybody can check", right)
		}
	}
	if !slices.Contains(granted, "get secrets") {
		t.Errorf("the rights were not read: %v", granted)
	}
}
