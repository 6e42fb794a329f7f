package connection

import (
	"cmp"
	"context"

	"golang.org/x/sync/singleflight"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/keymutex"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
)

// Key names an IdentityService, or a ClusterIdentityService, which has no namespace.
type Key struct {
	Kind            v1alpha1.ServiceKind
	Namespace, Name string
}

// String is for logs and indexes.
func (k Key) String() string { return string(k.Kind) + "/" + k.Namespace + "/" + k.Name }

// NotificationPath is the path of the service's notifications, without the token.
func (k Key) NotificationPath() string { return receiver.Path(k.Namespace, k.Name) }

// ObjectKey is the name by which the API server knows it.
func (k Key) ObjectKey() client.ObjectKey {
	return client.ObjectKey{Namespace: k.Namespace, Name: k.Name}
}

// NewService makes an empty service of the Key's kind.
func (k Key) NewService() Service {
	if k.Kind == v1alpha1.ServiceKindClusterIdentityService {
		return &v1alpha1.ClusterIdentityService{}
	}
	return &v1alpha1.IdentityService{}
}

// KeyOf names the service that a Mandate refers to.
func KeyOf(m *v1alpha1.Mandate) Key { return KeyOfReference(m.Spec.ServiceRef, m.Namespace) }

// KeyOfReference names the service that a reference in a namespace is to, with the CRD's defaults for Mandates that are
// older than they.
func KeyOfReference(reference v1alpha1.IdentityServiceReference, namespace string) Key {
	key := Key{
		Kind:      cmp.Or(reference.Kind, v1alpha1.ServiceKindIdentityService),
		Namespace: namespace, Name: cmp.Or(reference.Name, "default"),
	}
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService {
		key.Namespace = ""
	}
	return key
}

// KeyOfService names a service.
func KeyOfService(service client.Object) Key {
	key := Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: service.GetNamespace(), Name: service.GetName()}
	if _, ok := service.(*v1alpha1.ClusterIdentityService); ok {
		key.Kind = v1alpha1.ServiceKindClusterIdentityService
	}
	return key
}

// MandateField is the index of Mandates by the Key of their service.
const MandateField = "spec.serviceRef"

// IndexMandate gives the index value of a Mandate.
func IndexMandate(object client.Object) []string {
	return []string{KeyOf(object.(*v1alpha1.Mandate)).String()} //nolint:forcetypeassert // it is registered for Mandates
}

// Service is an IdentityService or a ClusterIdentityService.
type Service interface {
	client.Object
	Settings() *v1alpha1.ServiceSettings
	CredentialsSecret() v1alpha1.NamespacedSecretReference
	NotificationsSecret() *v1alpha1.NamespacedSecretReference
	Subscribing() *v1alpha1.Subscribing
	NamespacedReferences() bool
	ServiceStatus() *v1alpha1.IdentityServiceStatus
}

// Access says whether the Mandates of a namespace may use a service.
type Access int

// The answers.
const (
	Absent Access = iota // there is no such service
	Denied               // it is not for this namespace
	Granted
)

// ServiceReader finds services for the Mandates of a namespace.
type ServiceReader struct {
	// Reader is a cache, or the API server.
	Reader client.Reader
	// ClusterServices: the operator may read ClusterIdentityServices and namespaces. If not, every ClusterIdentityService
	// is Denied.
	ClusterServices bool
}

// Find reads the service of a Key for the Mandates of a namespace. A service that is Absent is nil.
func (r ServiceReader) Find(ctx context.Context, key Key, namespace string) (Service, Access, error) {
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService && !r.ClusterServices {
		return nil, Denied, nil
	}
	service := key.NewService()
	if err := r.Reader.Get(ctx, key.ObjectKey(), service); err != nil {
		return nil, Absent, client.IgnoreNotFound(err)
	}
	shared, ok := service.(*v1alpha1.ClusterIdentityService)
	if !ok {
		return service, Granted, nil
	}
	selector, err := NamespaceSelector(shared)
	if err != nil {
		return service, Denied, nil //nolint:nilerr // an invalid selector selects nothing; the status of the service says so
	}
	if selector.Empty() {
		return service, Granted, nil
	}
	labelled := NewNamespace()
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: namespace}, labelled); err != nil {
		return service, Denied, err // not found means a stale cache: the namespace has a Mandate
	}
	if !selector.Matches(labels.Set(labelled.Labels)) {
		return service, Denied, nil
	}
	return service, Granted, nil
}

// NamespaceSelector of a ClusterIdentityService: without one it selects nothing, and an empty one selects everything.
// That is how Kubernetes reads a LabelSelector.
func NamespaceSelector(service *v1alpha1.ClusterIdentityService) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(service.Spec.NamespaceSelector)
}

// NewNamespace is for reading the labels of a namespace, and nothing else of it.
func NewNamespace() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

// LiveReader finds services at the API server, for many reconciliations at once: those that ask for the same share one
// read. A caller that comes during a read waits for the next one, because the current one may be older than the call.
type LiveReader struct {
	services ServiceReader
	shared   singleflight.Group
	reading  keymutex.KeyMutex
}

type serviceRead struct {
	service Service
	access  Access
}

// NewLiveReader makes a LiveReader. The Reader of services is the API server.
func NewLiveReader(services ServiceReader) *LiveReader {
	return &LiveReader{services: services, reading: keymutex.NewHashed(0)}
}

// Find works like ServiceReader.Find. Its result was current at some time after the call. The service is shared with
// others, and must not be changed.
func (r *LiveReader) Find(ctx context.Context, key Key, namespace string) (Service, Access, error) {
	wanted := key.String() + "/" + namespace
	result, err, _ := r.shared.Do(wanted, func() (any, error) {
		r.reading.LockKey(wanted)
		defer func() { _ = r.reading.UnlockKey(wanted) }()
		r.shared.Forget(wanted) // a caller from here on starts another read
		service, access, err := r.services.Find(ctx, key, namespace)
		return serviceRead{service, access}, err
	})
	found := result.(serviceRead) //nolint:forcetypeassert // the function above returns no other type
	return found.service, found.access, err
}
