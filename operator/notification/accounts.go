package notification

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// accounts finds services, and those of one account.
type accounts struct {
	cache client.Reader // of services and Mandates
	// clusterServices: ClusterIdentityServices may be read.
	clusterServices bool
}

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

// peers are the connections of the account of a service, itself included: the service may have one subscription for all
// of them.
func (a accounts) peers(ctx context.Context, of connection.Service) ([]connection.Key, error) {
	keys := []connection.Key{connection.KeyOfService(of)}
	add := func(service connection.Service) {
		key, account := connection.KeyOfService(service), service.ServiceStatus().Account
		if key != keys[0] && account != "" && account == of.ServiceStatus().Account {
			keys = append(keys, key)
		}
	}
	var services v1alpha1.IdentityServiceList
	if err := a.cache.List(ctx, &services, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range services.Items {
		add(&services.Items[i])
	}
	if !a.clusterServices {
		return keys, nil
	}
	var shared v1alpha1.ClusterIdentityServiceList
	if err := a.cache.List(ctx, &shared, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range shared.Items {
		add(&shared.Items[i])
	}
	return keys, nil
}
