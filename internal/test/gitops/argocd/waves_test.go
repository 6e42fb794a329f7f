package argocd

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

// A Mandate that needs a person is Degraded within seconds. It does not hold up the sync, unless something is in a
// later wave.
func (w *world) stalls() {
	w.Replace("kustomization.yaml", "- initech.yaml\n", "- hooli.yaml\n- initech.yaml\n")
	w.Files[cluster.MandatesDir+"hooli.yaml"] = hooli
	w.Kubectl("create", "secret", "generic", "hooli-signer", "--namespace", cluster.Namespace,
		"--from-literal=email="+cluster.NoAddress)
	w.Kubectl("label", "secret", "hooli-signer", "--namespace", cluster.Namespace, v1alpha1.SecretUseLabel+"=individual")
	w.Publish()
	w.synced()
	w.until(onboarding, "Degraded", func(a *application) bool { return a.Status.Health.Status == "Degraded" })
	w.WaitForReason("hooli", v1alpha1.ReasonSecretInvalid)
	w.WaitUntilReady("acme")

	w.Files[cluster.MandatesDir+"acme-resend.yaml"] = acmeResend
	w.ReplaceAndPublish("kustomization.yaml", "- acme.yaml\n", "- acme.yaml\n- acme-resend.yaml\n")
	a := w.until(onboarding, "held up", func(a *application) bool {
		return strings.Contains(a.Status.OperationState.Message, "completed unsuccessfully")
	})
	w.CheckNoPersonalData("the Application", a.text)
	w.WaitUntilGone(&v1alpha1.MandateAction{}, "acme-resend")

	w.Kubectl("patch", "secret", "hooli-signer", "--namespace", cluster.Namespace,
		`--patch={"stringData":{"email":"signer@hooli.example"}}`)
	w.Kubectl("annotate", "mandate", "hooli", "--namespace", cluster.Namespace,
		"idv.mandate.io/reconcile-requested-at=1")
	w.WaitUntilReady("hooli")
	w.applied()
	w.WaitForAction("acme-resend", v1alpha1.ReasonCarriedOut)
	w.heldUp()
	w.ReplaceAndPublish("initech.yaml", "email: tenant@", "email: second.tenant@")
	w.Logf("Argo CD reports: %s", w.fails())
	w.ReplaceAndPublish("initech.yaml", "email: second.tenant@", "email: tenant@")
	w.applied()
}

// heldUp shows that Argo CD applies no newer commit while a sync waits for a Mandate, because something is in a later
// wave.
func (w *world) heldUp() {
	w.Helper()
	const label = "  labels: {edited: again}\n"
	w.PatchSpec("acme", `{"suspend":true}`)
	w.WaitForReason("acme", v1alpha1.ReasonSuspended)
	w.ReplaceAndPublish("initech.yaml", "  name: initech\n", "  name: initech\n"+label)
	waiting := w.waits("idv.mandate.io/Mandate/acme").Status.OperationState.SyncResult.Revision
	w.ReplaceAndPublish("initech.yaml", label, "")
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
