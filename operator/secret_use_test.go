package operator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// unlabelled stores a Secret that does not say what it is for.
func (w *world) unlabelled(name string, kind corev1.SecretType, data map[string]string) {
	w.Helper()
	w.check(w.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name,
			Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"},
		},
		Type: kind, StringData: data,
	}))
}

// The operator sends nothing of a Secret that was not meant for it, and notices the label by itself.
func TestSecretNotForThis(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.kubectl("create", "serviceaccount", "default")
	good := map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword}
	w.unlabelled("registry", corev1.SecretTypeOpaque, good)
	w.unlabelled("token", corev1.SecretTypeServiceAccountToken, good)
	w.unlabelled("jane", corev1.SecretTypeOpaque, map[string]string{"email": "jane@example.com"})
	w.newService("default", `baseURL: "`+w.url+`", credentialsSecretRef: {name: token}`)
	w.start()
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretNotForThis)
	w.patchService(`{credentialsSecretRef: {name: registry}}`)
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretNotForThis)
	w.kubectl("label", "secret/registry", "idv.mandate.io/use=notifications.individual")
	w.request("identityservice/default", "again")
	w.eventually(func() (bool, string) {
		return w.service("default").Status.LastHandledReconcileAt == "again", "the label was not seen"
	})
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretNotForThis)
	if logins := w.requests(control.Token); logins != 0 {
		t.Errorf("%d logins with a Secret that is for something else", logins)
	}
	w.kubectl("label", "secret/registry", "--overwrite", "idv.mandate.io/use=credentials")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)

	w.mandate("acme", "{individuals: [{name: jane, detailsSecretRef: {name: jane}}]}")
	w.condition("acme", v1alpha1.ConditionResolvedRefs, metav1.ConditionFalse, v1alpha1.ReasonSecretNotForThis)
	w.stalled("acme", v1alpha1.ReasonSecretNotForThis)
	if records := w.records(); len(records) != 0 {
		t.Errorf("a record was claimed: %+v", records)
	}
	w.emails(0)
	w.kubectl("label", "secret/jane", "idv.mandate.io/use=individual")
	w.ready("acme")
	w.emails(1)

	w.kubectl("label", "secret/jane", "idv.mandate.io/use-") // the application exists
	w.kubectl("label", "secret/registry", "--overwrite", "idv.mandate.io/use=individual")
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretNotForThis)
	w.kubectl("label", "secret/registry", "--overwrite", "idv.mandate.io/use=individual.credentials")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.requestRead("acme")
	w.ready("acme")
	w.emails(1)
}
