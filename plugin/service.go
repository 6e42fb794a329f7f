package plugin

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// service is an IdentityService or a ClusterIdentityService.
type service interface {
	client.Object
	Settings() *v1alpha1.ServiceSettings
	CredentialsSecret() v1alpha1.NamespacedSecretReference
	ServiceStatus() *v1alpha1.IdentityServiceStatus
}

// emptyService is a service of which only the name is known.
func emptyService(key plan.ObjectKey) service {
	if key.Kind == kindClusterService {
		return &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
	}
	return &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

// serviceOf names the service of a Mandate, which may lack the defaults of the API server.
func serviceOf(m *v1alpha1.Mandate) plan.ObjectKey {
	name := cmp.Or(m.Spec.ServiceRef.Name, "default")
	if m.Spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
		return plan.ObjectKey{Kind: kindClusterService, Name: name}
	}
	return plan.ObjectKey{Kind: kindService, Namespace: m.Namespace, Name: name}
}

// serviceFlags name a connection instead of a Mandate.
type serviceFlags struct{ namespaced, clusterWide string }

func (f *serviceFlags) addTo(command *cobra.Command) {
	command.Flags().StringVar(&f.namespaced, "identityservice", "",
		"Use the IdentityService with this name. Default: none.")
	command.Flags().StringVar(&f.clusterWide, "clusteridentityservice", "",
		"Use the ClusterIdentityService with this name. Default: none.")
	command.MarkFlagsMutuallyExclusive("identityservice", "clusteridentityservice")
}

// key is the service that the flags name, if they name one.
func (f *serviceFlags) key(namespace string) (key plan.ObjectKey, named bool) {
	if f.clusterWide != "" {
		return plan.ObjectKey{Kind: kindClusterService, Name: f.clusterWide}, true
	}
	return plan.ObjectKey{Kind: kindService, Namespace: namespace, Name: f.namespaced}, f.namespaced != ""
}

// read reads a service; nil with an error.
func (c *cluster) read(ctx context.Context, key plan.ObjectKey) (service, error) {
	found := emptyService(key)
	if err := c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return nil, explainError(err)
	}
	return found, nil
}

// useSecret has a service take its credentials from a Secret.
func useSecret(s service, secret v1alpha1.NamespacedSecretReference) {
	switch s := s.(type) {
	case *v1alpha1.IdentityService:
		s.Spec.CredentialsSecretRef.Name = secret.Name
	case *v1alpha1.ClusterIdentityService:
		s.Spec.CredentialsSecretRef = secret
	}
}

// manifestOf has the name of an object, and what its spec is to be.
func manifestOf(object client.Object, spec any) map[string]any {
	metadata := map[string]any{"name": object.GetName()}
	if namespace := object.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": kindOf(object), "metadata": metadata, "spec": spec,
	}
}

// specOf is the spec of a service.
func specOf(s service) any {
	switch s := s.(type) {
	case *v1alpha1.IdentityService:
		return s.Spec
	case *v1alpha1.ClusterIdentityService:
		return s.Spec
	}
	return nil
}
