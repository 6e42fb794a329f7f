package argocd

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

// TestArgoCD goes through the life of a repository. After each step, it counts all e-mails that were sent up to then.
func TestArgoCD(t *testing.T) {
	w := newWorld(t)
	w.Step("the operator waits for its CRDs", w.chartRefuses, 0)
	w.Step("waves bring the CRDs, then the operator", w.operator, 0)
	w.StartOperator(w.hosts)
	// Argo CD deletes in the foreground, which the garbage collector completes.
	_, err := env.StartControllerManager()
	w.Check(err)
	w.Step("the connection comes first", w.connectionComesFirst, 0)
	// Two invites and the resend are all that the examples send, whatever Argo CD does to the objects later.
	const sent = 3
	w.Step("the Mandates follow it", w.mandatesFollow, sent)
	w.Step("an action is applied again after its clean-up", w.actionAgain, sent)
	w.Step("what is deleted in Git is deleted when somebody approves, and restored", w.prunedAndRestored, sent)
	w.Step("what kubectl sets stays", w.kubectlOwns, sent)
	w.Step("without ignoreDifferences, a field that is in Git does not", w.reverted, sent)
	w.Step("a frozen field is edited", w.frozenField, sent)
	w.Step("a frozen field is edited, with Force and Replace", w.forced, sent)
	// An action is added.
	w.Step("a Mandate needs a person", w.stalls, sent+1)
	w.Step("the Application is deleted", w.deleted, sent+1)
	w.Step("everything is applied anew", w.appliedAnew, sent+1)
	w.Step("the Application of the CRDs is deleted", w.keepsCRDs, sent+1)
	w.CheckNoPersonalData("an event", w.Kubectl("get", "events", "--namespace", argocdNamespace, "--output=yaml"))
}

// apply applies the Application of the examples.
func (w *world) apply() {
	w.Helper()
	w.Kubectl("apply", "--server-side", "--force-conflicts", "--validate=strict", "--filename=argocd/application.yaml")
}

func (w *world) connectionComesFirst() {
	w.apply()
	w.waits("IdentityService/default")
	w.WaitForConnectionFirst()
}

func (w *world) mandatesFollow() {
	w.CreateSecrets()
	w.applied()
	w.WaitUntilReady("acme")
	w.WaitUntilReady("globex")
	w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonCarriedOut)
	// Argo CD leaves out what has no health, so the health of the Application alone does not show that the script ran.
	for _, object := range [][2]string{
		{"IdentityService", "default"}, {"Mandate", "acme"}, {"Mandate", "globex"}, {"MandateAction", cluster.ResendAction},
	} {
		w.until(onboarding, object[1]+" is Healthy", func(a *application) bool {
			return a.healthOf(object[0], object[1]) == "Healthy"
		})
	}
}

// actionAgain deletes an action that Git has, as ttlSecondsAfterFinished does. Argo CD applies it again.
func (w *world) actionAgain() {
	before := w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonCarriedOut)
	w.Kubectl("delete", "mandateaction", cluster.ResendAction, "--namespace", cluster.Namespace)
	if again := w.WaitForAction(cluster.ResendAction, v1alpha1.ReasonAlreadyDone); again.UID == before.UID {
		w.Error("the action is the same object")
	}
	w.applied()
}

func (w *world) prunedAndRestored() {
	before := w.WaitUntilReady("acme")
	w.ReplaceAndPublish("kustomization.yaml", "- acme.yaml\n", "")
	w.waits("Waiting for pruning confirmation of idv.mandate.io/v1alpha1/Mandate/acme")
	if w.WaitUntilReady("acme").DeletionTimestamp != nil {
		w.Error("the Mandate is deleted before somebody approves")
	}
	w.approve()
	w.WaitUntilGone(&v1alpha1.Mandate{}, "acme")
	w.applied()
	w.ReplaceAndPublish("kustomization.yaml", "- globex.yaml\n", "- acme.yaml\n- globex.yaml\n")
	w.applied()
	w.CheckSameApplication(before)
}

func (w *world) deleted() {
	w.deleteApplication(onboarding)
	w.until(onboarding, "waiting", func(a *application) bool { return a.DeletionTimestamp != nil })
	w.WaitUntilReady("acme")
	w.approve()
	w.goneApplication(onboarding)
	w.WaitUntilAllGone(mandates...)
}

func (w *world) appliedAnew() {
	w.apply()
	w.refresh(onboarding)
	w.applied()
	w.CheckAllRestored(mandates...)
}

// mandates are all that the repository has at the end.
var mandates = []string{"acme", "globex", "initech", "hooli"}
