package plugin

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// service is an IdentityService or a ClusterIdentityService.
type service interface {
	client.Object
	Settings() *v1alpha1.ServiceSettings
	CredentialsSecret() v1alpha1.NamespacedSecretReference
	ServiceStatus() *v1alpha1.IdentityServiceStatus
}

// serviceKey names a service. A ClusterIdentityService has no namespace.
type serviceKey struct {
	kind            v1alpha1.ServiceKind
	namespace, name string
}

// empty is a service of this name, of which nothing has been read.
func (k serviceKey) empty() service {
	if k.kind == v1alpha1.ServiceKindClusterIdentityService {
		return &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: k.name}}
	}
	return &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: k.name}}
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
func (f *serviceFlags) key(namespace string) (key serviceKey, named bool) {
	if f.clusterWide != "" {
		return serviceKey{kind: v1alpha1.ServiceKindClusterIdentityService, name: f.clusterWide}, true
	}
	return serviceKey{v1alpha1.ServiceKindIdentityService, namespace, f.namespaced}, f.namespaced != ""
}

// read reads a service.
func (c *cluster) read(ctx context.Context, key serviceKey) (service, error) {
	found := key.empty()
	return found, explainError(c.Get(ctx, client.ObjectKeyFromObject(found), found))
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

// kindOf is the kind of a service, which objects from the API server do not say.
func kindOf(s service) string {
	if _, ok := s.(*v1alpha1.ClusterIdentityService); ok {
		return string(v1alpha1.ServiceKindClusterIdentityService)
	}
	return string(v1alpha1.ServiceKindIdentityService)
}

// manifest is the service as a manifest: its name and its spec.
func manifest(s service) (string, error) {
	kind := metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: kindOf(s)}
	name := metav1.ObjectMeta{Namespace: s.GetNamespace(), Name: s.GetName()}
	var clean any
	switch s := s.(type) {
	case *v1alpha1.IdentityService:
		clean = &v1alpha1.IdentityService{TypeMeta: kind, ObjectMeta: name, Spec: s.Spec}
	case *v1alpha1.ClusterIdentityService:
		clean = &v1alpha1.ClusterIdentityService{TypeMeta: kind, ObjectMeta: name, Spec: s.Spec}
	}
	text, err := yaml.Marshal(clean)
	return string(text), err
}
