package secrets

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A Secret is read for what it says that it is for, and for nothing else.
func TestGet(t *testing.T) {
	label := func(uses string) map[string]string { return map[string]string{v1alpha1.SecretUseLabel: uses} }
	for name, tc := range map[string]struct {
		labels map[string]string
		kind   corev1.SecretType
		good   bool
	}{
		"its label":                      {labels: label("credentials"), good: true},
		"one of its uses":                {labels: label("individual.credentials.notifications"), good: true},
		"its type":                       {kind: "idv.mandate.io/credentials", good: true},
		"its label, with another type":   {labels: label("credentials"), kind: "idv.mandate.io/individual", good: true},
		"another label":                  {labels: label("individual")},
		"another label, with its type":   {labels: label("individual"), kind: "idv.mandate.io/credentials"},
		"an empty label, with its type":  {labels: label(""), kind: "idv.mandate.io/credentials"},
		"a label with more letters":      {labels: label("credentials2")},
		"a label with other letter case": {labels: label("Credentials")},
		"another type":                   {kind: "idv.mandate.io/notifications"},
		"no label, and the default type": {kind: corev1.SecretTypeOpaque},
		"a ServiceAccount's token":       {kind: corev1.SecretTypeServiceAccountToken},
		"a registry's password":          {kind: corev1.SecretTypeDockerConfigJson},
		"a basic-auth Secret":            {kind: corev1.SecretTypeBasicAuth},
		"a release of Helm":              {kind: "helm.sh/release.v1", labels: map[string]string{"owner": "helm"}},
	} {
		stored := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "idv", Labels: tc.labels}, Type: tc.kind,
			Data: map[string][]byte{"password": []byte("canary")},
		}
		reader := fake.NewClientBuilder().WithObjects(stored).Build()
		named := v1alpha1.NamespacedSecretReference{Namespace: "team", Name: "idv"}
		got, err := Get(t.Context(), reader, named, v1alpha1.SecretUseCredentials)
		good, refused := err == nil && len(got.Data) == 1, errors.Is(err, ErrNotForThis) && got.Data == nil
		if good != tc.good || refused == tc.good {
			t.Errorf("%s: %v, with %d keys", name, err, len(got.Data))
		}
		named.Name = "other"
		_, err = Get(t.Context(), reader, named, v1alpha1.SecretUseCredentials)
		if !apierrors.IsNotFound(err) {
			t.Errorf("another name: %v", err)
		}
	}
}
