package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/await"
)

// The charts on an empty cluster, in the order of a user's: what creates an application once creates it once, whatever
// is installed, upgraded, rolled back and removed meanwhile.
func TestChartsOnACluster(t *testing.T) {
	c := in(t, emptyCluster(t))
	c.refused("mandate-operator-crds first", "install", "mandate-operator", operatorChart, "--create-namespace")

	older := t.TempDir()
	c.helm("package", crdChart, "--destination="+older, "--version=0.0.1", "--app-version=0.0.1")
	c.helm("install", "mandate-operator-crds", older+"/mandate-operator-crds-0.0.1.tgz", "--create-namespace")
	c.refused("older than", "install", "mandate-operator", operatorChart)
	c.helm("upgrade", "mandate-operator-crds", crdChart)
	notes := c.helm("install", "mandate-operator", operatorChart)
	c.runsAsDeployed() // what the notes wait for
	c.followsNotes(notes)

	namespace := c.Namespace(t)
	service := c.startSandbox(namespace)
	c.createsAsDeployed(namespace, service)
	data := c.data()

	c.helm("upgrade", "mandate-operator", operatorChart, "--set=settleDelay=150s")
	c.helm("upgrade", "mandate-operator", operatorChart, "--reset-then-reuse-values", "--set=logLevel=debug")
	c.runsWith("--settle-delay=150s")
	c.helm("rollback", "mandate-operator", "1")
	c.runsWith("--settle-delay=90s")
	installed := objects(t, c.helm("get", "manifest", "mandate-operator"))
	c.helm("uninstall", "mandate-operator")
	c.helm("uninstall", "mandate-operator-crds")
	c.areGone(installed)
	c.isThere(data)

	c.kubectl("delete", "mandate", "acme", "--namespace="+namespace)
	c.helm("install", "mandate-operator-crds", crdChart)
	c.helm("install", "mandate-operator", operatorChart)
	c.isThere(data)
	c.createsAsDeployed(namespace, service)
}

// Where a tool installs both charts at once, the operator may come first: it waits.
func TestOperatorBeforeItsCRDs(t *testing.T) {
	c := in(t, emptyCluster(t))
	c.helm("install", "mandate-operator", operatorChart, "--create-namespace", "--set=requireCRDs=false")
	arguments, listens := c.onLoopback(c.deployment().Spec.Template.Spec.Containers[0].Args)
	operator := c.startOperator(c.serviceAccount(), append(arguments, "--leader-election-namespace="+operatorNamespace)...)
	_, err := operator.WaitForLog(await.Context(t), regexp.MustCompile("Waiting for the API server to serve the kinds"))
	c.check(err)
	c.helm("install", "mandate-operator-crds", crdChart)
	c.check(operator.WaitForURL(await.Context(t), "http://"+listens[":8081"]+"/readyz"))
	c.servesAllKinds()
}

// refused runs helm, which must fail with an error and leave nothing.
func (c *cluster) refused(want string, arguments ...string) {
	c.Helper()
	output, err := c.tryHelm(arguments...)
	if err == nil || !strings.Contains(output, want) {
		c.Errorf("helm %s: %v, want an error that says %q\n%s", arguments[0], err, want, output)
	}
	if found := c.names("deployments", "--all-namespaces"); len(found) > 0 {
		c.Errorf("it installed the Deployments %q", found)
	}
}

func (c *cluster) runsWith(argument string) {
	c.Helper()
	if got := c.deployment().Spec.Template.Spec.Containers[0].Args; !slices.Contains(got, argument) {
		c.Errorf("the operator has the flags %q, want %s", got, argument)
	}
}

// createsAsDeployed runs the operator with the arguments and the account of the Deployment, until the Mandate acme is
// Ready. It may be the second time, for a Mandate that was deleted: one person has one e-mail.
func (c *cluster) createsAsDeployed(namespace string, service *standIn) {
	c.Helper()
	arguments, _ := c.onLoopback(c.deployment().Spec.Template.Spec.Containers[0].Args)
	operator := c.startOperator(c.serviceAccount(), append(arguments, "--leader-election-namespace="+operatorNamespace)...)
	acme := parse(c.T, `
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: acme}
spec: {mandateType: {code: kyc}, individuals: [{name: director, email: director@acme.example}]}
`)
	acme.SetNamespace(namespace)
	c.check(c.Create(c.Context(), acme))
	c.kubectl("wait", "mandate", "acme", "--namespace="+namespace, "--for=condition=Ready", await.Timeout(c.T))
	c.check(operator.Stop())
	if emails := service.emails(c); len(emails) != 1 {
		c.Errorf("%d e-mails, want one: %v", len(emails), emails)
	}
}

// areGone looks for what helm installed.
func (c *cluster) areGone(installed []*unstructured.Unstructured) {
	c.Helper()
	for _, object := range installed {
		if err := c.Get(c.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			c.Errorf("helm uninstall: %s %s is still there (%v)", object.GetKind(), object.GetName(), err)
		}
	}
}

// isThere looks for objects that must be those that they were.
func (c *cluster) isThere(data []*unstructured.Unstructured) {
	c.Helper()
	for _, object := range data {
		uid := object.GetUID()
		err := c.Get(c.Context(), client.ObjectKeyFromObject(object), object)
		if err != nil || object.GetUID() != uid || object.GetDeletionTimestamp() != nil {
			c.Errorf("%s in %s has gone, or is going (%v)", object.GetKind(), object.GetNamespace(), err)
		}
	}
}

// After an installation, the docs continue with objects of our kinds. The API server serves these when the operator is
// Ready, so Helm must wait for it.
func TestDocumentedInstallationsWait(t *testing.T) {
	command := regexp.MustCompile(`helm (?:install|upgrade) mandate-operator (?:[^\n]*\\\n)*[^\n]*`)
	for page, want := range map[string]int{"README.md": 1, "docs/install.md": 1, "docs/upgrade.md": 2} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		commands := command.FindAllString(string(text), -1)
		if len(commands) != want {
			t.Errorf("%s has %d commands, want %d: %q", page, len(commands), want, commands)
		}
		for _, c := range commands {
			if !strings.HasSuffix(c, " --wait") {
				t.Errorf("%s does not wait: %s", page, c)
			}
		}
	}
}
