package connection

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Service is an IdentityService or a ClusterIdentityService.
type Service interface {
	client.Object
	Settings() *v1alpha1.ServiceSettings
	CredentialsSecret() v1alpha1.NamespacedSecretReference
	ServiceStatus() *v1alpha1.IdentityServiceStatus
}

// NewService makes an empty one of the Key's kind.
func (k Key) NewService() Service {
	if k.Kind == v1alpha1.ServiceKindClusterIdentityService {
		return &v1alpha1.ClusterIdentityService{}
	}
	return &v1alpha1.IdentityService{}
}

// KeyOfService names a service.
func KeyOfService(service client.Object) Key {
	key := Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: service.GetNamespace(), Name: service.GetName()}
	if _, ok := service.(*v1alpha1.ClusterIdentityService); ok {
		key.Kind = v1alpha1.ServiceKindClusterIdentityService
	}
	return key
}

// Access says whether the Mandates of a namespace may use a service.
type Access int

// The answers.
const (
	Absent Access = iota // there is no such service
	Denied               // it is not for this namespace
	Granted
)

// Find reads the service of a Key for the Mandates of a namespace. clusterServices false says that the operator may not read
// ClusterIdentityServices and namespaces: then nothing is known of them, and they are Denied.
func Find(ctx context.Context, reader client.Reader, clusterServices bool, key Key, namespace string) (Service, Access, error) {
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService && !clusterServices {
		return nil, Denied, nil
	}
	service := key.NewService()
	if err := reader.Get(ctx, key.ObjectKey(), service); err != nil {
		return nil, Absent, client.IgnoreNotFound(err)
	}
	shared, ok := service.(*v1alpha1.ClusterIdentityService)
	if !ok {
		return service, Granted, nil
	}
	selector, err := NamespaceSelector(shared)
	if err != nil || selector.Empty() {
		return service, accessIf(err == nil), nil //nolint:nilerr // a selector that cannot be read selects nothing; the service says so
	}
	found := NewNamespace()
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, found); err != nil {
		return service, Denied, err // not found is a cache that is behind: there is a Mandate in it
	}
	return service, accessIf(selector.Matches(labels.Set(found.Labels))), nil
}

func accessIf(granted bool) Access {
	if granted {
		return Granted
	}
	return Denied
}

// NamespaceSelector of a ClusterIdentityService: without one it selects nothing, and an empty one selects everything. That
// is how Kubernetes reads a LabelSelector.
func NamespaceSelector(service *v1alpha1.ClusterIdentityService) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(service.Spec.NamespaceSelector)
}

// NewNamespace is for reading the labels of a namespace, and nothing else of it.
func NewNamespace() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}
