package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// The Makefile's targets install and remove the operator on an empty cluster, and Helm takes over. What knows of
// applications remains.
func TestMake(t *testing.T) {
	c := in(t, emptyCluster(t))

	c.make("install")
	c.servesAllKinds()
	want := []string{
		"applicationrecords.idv.mandate.io",
		"clusteridentityservices.idv.mandate.io",
		"identityservices.idv.mandate.io",
		"mandateactions.idv.mandate.io",
		"mandates.idv.mandate.io",
	}
	if diff := cmp.Diff(want, c.names("customresourcedefinitions")); diff != "" {
		t.Errorf("make install: CRDs (-want +got):\n%s", diff)
	}
	manifests := c.kubectl("get", "customresourcedefinitions", "--output=yaml")
	for _, annotation := range []string{
		"argocd.argoproj.io/sync-options: Prune=false,Delete=false",
		"kustomize.toolkit.fluxcd.io/prune: disabled",
	} {
		if got := strings.Count(manifests, " "+annotation+"\n"); got != len(want) {
			t.Errorf("%d CRDs have the annotation %s, by which a GitOps tool leaves them alone, want all %d",
				got, annotation, len(want))
		}
	}
	if got := c.names("deployments", "--all-namespaces"); len(got) > 0 {
		t.Errorf("make install: Deployments %q, want none", got)
	}

	if output, err := c.tryMake("deploy"); err == nil || !strings.Contains(output, "IMG=registry/name:tag") {
		t.Errorf("make deploy without IMG: %v, want an error that says how\n%s", err, output)
	}
	const first, second = "registry.example.com/mandate-operator:v1", "registry.example.com/mandate-operator:v2"
	c.make("deploy", "IMG="+first)
	if got := c.deployment().Spec.Template.Spec.Containers[0].Image; got != first {
		t.Errorf("make deploy: the image is %s", got)
	}
	c.runsAsDeployed()

	before := c.data()
	c.make("undeploy")
	c.onlyDataIsLeft(before)
	c.helm("install", "mandate-operator-crds", crdChart, "--take-ownership", "--force-conflicts")
	c.helm("install", "mandate-operator", operatorChart)
	c.isThere(before)
	c.helm("uninstall", "mandate-operator")
	c.helm("uninstall", "mandate-operator-crds")
	c.isThere(before)

	c.make("undeploy") // of nothing
	c.make("deploy", "IMG="+second)
	if got := c.deployment().Spec.Template.Spec.Containers[0].Image; got != second {
		t.Errorf("make deploy after undeploy: the image is %s", got)
	}

	c.kubectl("delete", "--kustomize=config/crd")
	c.make("deploy", "IMG="+second)
	c.servesAllKinds()
}

// servesAllKinds does what may come right after an installation.
func (c *cluster) servesAllKinds() {
	c.Helper()
	c.kubectl("apply", "--dry-run=server", "--kustomize=config/samples")
}

// emptyCluster serves a new kind five seconds after its CRD is stored, as an API server that is one of several does. So
// whatever does not wait for a kind that it needs, fails.
func emptyCluster(t *testing.T) *testenv.Environment {
	t.Helper()
	testenv.SkipIfShort(t)
	environment, err := testenv.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := environment.StartControlPlane("apiserver-count=2"); err != nil {
		t.Fatal(err)
	}
	return environment
}

func (c *cluster) make(arguments ...string) {
	c.Helper()
	if output, err := c.tryMake(arguments...); err != nil {
		c.Fatalf("make %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

// tryMake runs make as a user does: not as a part of the make that runs the tests.
func (c *cluster) tryMake(arguments ...string) (string, error) {
	c.Helper()
	command := exec.CommandContext(c.Context(), "make", arguments...)
	command.Dir = c.Root
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "IMG", "KUBECTL"}, name)
	})
	command.Env = append(command.Env, "KUBECONFIG="+c.kubeconfig, "KUBECACHEDIR="+c.cache(),
		"PATH="+filepath.Dir(c.Kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	return string(output), err
}

// names of what kubectl get finds.
func (c *cluster) names(arguments ...string) []string {
	c.Helper()
	arguments = append([]string{"get", "--output=jsonpath={.items[*].metadata.name}"}, arguments...)
	return strings.Fields(c.kubectl(arguments...))
}

func (c *cluster) deployment() *appsv1.Deployment {
	c.Helper()
	deployment := &appsv1.Deployment{}
	c.check(c.Get(c.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "mandate-operator"}, deployment))
	return deployment
}

// data creates a Mandate and a record, of a namespace of its own and of the operator's.
func (c *cluster) data() []*unstructured.Unstructured {
	c.Helper()
	var objects []*unstructured.Unstructured
	for _, namespace := range []string{c.Namespace(c.T), operatorNamespace} {
		objects = append(objects, mandate(c.T, namespace, "{}"), record(c.T, namespace, "apr-1"))
	}
	for _, object := range objects {
		c.check(c.Create(c.Context(), object))
	}
	return objects
}

// onlyDataIsLeft looks for everything that config/default has.
func (c *cluster) onlyDataIsLeft(data []*unstructured.Unstructured) {
	c.Helper()
	stays := []string{"CustomResourceDefinition", "Namespace"}
	var looked []string
	for _, object := range c.build("config/default") {
		looked = append(looked, object.GetKind())
		err := c.Get(c.Context(), client.ObjectKeyFromObject(object), object)
		switch {
		case !slices.Contains(stays, object.GetKind()) && !apierrors.IsNotFound(err):
			c.Errorf("make undeploy: %s %s is still there (%v)", object.GetKind(), object.GetName(), err)
		case slices.Contains(stays, object.GetKind()) && (err != nil || object.GetDeletionTimestamp() != nil):
			c.Errorf("make undeploy: %s %s has gone, or is going (%v)", object.GetKind(), object.GetName(), err)
		}
	}
	for _, kind := range append(stays, "Deployment", "ClusterRole", "NetworkPolicy", "ValidatingAdmissionPolicy") {
		if !slices.Contains(looked, kind) {
			c.Errorf("config/default has no %s: it was not looked at as a whole: %q", kind, looked)
		}
	}
	c.isThere(data)
}

// build gives what kubectl kustomize makes of a directory.
func (c *cluster) build(directory string) []*unstructured.Unstructured {
	c.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(c.kubectl("kustomize", directory), "\n---\n") {
		object := &unstructured.Unstructured{}
		c.check(yaml.Unmarshal([]byte(document), &object.Object))
		objects = append(objects, object)
	}
	return objects
}
