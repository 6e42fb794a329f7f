package argocd

import (
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops/cluster"
)

// With Force and Replace, Argo CD deletes the Mandate and creates it again. It gets no second application, and has the
// first one again when the edit is undone. One of them alone changes nothing.
func (w *world) forced() {
	const force, replace = ",Force=true", ",Replace=true"
	for options, refusal := range map[string]string{force: "--force cannot be used", replace: "spec.reference"} {
		w.options("", options)
		w.ReplaceAndPublish("acme.yaml", "spec:\n", "spec:\n  reference: ACME-2\n")
		if message := w.fails(); !strings.Contains(message, refusal) {
			w.Errorf("%s: Argo CD reports %q, want %q", options, message, refusal)
		}
		w.options(options, "")
		w.ReplaceAndPublish("acme.yaml", "  reference: ACME-2\n", "")
		w.applied()
	}
	w.options("", force+replace)
	for _, edit := range []struct{ old, replacement, reason string }{
		{"code: kyc", "code: identity", v1alpha1.ReasonSpecDiffers},
		{"name: director", "name: owner", v1alpha1.ReasonSpecDiffers},
		{"spec:\n", "spec:\n  reference: ACME-2\n", v1alpha1.ReasonApplicationExists},
	} {
		before := w.WaitUntilReady("acme")
		w.ReplaceAndPublish("acme.yaml", edit.old, edit.replacement)
		w.synced()
		if again := w.WaitForReason("acme", edit.reason); again.UID == before.UID {
			w.Errorf("%q: Argo CD did not create the Mandate again", edit.replacement)
		}
		w.until(onboarding, "Degraded", func(a *application) bool { return a.healthOf("Mandate", "acme") == "Degraded" })
		w.ReplaceAndPublish("acme.yaml", edit.replacement, edit.old)
		if edit.reason == v1alpha1.ReasonApplicationExists {
			w.replacedFieldStays()
		}
		w.applied()
		w.CheckSameApplication(before)
	}
	w.options(force+replace, "")
	w.Publish()
	w.applied()
}

// options changes the sync options of all Mandates.
func (w *world) options(old, replacement string) {
	w.Helper()
	const all = "sync-options: Prune=confirm,Delete=confirm"
	w.Replace("kustomization.yaml", all+old+"\n", all+replacement+"\n")
}

// replacedFieldStays shows what follows when Git does not have a field any more that Replace has written: Argo CD finds
// no difference, because no server-side apply of its own set the field. A new Mandate is as Git has it.
func (w *world) replacedFieldStays() {
	w.Helper()
	w.until(onboarding, "Synced", func(a *application) bool {
		return a.Status.Sync.Revision == w.revision && a.Status.Sync.Status == "Synced"
	})
	w.WaitForReason("acme", v1alpha1.ReasonApplicationExists)
	w.Kubectl("delete", "mandate", "acme", "--namespace", cluster.Namespace)
}
