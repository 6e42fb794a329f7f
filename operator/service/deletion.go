package service

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// protect puts the finalizer on an IdentityService that a Mandate needs for its own deletion, takes it off when none does
// any more, and tells which it is. Somebody who deletes all of them at once, or their namespace, would otherwise take the
// connection away before the applications are archived or deleted.
func (r *Reconciler) protect(ctx context.Context, service *v1alpha1.IdentityService) (needed bool, err error) {
	needed, err = r.needed(ctx, service)
	if err != nil {
		return false, err
	}
	before := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "IdentityService"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: service.Namespace, Name: service.Name, ResourceVersion: service.ResourceVersion, Finalizers: service.Finalizers,
		},
	}
	after, changed := before.DeepCopy(), false
	switch {
	case !needed:
		changed = controllerutil.RemoveFinalizer(after, v1alpha1.ServiceFinalizer)
	case service.DeletionTimestamp.IsZero(): // later, the API server refuses it
		changed = controllerutil.AddFinalizer(after, v1alpha1.ServiceFinalizer)
	}
	if !changed {
		return needed, nil
	}
	err = r.Metadata.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	service.ResourceVersion = after.ResourceVersion
	return needed, client.IgnoreNotFound(err)
}

// needed tells whether a Mandate has the finalizer with which its application is archived or deleted.
func (r *Reconciler) needed(ctx context.Context, service *v1alpha1.IdentityService) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.Cache.List(ctx, &mandates, client.InNamespace(service.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		if m := &mandates.Items[i]; controllerutil.ContainsFinalizer(m, v1alpha1.ApplicationFinalizer) && serviceName(m).Name == service.Name {
			return true, nil
		}
	}
	return false, nil
}

// mandateChanged gives the IdentityService of a Mandate if its protection may have to change now.
func (r *Reconciler) mandateChanged(ctx context.Context, object client.Object) []reconcile.Request {
	mandate, ok := object.(*v1alpha1.Mandate)
	if !ok {
		return nil
	}
	needs := controllerutil.ContainsFinalizer(mandate, v1alpha1.ApplicationFinalizer)
	if !needs && (mandate.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain || mandate.Spec.DeletionPolicy == "") {
		return nil // most of them
	}
	service := &v1alpha1.IdentityService{}
	if err := r.Cache.Get(ctx, serviceName(mandate), service); err != nil {
		if !apierrors.IsNotFound(err) {
			log.FromContext(ctx).Error(err, "Looking for the IdentityService of a Mandate failed; it is looked at later")
		}
		return nil
	}
	if unprotected := needs && !controllerutil.ContainsFinalizer(service, v1alpha1.ServiceFinalizer); !unprotected && service.DeletionTimestamp.IsZero() {
		return nil // taking the finalizer off can wait until it is looked at anyway
	}
	return []reconcile.Request{{NamespacedName: serviceName(mandate)}}
}

func serviceName(m *v1alpha1.Mandate) types.NamespacedName {
	name := m.Spec.ServiceRef.Name
	if name == "" {
		name = "default"
	}
	return types.NamespacedName{Namespace: m.Namespace, Name: name}
}
