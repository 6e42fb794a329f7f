// Package cluster is the world of the tests of examples/gitops: a real API server, the operator, the sandbox as
// https://idv.example.com, and the Git repository of the examples. A GitOps tool is what each test adds.
package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

// Namespace is that of the examples.
const Namespace = "onboarding"

// Cluster is where one test runs.
type Cluster struct {
	*testing.T
	client.Client
	Kubeconfig string
	// Sandbox controls the service, and Roots is a file with the certificate of the hosts, after StartHosts.
	Sandbox *control.Client
	Roots   string
	// Files are those of the Git repository. Publish makes them the latest commit that the GitOps tool sees.
	Files   map[string]string
	Publish func()

	env *testenv.Environment
}

// New is a Cluster in which only the API server runs.
func New(t *testing.T, env *testenv.Environment) *Cluster {
	t.Helper()
	c := &Cluster{T: t, env: env, Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	c.Check(env.WriteKubeconfig(c.Kubeconfig))
	var err error
	c.Client, err = client.New(env.Config, client.Options{Scheme: operator.Scheme()})
	c.Check(err)
	c.Files = filesBelow(t, filepath.Join(env.Root, "examples", "gitops", "repository"))
	return c
}

// Step takes a step in the life of a repository. Emails is how many were sent, in all, up to its end. If it fails, the
// test ends, because the next step builds on it.
func (c *Cluster) Step(name string, run func(), emails int) {
	t := c.T
	t.Helper()
	passed := t.Run(name, func(t *testing.T) {
		c.T = t
		run()
		c.CheckEmails(emails)
	})
	if c.T = t; !passed {
		t.FailNow()
	}
}

// Check ends the test if there is an error.
func (c *Cluster) Check(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// Eventually waits until something is done.
func (c *Cluster) Eventually(done func() (ok bool, state string)) {
	c.Helper()
	await.Until(c.T, done)
}

// Kubectl runs kubectl in examples/gitops, and returns what it prints.
func (c *Cluster) Kubectl(arguments ...string) string {
	c.Helper()
	arguments = append([]string{"--kubeconfig", c.Kubeconfig}, arguments...)
	command := exec.CommandContext(c.Context(), c.env.Kubectl, arguments...) //nolint:gosec // our kubectl
	command.Dir = filepath.Join(c.env.Root, "examples", "gitops")
	output, err := command.CombinedOutput()
	if err != nil {
		c.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
	}
	return strings.TrimSpace(string(output))
}

// CreateNamespace creates a namespace, if it does not exist.
func (c *Cluster) CreateNamespace(name string) {
	c.Helper()
	err := c.Create(c.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	c.Check(client.IgnoreAlreadyExists(err))
}

// Start runs a program until the test ends, and shows its log if the test failed.
func (c *Cluster) Start(name string, command *exec.Cmd) {
	c.Helper()
	process, err := c.env.Start(name, command)
	c.Check(err)
	t := c.T
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
		if log, err := os.ReadFile(process.Log); t.Failed() && err == nil {
			t.Logf("the end of the log of %s:\n%s", name, log[max(0, len(log)-8000):])
		}
	})
}

// Tool returns the path of a program in bin/.
func (c *Cluster) Tool(name string) string {
	c.Helper()
	path := filepath.Join(c.env.Root, "bin", name)
	if _, err := os.Stat(path); err != nil {
		c.Fatalf("%v: run `make test-gitops`", err)
	}
	return path
}
