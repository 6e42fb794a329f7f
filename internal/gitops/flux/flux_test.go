package flux

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// TestFlux goes through the life of a repository. After each step, it counts all e-mails that were sent up to then.
func TestFlux(t *testing.T) {
	w := newWorld(t)
	// Two invites and the resend are all that the examples send, whatever Flux does to the objects later.
	const sent = 3
	steps := []struct {
		name   string
		run    func(*world)
		emails int
	}{
		{"the connection comes first", (*world).connectionComesFirst, 0},
		{"the Mandates follow it", (*world).mandatesFollow, sent},
		{"an action is applied again after its clean-up", (*world).actionAgain, sent},
		{"what is deleted in Git is deleted, and restored", (*world).prunedAndRestored, sent},
		{"renamed in Git", (*world).renamed, sent},
		{"suspended in Git", (*world).suspendedInGit, sent},
		{"what kubectl sets stays", (*world).kubectlOwns, sent},
		{"without Merge, it does not", (*world).withoutMerge, sent},
		{"a frozen field is edited", (*world).frozenField, sent},
		{"a frozen field is edited, with force", (*world).forced, sent},
		{"a Mandate stalls", (*world).stalls, sent},
		{"the Kustomizations are deleted", (*world).deleted, sent},
		{"everything is applied anew", (*world).appliedAnew, sent},
	}
	for _, step := range steps {
		passed := t.Run(step.name, func(t *testing.T) {
			w.T = t
			step.run(w)
			w.emails(step.emails)
		})
		w.T = t
		if !passed {
			return // the next step builds on it
		}
	}
	w.holdsNoPersonalData("an event", w.alerts.all())
}

func (w *world) apply() {
	w.Helper()
	w.kubectl("apply", "--filename=flux/source.yaml", "--filename=flux/connection.yaml", "--filename=flux/mandates.yaml")
	w.publish()
}

func (w *world) connectionComesFirst() {
	w.apply()
	w.eventually(func() (bool, string) {
		reason := w.kubectl("get", "identityservices", "--namespace", namespace,
			`--output=jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}`)
		return reason == v1alpha1.ReasonSecretNotFound, "the connection has the reason " + reason
	})
	w.until(mandates, "False", "DependencyNotReady", func(*kustomization) bool { return true })
	if got := w.kubectl("get", "mandates", "--namespace", namespace, "--output=name"); got != "" {
		w.Errorf("there are Mandates before their connection: %s", got)
	}
}

func (w *world) mandatesFollow() {
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
	w.secret("acme-director", map[string]string{"email": "director@acme.example"})
	w.secret("globex-applicant", map[string]string{"email": "applicant@globex.example"})
	// The operator looks for the Secret every 20 seconds, and at once when it is asked.
	w.kubectl("annotate", "identityservice", "default", "--namespace", namespace,
		"idv.mandate.io/reconcile-requested-at=1")
	w.applied()
	w.ready("acme")
	w.ready("globex")
	w.action("globex-resend-2026-03-02", v1alpha1.ReasonCarriedOut)
}

// secret plays the part of the secret store.
func (w *world) secret(name string, data map[string]string) {
	w.Helper()
	w.check(w.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data,
	}))
}

// actionAgain deletes an action that Git has, as ttlSecondsAfterFinished does. Flux applies it again.
func (w *world) actionAgain() {
	const name = "globex-resend-2026-03-02"
	before := w.action(name, v1alpha1.ReasonCarriedOut)
	w.kubectl("delete", "mandateaction", name, "--namespace", namespace)
	w.reconcile()
	if again := w.action(name, v1alpha1.ReasonAlreadyDone); again.UID == before.UID {
		w.Error("the action is the same object")
	}
}

func (w *world) prunedAndRestored() {
	before := w.ready("acme")
	w.edit("kustomization.yaml", "- acme.yaml\n", "")
	w.gone(&v1alpha1.Mandate{}, "acme")
	w.applied()
	w.emails(3)
	w.edit("kustomization.yaml", "- globex.yaml\n", "- acme.yaml\n- globex.yaml\n")
	w.applied()
	w.sameApplication(before)
}

// sameApplication checks that another object of the same Mandate has the same application.
func (w *world) sameApplication(before *v1alpha1.Mandate) {
	w.Helper()
	after := w.ready(before.Name)
	if after.UID == before.UID {
		w.Errorf("%s is the same object", before.Name)
	}
	if *after.Status.ApplicationID != *before.Status.ApplicationID {
		w.Errorf("%s has application %d, and had %d", before.Name, *after.Status.ApplicationID, *before.Status.ApplicationID)
	}
}

// mandatesDir has the files of the Mandates in the repository.
const mandatesDir = "onboarding/mandates/"

// edit replaces text in a file of the Mandates, and publishes it.
func (w *world) edit(name, old, replacement string) {
	w.Helper()
	path := mandatesDir + name
	if !strings.Contains(w.git.files[path], old) {
		w.Fatalf("%s has no %q", path, old)
	}
	w.git.files[path] = strings.Replace(w.git.files[path], old, replacement, 1)
	w.publish()
}

// A Mandate of another name is another one. Even with spec.adopt it does not get the application that the record of the
// old name has.
func (w *world) renamed() {
	before := w.ready("globex")
	adopt := fmt.Sprintf("spec:\n  reference: %s\n  adopt:\n    applicationID: %d\n",
		before.Status.Reference, *before.Status.ApplicationID)
	file := mandatesDir + "globex.yaml"
	old := w.git.files[file]
	w.git.files[file] = strings.NewReplacer("name: globex\n", "name: globex-eu\n", "spec:\n", adopt).Replace(old)
	w.publish()
	w.gone(&v1alpha1.Mandate{}, "globex")
	w.fails("HealthCheckFailed")
	w.reason("globex-eu", v1alpha1.ReasonAdoptionRefused)
	w.git.files[file] = old
	w.publish()
	w.applied()
	w.gone(&v1alpha1.Mandate{}, "globex-eu")
	w.sameApplication(before)
}

func (w *world) suspendedInGit() {
	w.edit("acme.yaml", "  decision: Complete\n", "  decision: Complete\n  suspend: true\n")
	w.reason("acme", v1alpha1.ReasonSuspended)
	w.applied() // Flux does not wait for it
	w.edit("acme.yaml", "  suspend: true\n", "")
	w.applied()
	w.ready("acme")
}

func (w *world) deleted() {
	w.kubectl("delete", "kustomization", mandates, connection, "--namespace", fluxNamespace)
	for _, name := range []string{"acme", "globex", "initech"} {
		w.gone(&v1alpha1.Mandate{}, name)
	}
	w.gone(&v1alpha1.IdentityService{}, "default")
	// The namespace stays, and in it the ledger and the Secrets.
	kept := &corev1.Namespace{}
	w.check(w.Get(w.Context(), client.ObjectKey{Name: namespace}, kept))
	if kept.DeletionTimestamp != nil {
		w.Error("the namespace is being deleted")
	}
	if records := w.kubectl("get", "applicationrecords", "--namespace", namespace, "--output=name"); records == "" {
		w.Error("the ledger is gone")
	}
}

func (w *world) appliedAnew() {
	w.apply()
	w.applied()
	w.ready("acme")
	w.ready("globex")
	w.ready("initech")
	w.action("globex-resend-2026-03-02", v1alpha1.ReasonAlreadyDone)
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	if len(applications) != 3 {
		w.Errorf("the service has %d applications, want 3: %+v", len(applications), applications)
	}
}
