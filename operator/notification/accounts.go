package notification

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// accounts finds services, and those of one account, in a cache that has Mandates, too, and annotates them.
type accounts struct {
	connection.ServiceReader
	metadata client.Writer
}

// isGone reports whether an object is deleted, or cannot be read until somebody corrects it.
func isGone(err error) bool { return apierrors.IsNotFound(err) || apierror.IsUnreadable(err) }

// service gives a service, which must not be changed.
func (a accounts) service(ctx context.Context, key connection.Key) (connection.Service, error) {
	service := key.NewService()
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService && !a.ClusterServices {
		return service, apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return service, a.Reader.Get(ctx, key.ObjectKey(), service, client.UnsafeDisableDeepCopy)
}

// peers are the services of one account, which may have one subscription for all of them. They must not be changed.
type peers map[connection.Key]connection.Service

// peers of a service, itself included.
func (a accounts) peers(ctx context.Context, of connection.Service) (peers, error) {
	lists, found := []client.ObjectList{&v1alpha1.IdentityServiceList{}}, peers{connection.KeyOfService(of): of}
	if a.ClusterServices {
		lists = append(lists, &v1alpha1.ClusterIdentityServiceList{})
	}
	for _, list := range lists {
		if err := a.Reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		_ = meta.EachListItem(list, func(object runtime.Object) error {
			service := object.(connection.Service) //nolint:forcetypeassert // the lists have no other type
			if account := service.ServiceStatus().Account; account != "" && account == of.ServiceStatus().Account {
				found[connection.KeyOfService(service)] = service
			}
			return nil
		})
	}
	return found, nil
}

// annotate sets annotations, if the object has not changed since it was read; "" removes one. If the cache is behind,
// that is a conflict.
func (a accounts) annotate(ctx context.Context, kind string, read client.Object, annotations map[string]string) error {
	_, err := engine.PatchMetadata(ctx, a.metadata, kind, read, func(o client.Object) {
		merged := labels.Merge(o.GetAnnotations(), annotations)
		for name, value := range annotations {
			if value == "" {
				delete(merged, name)
			}
		}
		o.SetAnnotations(merged)
	})
	return err
}
