package flux

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func (w *world) kubectlOwns() {
	w.patch("acme", `{"suspend":true}`)
	w.reason("acme", v1alpha1.ReasonSuspended)
	w.reconcile()
	if !w.reason("acme", v1alpha1.ReasonSuspended).Spec.Suspend {
		w.Error("Flux removed spec.suspend")
	}
	w.patch("acme", `{"suspend":null}`)
	w.ready("acme")

	globex := w.ready("globex")
	_, err := w.sandbox.Play(w.Context(), control.Play{
		ApplicationID: *globex.Status.ApplicationID, Result: control.ResultFail,
	})
	w.check(err)
	w.patch("globex", `{"decision":"Reject"}`)
	w.mandate("globex", "rejected", func(m *v1alpha1.Mandate) bool { return m.Status.Outcome == v1alpha1.OutcomeRejected })
	w.reconcile()
	if got := w.ready("globex").Spec.Decision; got != v1alpha1.DecisionReject {
		w.Errorf("Flux changed spec.decision to %q", got)
	}
}

func (w *world) withoutMerge() {
	const annotation = "  kustomize.toolkit.fluxcd.io/ssa: Merge\n"
	w.edit("kustomization.yaml", annotation, "  kustomize.toolkit.fluxcd.io/ssa: Override\n")
	w.applied()
	w.patch("acme", `{"suspend":true}`)
	w.reconcile()
	if w.ready("acme").Spec.Suspend {
		w.Error("spec.suspend stays")
	}
	w.edit("kustomization.yaml", "  kustomize.toolkit.fluxcd.io/ssa: Override\n", annotation)
	w.applied()
}

// A refused edit changes nothing, and holds up everything else in the same Kustomization.
func (w *world) frozenField() {
	before := w.ready("acme")
	w.git.files[mandatesDir+"initech.yaml"] = initech
	w.edit("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	w.edit("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
	message := w.fails("ReconciliationFailed")
	w.Logf("Flux reports: %s", message)
	if !strings.Contains(message, "Mandate/onboarding/acme") || !strings.Contains(message, "spec.reference") {
		w.Errorf("Flux does not name the Mandate and the field: %s", message)
	}
	if after := w.ready("acme"); after.UID != before.UID || after.Generation != before.Generation {
		w.Errorf("the Mandate was changed: %+v", after)
	}
	w.gone(&v1alpha1.Mandate{}, "initech")
	w.edit("acme.yaml", "  reference: ACME-2\n", "")
	w.edit("kustomization.yaml", "- initech.yaml\n", "")
	w.applied()
	w.ready("acme")
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
		before := w.ready("acme")
		w.edit("acme.yaml", edit.old, edit.replacement)
		message := w.fails("HealthCheckFailed")
		w.Logf("%q: Flux reports: %s", edit.replacement, message)
		if again := w.reason("acme", edit.reason); again.UID == before.UID {
			w.Errorf("%q: Flux did not create the Mandate again", edit.replacement)
		}
		w.edit("acme.yaml", edit.replacement, edit.old)
		w.applied()
		w.sameApplication(before)
	}
	w.force(false)
	w.reconcile()
}

// A Mandate that needs a person fails the Kustomization at once, not after its timeout. The other Mandates are as
// before.
func (w *world) stalls() {
	w.git.files[mandatesDir+"initech.yaml"] = strings.Replace(initech, "code: identity", "code: none-such", 1)
	w.edit("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	message := w.fails("HealthCheckFailed")
	w.Logf("Flux reports: %s", message)
	w.reason("initech", v1alpha1.ReasonMandateTypeNotFound)
	w.ready("acme")
	w.eventually(func() (bool, string) {
		events := w.alerts.all()
		return strings.Contains(events, "Mandate/onboarding/initech"), "no alert names the Mandate: " + events
	})

	w.edit("initech.yaml", "code: none-such", "code: identity")
	w.applied()
	w.ready("initech")
	w.edit("initech.yaml", "email: tenant@", "email: second.tenant@")
	message = w.fails("ReconciliationFailed")
	w.Logf("Flux reports: %s", message)
	w.holdsNoPersonalData("the status of the Kustomization", message)
	w.edit("initech.yaml", "email: second.tenant@", "email: tenant@")
	w.applied()
}

// initech has its individual in Git, and no e-mail is sent.
const initech = `apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata:
  name: initech
spec:
  mandateType:
    code: identity
  suppressEmailNotification: true
  individuals:
  - name: tenant
    email: tenant@initech.example
`
