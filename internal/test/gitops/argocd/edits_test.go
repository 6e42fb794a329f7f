package argocd

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

// The decisions that a person makes with kubectl in place of the rule in Git, and takes back.
const (
	onEvidence = `{"outcome":"Reject","evidence":"7d9f2c41-3","when":null}`
	byRule     = `{"outcome":"Complete","evidence":null,"when":"AllChecksPassed"}`
)

// kubectlOwns has Argo CD sync while kubectl's fields differ from Git. It also shows that a suspended Mandate does not
// hold up a sync.
func (w *world) kubectlOwns() {
	w.PatchSpec("acme", `{"suspend":true,"decision":`+onEvidence+`}`)
	w.WaitForReason("acme", v1alpha1.ReasonSuspended)
	w.ReplaceAndPublish("globex.yaml", "  name: globex\n", "  name: globex\n  labels: {edited: again}\n")
	w.synced()
	a := w.until(onboarding, "Suspended", func(a *application) bool { return a.Status.Health.Status == "Suspended" })
	if got := a.healthOf("Mandate", "acme"); got != "Suspended" {
		w.Errorf("the health of the suspended Mandate is %q", got)
	}
	spec := w.WaitForReason("acme", v1alpha1.ReasonSuspended).Spec
	if !spec.Suspend || spec.Decision.Outcome != v1alpha1.DecisionReject {
		w.Errorf("Argo CD changed what kubectl had set: %+v", spec)
	}
	w.PatchSpec("acme", `{"suspend":null,"decision":`+byRule+`}`)
	w.WaitUntilReady("acme")

	w.Reject("globex")
	w.ReplaceAndPublish("globex.yaml", "  labels: {edited: again}\n", "")
	w.applied()
	if got := w.WaitUntilReady("globex").Spec.Decision; got == nil || got.Outcome != v1alpha1.DecisionReject {
		w.Errorf("Argo CD changed spec.decision to %+v", got)
	}
}

func (w *world) reverted() {
	w.patchApplication(onboarding, `{"spec":{"ignoreDifferences":null}}`)
	w.PatchSpec("acme", `{"suspend":true,"decision":`+onEvidence+`}`)
	acme := w.WaitForMandate("acme", "reverted", func(m *v1alpha1.Mandate) bool {
		return *m.Spec.Decision == v1alpha1.Decision{
			Outcome: v1alpha1.DecisionComplete, When: v1alpha1.DecisionRuleAllChecksPassed,
		}
	})
	if !acme.Spec.Suspend {
		w.Error("Argo CD removed a field that is not in Git")
	}
	w.PatchSpec("acme", `{"suspend":null}`)
	w.apply()
	w.applied()
	w.WaitUntilReady("acme")
}

// frozenField has an edit that the API server refuses. Argo CD applies what else has changed, and when the edit is
// undone, the next attempt takes the new commit.
func (w *world) frozenField() {
	before := w.WaitUntilReady("acme")
	w.Files[cluster.MandatesDir+"initech.yaml"] = cluster.Initech
	w.Replace("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	w.ReplaceAndPublish("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
	message := w.fails()
	w.Logf("Argo CD reports: %s", message)
	if !strings.Contains(message, "Mandate/acme") || !strings.Contains(message, "spec.reference") {
		w.Errorf("Argo CD does not name the Mandate and the field: %s", message)
	}
	w.WaitUntilReady("initech")
	if after := w.WaitUntilReady("acme"); after.UID != before.UID || after.Generation != before.Generation {
		w.Errorf("the Mandate was changed: %+v", after)
	}
	w.ReplaceAndPublish("acme.yaml", "  reference: ACME-2\n", "")
	w.applied()
	w.WaitUntilReady("acme")
}
