package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// WaitForConnectionFirst waits until the connection lacks its Secret, and checks that there are no Mandates yet.
func (c *Cluster) WaitForConnectionFirst() {
	c.Helper()
	c.Eventually(func() (bool, string) {
		reason := c.Kubectl("get", "identityservices", "--namespace", Namespace,
			`--output=jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}`)
		return reason == v1alpha1.ReasonSecretNotFound, "the connection has the reason " + reason
	})
	if got := c.Kubectl("get", "mandates", "--namespace", Namespace, "--output=name"); got != "" {
		c.Errorf("there are Mandates before their connection: %s", got)
	}
}

// CreateSecrets creates those that the examples name, as a secret store does, and has the connection look for its own.
func (c *Cluster) CreateSecrets() {
	c.Helper()
	uses := map[string]string{v1alpha1.SecretUseLabel: "credentials.individual"}
	for name, data := range map[string]map[string]string{
		"idv":              {"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword},
		"acme-director":    {"email": Director},
		"globex-applicant": {"email": Applicant},
	} {
		c.Check(c.Create(c.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, Labels: uses}, StringData: data,
		}))
	}
	// The operator looks for the Secret every 20 seconds, and at once when it is asked.
	c.Kubectl("annotate", "identityservice", "default", "--namespace", Namespace,
		"idv.mandate.io/reconcile-requested-at=1")
}
