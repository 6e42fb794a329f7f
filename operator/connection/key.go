package connection

import (
	"cmp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Key names an IdentityService, or a ClusterIdentityService, which has no namespace.
type Key struct {
	Kind            v1alpha1.ServiceKind
	Namespace, Name string
}

// String is for logs and indexes.
func (k Key) String() string { return string(k.Kind) + "/" + k.Namespace + "/" + k.Name }

// ObjectKey is the name by which the API server knows it.
func (k Key) ObjectKey() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.Name}
}

// KeyOf names the service that a Mandate refers to, with the CRD's defaults for Mandates that are older than they.
func KeyOf(m *v1alpha1.Mandate) Key {
	key := Key{
		Kind:      cmp.Or(m.Spec.ServiceRef.Kind, v1alpha1.ServiceKindIdentityService),
		Namespace: m.Namespace, Name: cmp.Or(m.Spec.ServiceRef.Name, "default"),
	}
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService {
		key.Namespace = ""
	}
	return key
}

// MandateField is the index of Mandates by the Key of their service.
const MandateField = "spec.serviceRef"

// IndexMandate gives the index value of a Mandate.
func IndexMandate(object client.Object) []string {
	return []string{KeyOf(object.(*v1alpha1.Mandate)).String()} //nolint:forcetypeassert // it is registered for Mandates
}
