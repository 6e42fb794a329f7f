package plugin

import (
	"context"
	"slices"

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
	unknown map[plan.ObjectKey]string // of services and namespaces
	unseen  map[plan.ObjectKey]string // what may release Mandates that are not read
}

// readForPlan reads all objects of our kinds in the namespaces, and the ClusterIdentityServices that they name. Other
// namespaces may be closed to the user.
func (c *cluster) readForPlan(
	ctx context.Context, own, others sets.Set[string], manifests []plan.Manifest,
) (*seenCluster, error) {
	seen := &seenCluster{unknown: map[plan.ObjectKey]string{}, unseen: map[plan.ObjectKey]string{}}
	for _, namespace := range sets.List(own.Union(others)) {
		found, err := c.readAll(ctx, client.InNamespace(namespace), &v1alpha1.IdentityServiceList{})
		switch {
		case apierrors.IsForbidden(err) && !own.Has(namespace):
			seen.unseen[plan.ObjectKey{Kind: "Namespace", Name: namespace}] = plan.UnreadMandates
		case err != nil:
			return nil, err
		}
		seen.objects = append(seen.objects, found...)
	}
	applied, err := c.appliedClusterServices(ctx, others, manifests)
	if err == nil {
		err = c.readUsers(ctx, applied, seen)
	}
	if err != nil {
		return nil, err
	}
	services := clusterServicesOf(seen.objects, manifests).Union(applied)
	for _, name := range sets.List(services) {
		if err := c.readClusterService(ctx, name, seen); err != nil {
			return nil, err
		}
	}
	if len(services) == 0 {
		return seen, nil
	}
	namespaces := own.Clone()
	for _, m := range of[*v1alpha1.Mandate](seen.objects) {
		namespaces.Insert(m.Namespace)
	}
	for _, namespace := range sets.List(namespaces) {
		if err := c.readNamespace(ctx, namespace, manifests, seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// readAll reads the Mandates, their actions and their records, and what else is asked for.
func (c *cluster) readAll(
	ctx context.Context, where client.ListOption, more ...client.ObjectList,
) (found []client.Object, err error) {
	lists := append([]client.ObjectList{
		&v1alpha1.MandateList{}, &v1alpha1.MandateActionList{}, &v1alpha1.ApplicationRecordList{},
	}, more...)
	for _, list := range lists {
		err := c.each(ctx, list, func(object client.Object) { found = append(found, object) }, where)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// appliedClusterServices are the names of the ClusterIdentityServices that manifests have, or may have the credentials
// of. Who may not read them may not read their Mandates in other namespaces either.
func (c *cluster) appliedClusterServices(
	ctx context.Context, others sets.Set[string], manifests []plan.Manifest,
) (sets.Set[string], error) {
	names := sets.Set[string]{}
	for i := range manifests {
		if key := manifests[i].KeyOf(); key.Kind == kindClusterService {
			names.Insert(key.Name)
		}
	}
	if len(others) == 0 {
		return names, nil
	}
	services := &v1alpha1.ClusterIdentityServiceList{}
	err := c.List(ctx, services)
	for i := range services.Items {
		if others.Has(services.Items[i].Spec.CredentialsSecretRef.Namespace) {
			names.Insert(services.Items[i].Name)
		}
	}
	if apierrors.IsForbidden(err) {
		err = nil
	}
	return names, err
}

// readUsers reads the Mandates of ClusterIdentityServices in all namespaces, with what is theirs: a change of the
// service may be what they wait for.
func (c *cluster) readUsers(ctx context.Context, services sets.Set[string], seen *seenCluster) error {
	if len(services) == 0 {
		return nil
	}
	everywhere, err := c.readAll(ctx, client.InNamespace(""))
	if apierrors.IsForbidden(err) {
		for name := range services {
			seen.unseen[plan.ObjectKey{Kind: kindClusterService, Name: name}] = plan.UnreadMandates
		}
		return nil
	}
	users, known := sets.Set[client.ObjectKey]{}, sets.Set[plan.ObjectKey]{}
	for _, m := range of[*v1alpha1.Mandate](everywhere) {
		if key := serviceOf(m); key.Kind == kindClusterService && services.Has(key.Name) {
			users.Insert(client.ObjectKeyFromObject(m))
		}
	}
	for _, object := range seen.objects {
		known.Insert(plan.KeyOf(object))
	}
	for _, object := range everywhere {
		of := client.ObjectKeyFromObject(object)
		if action, ok := object.(*v1alpha1.MandateAction); ok {
			of.Name = action.Spec.MandateRef.Name
		}
		if users.Has(of) && !known.Has(plan.KeyOf(object)) {
			seen.objects = append(seen.objects, object)
		}
	}
	return err
}

// clusterServicesOf are the names of the ClusterIdentityServices that Mandates refer to.
func clusterServicesOf(objects []client.Object, manifests []plan.Manifest) sets.Set[string] {
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
	return names
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
func (c *cluster) readNamespace(
	ctx context.Context, name string, manifests []plan.Manifest, seen *seenCluster,
) error {
	key := plan.ObjectKey{Kind: "Namespace", Name: name}
	isNew := slices.ContainsFunc(manifests, func(m plan.Manifest) bool { return m.KeyOf() == key })
	namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	switch err := c.Get(ctx, client.ObjectKey{Name: name}, namespace); {
	case apierrors.IsNotFound(err) && isNew:
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		seen.unknown[key] = plan.UnreadNamespace
	case err != nil:
		return err
	default:
		seen.objects = append(seen.objects, namespace)
	}
	return nil
}
