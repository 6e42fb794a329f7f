package plugin

import (
	"cmp"
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// seenCluster is what a plan knows of the cluster. What the user may not read is unknown.
type seenCluster struct {
	objects []client.Object
	unknown map[plan.ObjectKey]string // of services
}

// readForPlan reads all objects of our kinds in the namespaces, and the ClusterIdentityServices that they name.
func (c *cluster) readForPlan(
	ctx context.Context, namespaces []string, manifests []plan.Manifest,
) (*seenCluster, error) {
	seen := &seenCluster{unknown: map[plan.ObjectKey]string{}}
	for _, namespace := range namespaces {
		for _, list := range []client.ObjectList{
			&v1alpha1.MandateList{}, &v1alpha1.MandateActionList{}, &v1alpha1.ApplicationRecordList{},
			&v1alpha1.IdentityServiceList{},
		} {
			err := c.each(ctx, list, func(object client.Object) {
				seen.objects = append(seen.objects, object)
			}, client.InNamespace(namespace))
			if err != nil {
				return nil, err
			}
		}
	}
	for _, name := range clusterServicesOf(seen.objects, manifests) {
		if err := c.readClusterService(ctx, name, seen); err != nil {
			return nil, err
		}
	}
	if len(of[*v1alpha1.ClusterIdentityService](seen.objects)) == 0 {
		return seen, nil
	}
	for _, namespace := range namespaces {
		if err := c.readNamespace(ctx, namespace, seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// clusterServicesOf are the names of the ClusterIdentityServices that Mandates refer to.
func clusterServicesOf(objects []client.Object, manifests []plan.Manifest) []string {
	mandates, names := of[*v1alpha1.Mandate](objects), sets.Set[string]{}
	for i := range manifests {
		m := &v1alpha1.Mandate{}
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(manifests[i].Object.Object, m) // others name no service
		mandates = append(mandates, m)
	}
	for _, m := range mandates {
		if key := serviceOf(m); key.Kind == kindClusterService {
			names.Insert(key.Name)
		}
	}
	return sets.List(names)
}

// readClusterService reads one. Who may read a namespace may not read it: then it is what the records say of it.
func (c *cluster) readClusterService(ctx context.Context, name string, seen *seenCluster) error {
	service := &v1alpha1.ClusterIdentityService{}
	switch err := c.Get(ctx, client.ObjectKey{Name: name}, service); {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		service = recordedService(name, seen.objects)
		seen.unknown[plan.KeyOf(service)] = plan.UnreadService
	case err != nil:
		return err
	}
	seen.objects = append(seen.objects, service)
	return nil
}

func recordedService(name string, objects []client.Object) *v1alpha1.ClusterIdentityService {
	service := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
	service.Spec.BaseURL = "https://unknown.invalid"
	service.Spec.NamespaceSelector = &metav1.LabelSelector{}
	service.Spec.ReferencePolicy = v1alpha1.ReferencePolicyAny
	for _, record := range of[*v1alpha1.ApplicationRecord](objects) {
		ref := record.Spec.ServiceRef
		if ref.Kind == v1alpha1.ServiceKindClusterIdentityService && ref.Name == name {
			service.Spec.BaseURL, service.Status.Account = record.Spec.ServiceURL, record.Spec.Account
		}
	}
	return service
}

// readNamespace reads the labels of a namespace. If the user may not, ClusterIdentityServices are taken for open to it.
func (c *cluster) readNamespace(ctx context.Context, name string, seen *seenCluster) error {
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	switch err := c.Get(ctx, client.ObjectKey{Name: name}, namespace); {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		for _, service := range of[*v1alpha1.ClusterIdentityService](seen.objects) {
			service.Spec.NamespaceSelector = &metav1.LabelSelector{}
			seen.unknown[plan.KeyOf(service)] = cmp.Or(seen.unknown[plan.KeyOf(service)], plan.UnreadNamespace)
		}
	case err != nil:
		return err
	default:
		seen.objects = append(seen.objects, namespace)
	}
	return nil
}
