package flux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

// TestFlux goes through the life of a repository. After each step, it counts all e-mails that were sent up to then.
func TestFlux(t *testing.T) {
	w := newWorld(t)
	// Two invites and the resend are all that the examples send, whatever Flux does to the objects later.
	const sent = 3
	w.Step("the connection comes first", w.connectionComesFirst, 0)
	w.Step("the Mandates follow it", w.mandatesFollow, sent)
	w.Step("an action is applied again after its clean-up", w.actionAgain, sent)
	w.Step("what is deleted in Git is deleted, and restored", w.prunedAndRestored, sent)
	w.Step("renamed in Git", w.renamed, sent)
	w.Step("suspended in Git", w.suspendedInGit, sent)
	w.Step("what kubectl sets stays", w.kubectlOwns, sent)
	w.Step("without Merge, it does not", w.withoutMerge, sent)
	w.Step("a frozen field is edited", w.frozenField, sent)
	w.Step("a frozen field is edited, with force", w.forced, sent)
	w.Step("a Mandate stalls", w.stalls, sent)
	w.Step("the Kustomizations are deleted", w.deleted, sent)
	w.Step("everything is applied anew", w.appliedAnew, sent)
	w.CheckNoPersonalData("an event", w.alerts.all())
}

func (w *world) apply() {
	w.Helper()
	w.Kubectl("apply", "--filename=flux/source.yaml", "--filename=flux/connection.yaml", "--filename=flux/mandates.yaml")
	w.Publish()
}

func (w *world) connectionComesFirst() {
	w.apply()
	w.until(mandates, "False", "DependencyNotReady", func(*kustomization) bool { return true })
	w.WaitForConnectionFirst()
}

func (w *world) mandatesFollow() {
	w.CreateSecrets()
	w.applied()
	w.WaitUntilReady("acme")
	w.WaitUntilReady("globex")
	w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonCarriedOut)
}

// actionAgain deletes an action that Git has, as ttlSecondsAfterFinished does. Flux applies it again.
func (w *world) actionAgain() {
	before := w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonCarriedOut)
	w.Kubectl("delete", "mandateaction", cluster.ResendAction, "--namespace", cluster.Namespace)
	w.reconcile()
	if again := w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonAlreadyDone); again.UID == before.UID {
		w.Error("the action is the same object")
	}
}

func (w *world) prunedAndRestored() {
	before := w.WaitUntilReady("acme")
	w.ReplaceAndPublish("kustomization.yaml", "- acme.yaml\n", "")
	w.WaitUntilGone(&v1alpha1.Mandate{}, "acme")
	w.applied()
	w.CheckEmails(3)
	w.ReplaceAndPublish("kustomization.yaml", "- globex.yaml\n", "- acme.yaml\n- globex.yaml\n")
	w.applied()
	w.CheckSameApplication(before)
}

// A Mandate of another name is another one. Even with spec.adopt it does not get the application that the record of the
// old name has.
func (w *world) renamed() {
	before := w.WaitUntilReady("globex")
	adopt := fmt.Sprintf("spec:\n  reference: %s\n  adopt:\n    applicationID: %d\n",
		before.Status.Reference, *before.Status.ApplicationID)
	file := cluster.MandatesDir + "globex.yaml"
	old := w.Files[file]
	w.Files[file] = strings.NewReplacer("name: globex\n", "name: globex-eu\n", "spec:\n", adopt).Replace(old)
	w.Publish()
	w.WaitUntilGone(&v1alpha1.Mandate{}, "globex")
	w.fails("HealthCheckFailed")
	w.WaitForReason("globex-eu", v1alpha1.ReasonAdoptionRefused)
	w.Files[file] = old
	w.Publish()
	w.applied()
	w.WaitUntilGone(&v1alpha1.Mandate{}, "globex-eu")
	w.CheckSameApplication(before)
}

func (w *world) suspendedInGit() {
	w.ReplaceAndPublish("acme.yaml", "  decision:\n", "  suspend: true\n  decision:\n")
	w.WaitForReason("acme", v1alpha1.ReasonSuspended)
	w.applied() // Flux does not wait for it
	w.ReplaceAndPublish("acme.yaml", "  suspend: true\n", "")
	w.applied()
	w.WaitUntilReady("acme")
}

func (w *world) deleted() {
	w.Kubectl("delete", "kustomization", mandates, connection, "--namespace", fluxNamespace)
	w.WaitUntilAllGone("acme", "globex", "initech")
}

func (w *world) appliedAnew() {
	w.apply()
	w.applied()
	w.CheckAllRestored("acme", "globex", "initech")
}
