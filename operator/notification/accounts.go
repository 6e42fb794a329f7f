package notification

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
)

// accounts finds services, and those of one account.
type accounts struct {
	cache client.Reader // of services and Mandates
	// clusterServices: ClusterIdentityServices may be read.
	clusterServices bool
}

// isGone reports whether an object is deleted, or cannot be read until somebody corrects it.
func isGone(err error) bool { return apierrors.IsNotFound(err) || apierror.IsUnreadable(err) }

// service gives a service, which must not be changed; nil if there is none, or none that can be read.
func (a accounts) service(ctx context.Context, key connection.Key) (connection.Service, error) {
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService && !a.clusterServices {
		return nil, nil
	}
	service := key.NewService()
	if err := a.cache.Get(ctx, key.ObjectKey(), service, client.UnsafeDisableDeepCopy); isGone(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return service, nil
}

// peers are the services of the account of a service, itself included: the account may have one subscription for all of
// them. They must not be changed.
func (a accounts) peers(ctx context.Context, of connection.Service) (peers []connection.Service, err error) {
	lists := []client.ObjectList{&v1alpha1.IdentityServiceList{}}
	if a.clusterServices {
		lists = append(lists, &v1alpha1.ClusterIdentityServiceList{})
	}
	for _, list := range lists {
		if err := a.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		_ = meta.EachListItem(list, func(object runtime.Object) error {
			service := object.(connection.Service) //nolint:forcetypeassert // the lists have no other type
			account, isSame := service.ServiceStatus().Account, connection.KeyOfService(service) == connection.KeyOfService(of)
			if isSame || account != "" && account == of.ServiceStatus().Account {
				peers = append(peers, service)
			}
			return nil
		})
	}
	return peers, nil
}
