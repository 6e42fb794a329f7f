package operator

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// The API server serves a kind up to seconds after its CRD is stored. kindsTimeout is shorter than the liveness probe
// takes to fail.
const (
	kindsInterval = 500 * time.Millisecond
	kindsTimeout  = 30 * time.Second
)

// kinds are those of the CRDs.
var kinds = []string{kindMandate, kindAction, "IdentityService", "ClusterIdentityService", kindRecord}

// awaitKinds waits until the API server serves the kinds of all CRDs. So if the operator is Ready, users can apply
// objects of these kinds. The error is the mapper's, such as meta.NoKindMatchError.
func awaitKinds(ctx context.Context, config *rest.Config) error {
	requests, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, requests)
	if err != nil {
		return err
	}
	missing := missingKind(mapper)
	if missing == nil {
		return nil
	}
	ctrl.Log.Info("Waiting for the API server to serve the kinds of the CRDs", "missing", missing.Error())
	err = wait.PollUntilContextTimeout(ctx, kindsInterval, kindsTimeout, false, func(context.Context) (bool, error) {
		missing = missingKind(mapper)
		return missing == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		return missing
	}
	return err
}

func missingKind(mapper meta.RESTMapper) error {
	for _, kind := range kinds {
		group := schema.GroupKind{Group: v1alpha1.SchemeGroupVersion.Group, Kind: kind}
		if _, err := mapper.RESTMapping(group, v1alpha1.SchemeGroupVersion.Version); err != nil {
			return err
		}
	}
	return nil
}

// canReadClusterServices reports whether the account may read what it takes to work with ClusterIdentityServices:
// beside these some resources of the core group. One that has only RoleBindings may not, and works with
// IdentityServices all the same: a watch that is refused would end it.
func canReadClusterServices(ctx context.Context, manager ctrl.Manager, core ...string) (bool, error) {
	groups := map[string]string{"clusteridentityservices": v1alpha1.SchemeGroupVersion.Group}
	for _, resource := range append(core, "clusteridentityservices") {
		for _, verb := range []string{"get", "list", "watch"} {
			allowed, err := engine.IsAllowed(ctx, manager.GetClient(), authorizationv1.ResourceAttributes{
				Group: groups[resource], Resource: resource, Verb: verb,
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
