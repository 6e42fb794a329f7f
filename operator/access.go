package operator

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// canReadClusterServices reports whether the account may read what it takes to work with ClusterIdentityServices:
// beside these some resources of the core group. One that has only RoleBindings may not, and works with
// IdentityServices all the same: a watch that is refused would end it.
func canReadClusterServices(ctx context.Context, manager ctrl.Manager, core ...string) (bool, error) {
	for _, resource := range append(core, "clusteridentityservices") {
		group := ""
		if !slices.Contains(core, resource) {
			group = v1alpha1.SchemeGroupVersion.Group
		}
		for _, verb := range []string{"get", "list", "watch"} {
			allowed, err := engine.IsAllowed(ctx, manager.GetClient(), authorizationv1.ResourceAttributes{
				Group: group, Resource: resource, Verb: verb,
			})
			if err != nil {
				return false, err
			}
			if !allowed {
				manager.GetLogger().
					Info("Ignoring ClusterIdentityServices, a cluster-wide permission is missing", "verb", verb, "resource", resource)
				return false, nil
			}
		}
	}
	return true, nil
}
