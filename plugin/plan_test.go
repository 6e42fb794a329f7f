package plugin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/plugin"
)

// mandateYAML is the manifest of a Mandate of one person.
func mandateYAML(name, spec string) string {
	return fmt.Sprintf(`---
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: %s}
spec: {mandateType: {code: kyc}, individuals: [{name: jane, email: %s}]%s}
`, name, email, spec)
}

// versions are the resource versions of all objects that a plan could write.
func (w *world) versions() (versions string) {
	w.Helper()
	for _, list := range []client.ObjectList{
		&v1alpha1.MandateList{}, &v1alpha1.MandateActionList{}, &v1alpha1.ApplicationRecordList{},
	} {
		w.check(w.List(w.Context(), list, client.InNamespace(w.namespace)))
		w.check(meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			versions += " " + object.GetName() + "=" + object.GetResourceVersion()
			return nil
		}))
	}
	return versions
}

// TestPlan plans with the role idv-viewer. Nothing is written, and nobody is e-mailed.
func TestPlan(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.start()
	w.connect()
	w.mandate("acme")
	w.run("", 0, "wait", "acme")
	w.user = "viewer"
	w.grant("idv-viewer", false)
	before := w.versions()

	acme := mandateYAML("acme", "")
	w.contains(w.run(acme, 0, "plan", "-f", "-"), "Nothing would be sent. 1 object with nothing to do.")
	renamed := w.run(mandateYAML("renamed", ""), 2, "plan", "-f", "-", "--prune")
	w.contains(renamed, "create", "pruned", "The same people as in the Mandate", "which is deleted: a rename",
		"its application stays at the service")
	refused := w.run(strings.ReplaceAll(acme, email, "other@example.com"), 0, "plan", "-f", "-")
	w.contains(refused, "refuse", "Invalid", "spec.individuals: cannot change once the application exists")
	w.contains(w.run(mandateYAML("late", `, createBefore: "2026-01-01T00:00:00Z"`), 0, "plan", "-f", "-"),
		"refuse", "CreateDeadlinePassed")
	w.contains(w.run(mandateYAML("new", "")+acme, 2, "plan", "-f", "-", "-o", "json"), `"emails": 1`, `"sends": true`)
	w.contains(w.run(mandateYAML("new", ""), 2, "plan", "-f", "-", "-o", "markdown"),
		"### Mandates: 1 e-mail.", "| create | 1 | Mandate "+w.namespace+"/new | new |")

	w.contains(w.run("private: {", 1, "plan", "-f", "-"), "the standard input: document 1 is no YAML object")
	w.contains(w.run("", 1, "plan", "-f", filepath.Join(t.TempDir(), "missing.yaml")), "no such file")
	w.contains(w.run(acme, 1, "plan", "-f", "-", "--dry-run=server"), "ask for the ClusterRole idv-viewer to read")
	w.user = ""
	w.contains(w.run(acme, 0, "plan", "-f", "-", "--dry-run=server"), "Nothing would be sent")
	w.contains(w.run(mandateYAML("new", ", adopt: {applicationID: 0}"), 0, "plan", "-f", "-", "--dry-run=server"),
		"refuse", "spec.adopt.applicationID")

	if after := w.versions(); after != before {
		t.Errorf("the plans wrote: the versions are %s, and were %s", after, before)
	}
	w.emails(1)
	if strings.Contains(w.output.String(), "@example.com") || strings.Contains(w.output.String(), "private") {
		t.Errorf("personal data in the output:\n%s", w.output.String())
	}
}

// TestPlanOfSharedService plans without access to the ClusterIdentityService, and with it.
func TestPlanOfSharedService(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	service := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	service.Spec.BaseURL = w.url
	service.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: w.namespace, Name: "idv"}
	service.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "none"}}
	w.create(service)
	manifest := mandateYAML("acme", ", serviceRef: {kind: ClusterIdentityService, name: "+w.namespace+"}")
	w.contains(w.run(manifest, 0, "plan", "-f", "-"), "IdentityServiceNotAllowed")
	w.user = "viewer"
	w.grant("idv-viewer", false)
	w.contains(w.run(manifest, 2, "plan", "-f", "-"), "create", "may not read it")
}

// repository is a Git repository with a directory of manifests.
type repository struct {
	*world
	dir string
}

func (r *repository) git(arguments ...string) {
	r.Helper()
	command := exec.CommandContext(r.Context(), "git", append([]string{"-C", r.dir}, arguments...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.test",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test")
	if output, err := command.CombinedOutput(); err != nil {
		r.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
}

func (r *repository) write(name, content string) {
	r.Helper()
	path := filepath.Join(r.dir, "mandates", name)
	r.check(os.MkdirAll(filepath.Dir(path), 0o700))
	r.check(os.WriteFile(path, []byte(content), 0o600))
}

func (r *repository) commit(tag string) {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", tag)
	r.git("tag", tag)
}

// TestPlanOfRevisions plans what lies between two Git revisions, with kustomize and without.
func TestPlanOfRevisions(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.connect()
	r := &repository{w, t.TempDir()}
	r.git("init", "-q")
	r.write("acme.yaml", mandateYAML("acme", ", deletionPolicy: Retain"))
	r.write("below/globex.yaml", mandateYAML("globex", ""))
	r.write("kustomization.yaml", "namePrefix: eu-\nresources: [acme.yaml]\n")
	r.commit("before")
	w.mandate("acme")
	w.check(os.RemoveAll(filepath.Join(r.dir, "mandates")))
	r.write("initech.yaml", mandateYAML("initech", ""))
	r.write("kustomization.yaml", "namePrefix: eu-\nresources: [initech.yaml]\n")
	r.commit("after")
	dir := filepath.Join(r.dir, "mandates")

	planned := w.run("", 2, "plan", "-f", dir, "--from", "before", "--to", "after")
	w.contains(planned, "initech", "acme", "pruned", "It has no application")
	w.contains(w.run("", 2, "plan", "-f", dir, "-R", "--to", "before"), "acme", "globex")
	w.contains(w.run("", 2, "plan", "-k", dir, "--from", "before"), "eu-initech")
	w.contains(w.run("", 1, "plan", "-f", dir, "--from", "--output=/tmp/x"), "does not exist here")
	below, mistyped := filepath.Join(dir, "below"), filepath.Join(dir, "mistyped")
	w.run("", 2, "plan", "-f", below, "--from", "before", "--to", "after") // it is deleted; acme waits, whatever changes
	w.contains(w.run("", 1, "plan", "-f", below, "--to", "after"), below, `the Git revision "after" does not have`)
	w.contains(w.run("", 1, "plan", "-f", dir, "-f", mistyped, "--from", "before", "--to", "after"), mistyped)
	w.contains(w.run("", 1, "plan", "-k", mistyped, "--to", "after"), mistyped)
	if strings.Contains(planned, "globex") {
		t.Errorf("without -R, the directories below are read:\n%s", planned)
	}
}

// BenchmarkPlan plans for a thousand manifests of a directory, half of them of Mandates that the cluster has.
func BenchmarkPlan(b *testing.B) {
	dir, kubeconfig := b.TempDir(), filepath.Join(b.TempDir(), "kubeconfig")
	if err := env.WriteKubeconfig(kubeconfig); err != nil {
		b.Fatal(err)
	}
	c, err := client.New(env.Config, client.Options{Scheme: newScheme()})
	if err != nil {
		b.Fatal(err)
	}
	namespace := env.Namespace(b)
	for i := range 1000 {
		name := fmt.Sprintf("mandate-%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(mandateYAML(name, "")), 0o600); err != nil {
			b.Fatal(err)
		}
		m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		m.Spec.MandateType.Code = "kyc"
		m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: email}}
		if i%2 == 0 {
			continue
		}
		if err := c.Create(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		out := &strings.Builder{}
		streams := plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: out}
		arguments := []string{"plan", "-f", dir, "-o", "json", "--kubeconfig", kubeconfig, "--namespace", namespace}
		if code := plugin.Run(b.Context(), streams, "test", arguments); code != 0 { // there is no service
			b.Fatalf("exit code %d: %.500s", code, out)
		}
	}
}
