package argocd

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/gitops/cluster"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// kubectlOwns has Argo CD sync while kubectl's fields differ from Git. It also shows that a suspended Mandate does not
// hold up a sync.
func (w *world) kubectlOwns() {
	w.PatchSpec("acme", `{"suspend":true,"decision":"Reject"}`)
	w.Reason("acme", v1alpha1.ReasonSuspended)
	w.Edit("globex.yaml", "  name: globex\n", "  name: globex\n  labels: {edited: again}\n")
	w.synced()
	a := w.until(onboarding, "Suspended", func(a *application) bool { return a.Status.Health.Status == "Suspended" })
	if got := a.healthOf("Mandate", "acme"); got != "Suspended" {
		w.Errorf("the health of the suspended Mandate is %q", got)
	}
	if spec := w.Reason("acme", v1alpha1.ReasonSuspended).Spec; !spec.Suspend || spec.Decision != v1alpha1.DecisionReject {
		w.Errorf("Argo CD changed what kubectl had set: %+v", spec)
	}
	w.PatchSpec("acme", `{"suspend":null,"decision":"Complete"}`)
	w.Ready("acme")

	globex := w.Ready("globex")
	_, err := w.Sandbox.Play(w.Context(), control.Play{
		ApplicationID: *globex.Status.ApplicationID, Result: control.ResultFail,
	})
	w.Check(err)
	w.PatchSpec("globex", `{"decision":"Reject"}`)
	w.Mandate("globex", "rejected", func(m *v1alpha1.Mandate) bool { return m.Status.Outcome == v1alpha1.OutcomeRejected })
	w.Edit("globex.yaml", "  labels: {edited: again}\n", "")
	w.applied()
	if got := w.Ready("globex").Spec.Decision; got != v1alpha1.DecisionReject {
		w.Errorf("Argo CD changed spec.decision to %q", got)
	}
}

func (w *world) reverted() {
	w.patchApplication(onboarding, `{"spec":{"ignoreDifferences":null}}`)
	w.PatchSpec("acme", `{"suspend":true,"decision":"Reject"}`)
	acme := w.Mandate("acme", "reverted", func(m *v1alpha1.Mandate) bool {
		return m.Spec.Decision == v1alpha1.DecisionComplete
	})
	if !acme.Spec.Suspend {
		w.Error("Argo CD removed a field that is not in Git")
	}
	w.PatchSpec("acme", `{"suspend":null}`)
	w.apply()
	w.applied()
	w.Ready("acme")
}

// frozenField has an edit that the API server refuses. Argo CD applies what else has changed, and when the edit is
// undone, the next attempt takes the new commit.
func (w *world) frozenField() {
	before := w.Ready("acme")
	w.Files[cluster.MandatesDir+"initech.yaml"] = cluster.Initech
	w.Change("kustomization.yaml", "- globex.yaml\n", "- globex.yaml\n- initech.yaml\n")
	w.Edit("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
	message := w.fails()
	w.Logf("Argo CD reports: %s", message)
	if !strings.Contains(message, "Mandate/acme") || !strings.Contains(message, "spec.reference") {
		w.Errorf("Argo CD does not name the Mandate and the field: %s", message)
	}
	w.Ready("initech")
	if after := w.Ready("acme"); after.UID != before.UID || after.Generation != before.Generation {
		w.Errorf("the Mandate was changed: %+v", after)
	}
	w.Edit("acme.yaml", "  reference: ACME-2\n", "")
	w.applied()
	w.Ready("acme")
}

// With Force and Replace, Argo CD deletes the Mandate and creates it again. It gets no second application, and has the
// first one again when the edit is undone. One of them alone changes nothing.
func (w *world) forced() {
	const force, replace = ",Force=true", ",Replace=true"
	for options, refusal := range map[string]string{force: "--force cannot be used", replace: "spec.reference"} {
		w.options("", options)
		w.Edit("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
		if message := w.fails(); !strings.Contains(message, refusal) {
			w.Errorf("%s: Argo CD reports %q, want %q", options, message, refusal)
		}
		w.options(options, "")
		w.Edit("acme.yaml", "  reference: ACME-2\n", "")
		w.applied()
	}
	w.options("", force+replace)
	for _, edit := range []struct{ old, replacement, reason string }{
		{"code: kyc", "code: identity", v1alpha1.ReasonSpecDiffers},
		{"name: director", "name: owner", v1alpha1.ReasonSpecDiffers},
		{"spec:\n", "spec:\n  reference: ACME-2\n", v1alpha1.ReasonApplicationExists},
	} {
		before := w.Ready("acme")
		w.Edit("acme.yaml", edit.old, edit.replacement)
		w.synced()
		if again := w.Reason("acme", edit.reason); again.UID == before.UID {
			w.Errorf("%q: Argo CD did not create the Mandate again", edit.replacement)
		}
		w.until(onboarding, "Degraded", func(a *application) bool { return a.healthOf("Mandate", "acme") == "Degraded" })
		w.Edit("acme.yaml", edit.replacement, edit.old)
		if edit.reason == v1alpha1.ReasonApplicationExists {
			w.replacedFieldStays()
		}
		w.applied()
		w.SameApplication(before)
	}
	w.options(force+replace, "")
	w.Publish()
	w.applied()
}

// options changes the sync options of all Mandates.
func (w *world) options(old, replacement string) {
	w.Helper()
	const all = "sync-options: Prune=confirm,Delete=confirm"
	w.Change("kustomization.yaml", all+old+"\n", all+replacement+"\n")
}

// replacedFieldStays shows what follows when Git does not have a field any more that Replace has written: Argo CD finds
// no difference, because no server-side apply of its own set the field. A new Mandate is as Git has it.
func (w *world) replacedFieldStays() {
	w.Helper()
	w.until(onboarding, "Synced", func(a *application) bool {
		return a.Status.Sync.Revision == w.revision && a.Status.Sync.Status == "Synced"
	})
	w.Reason("acme", v1alpha1.ReasonApplicationExists)
	w.Kubectl("delete", "mandate", "acme", "--namespace", cluster.Namespace)
}

// A Mandate that needs a person is Degraded within seconds. It does not hold up the sync, unless something is in a later
// wave.
func (w *world) stalls() {
	w.Change("kustomization.yaml", "- initech.yaml\n", "- hooli.yaml\n- initech.yaml\n")
	w.Files[cluster.MandatesDir+"hooli.yaml"] = hooli
	w.Kubectl("create", "secret", "generic", "hooli-signer", "--namespace", cluster.Namespace,
		"--from-literal=email="+cluster.NoAddress)
	w.Publish()
	w.synced()
	w.until(onboarding, "Degraded", func(a *application) bool { return a.Status.Health.Status == "Degraded" })
	w.Reason("hooli", v1alpha1.ReasonSecretInvalid)
	w.Ready("acme")

	w.Files[cluster.MandatesDir+"acme-resend.yaml"] = acmeResend
	w.Edit("kustomization.yaml", "- acme.yaml\n", "- acme.yaml\n- acme-resend.yaml\n")
	a := w.until(onboarding, "held up", func(a *application) bool {
		return strings.Contains(a.Status.OperationState.Message, "completed unsuccessfully")
	})
	w.HoldsNoPersonalData("the Application", a.text)
	w.Gone(&v1alpha1.MandateAction{}, "acme-resend")

	w.Kubectl("patch", "secret", "hooli-signer", "--namespace", cluster.Namespace,
		`--patch={"stringData":{"email":"signer@hooli.example"}}`)
	w.Kubectl("annotate", "mandate", "hooli", "--namespace", cluster.Namespace,
		"idv.mandate.io/reconcile-requested-at=1")
	w.Ready("hooli")
	w.applied()
	w.Action("acme-resend", v1alpha1.ReasonCarriedOut)
	w.heldUp()
	w.Edit("initech.yaml", "email: tenant@", "email: second.tenant@")
	w.Logf("Argo CD reports: %s", w.fails())
	w.Edit("initech.yaml", "email: second.tenant@", "email: tenant@")
	w.applied()
}

// heldUp shows that Argo CD applies no newer commit while a sync waits for a Mandate, because something is in a later
// wave.
func (w *world) heldUp() {
	w.Helper()
	const label = "  labels: {edited: again}\n"
	w.PatchSpec("acme", `{"suspend":true}`)
	w.Reason("acme", v1alpha1.ReasonSuspended)
	w.Edit("initech.yaml", "  name: initech\n", "  name: initech\n"+label)
	waiting := w.waits("idv.mandate.io/Mandate/acme").Status.OperationState.SyncResult.Revision
	w.Edit("initech.yaml", label, "")
	w.until(onboarding, "held up", func(a *application) bool {
		state := a.Status.OperationState
		return a.Status.Sync.Revision == w.revision && state.SyncResult.Revision == waiting && state.Phase == "Running"
	})
	w.PatchSpec("acme", `{"suspend":null}`)
	w.applied()
}

// hooli has a Secret without an address, and no e-mail is sent.
const hooli = `apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata:
  name: hooli
spec:
  mandateType:
    code: kyc
  suppressEmailNotification: true
  individuals:
  - name: signer
    detailsSecretRef:
      name: hooli-signer
`

const acmeResend = `apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata:
  name: acme-resend
  annotations:
    argocd.argoproj.io/sync-wave: "1"
spec:
  mandateRef:
    name: acme
  individual: director
  type: ResendInvite
`
