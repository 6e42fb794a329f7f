package flux

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	connection = "onboarding-connection"
	mandates   = "onboarding"
)

// kustomization is what the tests read of a Kustomization of Flux.
type kustomization struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		ObservedGeneration     int64              `json:"observedGeneration"`
		Conditions             []metav1.Condition `json:"conditions"`
		LastAttemptedRevision  string             `json:"lastAttemptedRevision"`
		LastHandledReconcileAt string             `json:"lastHandledReconcileAt"`
	} `json:"status"`
}

// until waits until Ready of a Kustomization has a status and a reason, and returns its message.
func (w *world) until(name, status, reason string, further func(*kustomization) bool) (message string) {
	w.Helper()
	w.Eventually(func() (bool, string) {
		shown := w.Kubectl("get", "kustomization", name, "--namespace", fluxNamespace, "--output=yaml")
		k := &kustomization{}
		w.Check(yaml.Unmarshal([]byte(shown), k))
		ready := meta.FindStatusCondition(k.Status.Conditions, "Ready")
		if ready == nil {
			return false, shown
		}
		message = ready.Message
		return string(ready.Status) == status && (reason == "" || ready.Reason == reason) &&
			ready.ObservedGeneration == k.Generation && further(k), shown
	})
	return message
}

// applied waits until Flux has applied the latest commit, and all of it is healthy.
func (w *world) applied() {
	w.Helper()
	for _, name := range []string{connection, mandates} {
		w.until(name, "True", "", w.isLatest)
	}
}

// fails waits until Flux cannot apply the Mandates of the latest commit, or reports one of them as failed.
func (w *world) fails(reason string) (message string) {
	w.Helper()
	return w.until(mandates, "False", reason, w.isLatest)
}

func (w *world) isLatest(k *kustomization) bool { return k.Status.LastAttemptedRevision == w.revision }

// reconcile has Flux apply the Mandates again, as `flux reconcile` does, and waits until they are healthy.
func (w *world) reconcile() {
	w.Helper()
	request := fmt.Sprint(time.Now().UnixNano())
	w.Kubectl("annotate", "--overwrite", "kustomization", mandates, "--namespace", fluxNamespace,
		"reconcile.fluxcd.io/requestedAt="+request)
	w.until(mandates, "True", "", func(k *kustomization) bool { return k.Status.LastHandledReconcileAt == request })
}

// force sets spec.force of the Kustomization, which the documentation advises against.
func (w *world) force(enabled bool) {
	w.Helper()
	w.Kubectl("patch", "kustomization", mandates, "--namespace", fluxNamespace, "--type=merge",
		fmt.Sprintf("--patch={\"spec\":{\"force\":%t}}", enabled))
}
