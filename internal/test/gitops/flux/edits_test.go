package flux

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

func (w *world) kubectlOwns() {
	w.PatchSpec("acme", `{"suspend":true}`)
	w.WaitForReason("acme", v1alpha1.ReasonSuspended)
	w.reconcile()
	if !w.WaitForReason("acme", v1alpha1.ReasonSuspended).Spec.Suspend {
		w.Error("Flux removed spec.suspend")
	}
	w.PatchSpec("acme", `{"suspend":null}`)
	w.WaitUntilReady("acme")

	w.Reject("globex")
	w.reconcile()
	if got := w.WaitUntilReady("globex").Spec.Decision; got == nil || got.Outcome != v1alpha1.DecisionReject {
		w.Errorf("Flux changed spec.decision to %+v", got)
	}
}

func (w *world) withoutMerge() {
	const annotation = "  kustomize.toolkit.fluxcd.io/ssa: Merge\n"
	w.ReplaceAndPublish("kustomization.yaml", annotation, "  kustomize.toolkit.fluxcd.io/ssa: Override\n")
	w.applied()
	w.PatchSpec("acme", `{"suspend":true}`)
	w.reconcile()
	if w.WaitUntilReady("acme").Spec.Suspend {
		w.Error("spec.suspend stays")
	}
	w.ReplaceAndPublish("kustomization.yaml", "  kustomize.toolkit.fluxcd.io/ssa: Override\n", annotation)
	w.applied()
}

// A refused edit changes nothing, and holds up everything else in the same Kustomization.
func (w *world) frozenField() {
	before := w.WaitUntilReady("acme")
	w.Files[cluster.MandatesDir+"initech.yaml"] = cluster.Initech
	w.ReplaceAndPublish("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	w.ReplaceAndPublish("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
	message := w.fails("ReconciliationFailed")
	w.Logf("Flux reports: %s", message)
	if !strings.Contains(message, "Mandate/onboarding/acme") || !strings.Contains(message, "spec.reference") {
		w.Errorf("Flux does not name the Mandate and the field: %s", message)
	}
	if after := w.WaitUntilReady("acme"); after.UID != before.UID || after.Generation != before.Generation {
		w.Errorf("the Mandate was changed: %+v", after)
	}
	w.WaitUntilGone(&v1alpha1.Mandate{}, "initech")
	w.ReplaceAndPublish("acme.yaml", "  reference: ACME-2\n", "")
	w.ReplaceAndPublish("kustomization.yaml", "- initech.yaml\n", "")
	w.applied()
	w.WaitUntilReady("acme")
}

// With force, Flux deletes the Mandate and creates it again. It gets no second application, and has the first one again
// when the edit is undone.
func (w *world) forced() {
	w.force(true)
	for _, edit := range []struct{ old, replacement, reason string }{
		{"spec:\n", "spec:\n  reference: ACME-2\n", v1alpha1.ReasonApplicationExists},
		{"code: kyc", "code: identity", v1alpha1.ReasonSpecDiffers},
		{"name: director", "name: owner", v1alpha1.ReasonSpecDiffers},
	} {
		before := w.WaitUntilReady("acme")
		w.ReplaceAndPublish("acme.yaml", edit.old, edit.replacement)
		message := w.fails("HealthCheckFailed")
		w.Logf("%q: Flux reports: %s", edit.replacement, message)
		if again := w.WaitForReason("acme", edit.reason); again.UID == before.UID {
			w.Errorf("%q: Flux did not create the Mandate again", edit.replacement)
		}
		w.ReplaceAndPublish("acme.yaml", edit.replacement, edit.old)
		w.applied()
		w.CheckSameApplication(before)
	}
	w.force(false)
	w.reconcile()
}

// A Mandate that needs a person fails the Kustomization at once, not after its timeout. The other Mandates are as
// before.
func (w *world) stalls() {
	w.Files[cluster.MandatesDir+"initech.yaml"] = strings.Replace(cluster.Initech, "code: identity", "code: none-such", 1)
	w.ReplaceAndPublish("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	message := w.fails("HealthCheckFailed")
	w.Logf("Flux reports: %s", message)
	w.WaitForReason("initech", v1alpha1.ReasonMandateTypeNotFound)
	w.WaitUntilReady("acme")
	w.Eventually(func() (bool, string) {
		events := w.alerts.all()
		return strings.Contains(events, "Mandate/onboarding/initech"), "no alert names the Mandate: " + events
	})

	w.ReplaceAndPublish("initech.yaml", "code: none-such", "code: identity")
	w.applied()
	w.WaitUntilReady("initech")
	w.ReplaceAndPublish("initech.yaml", "email: tenant@", "email: second.tenant@")
	message = w.fails("ReconciliationFailed")
	w.Logf("Flux reports: %s", message)
	w.CheckNoPersonalData("the status of the Kustomization", message)
	w.ReplaceAndPublish("initech.yaml", "email: second.tenant@", "email: tenant@")
	w.applied()
}
