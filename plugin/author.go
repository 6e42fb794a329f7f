package plugin

import (
	"context"
	"maps"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// sign names the user as the author of what an object orders. Where the API server does not say who that is, nobody is
// named: what one user orders must not have the name of the one before.
func (c *cluster) sign(ctx context.Context, object client.Object) {
	annotations := map[string]string{}
	maps.Copy(annotations, object.GetAnnotations())
	delete(annotations, v1alpha1.RequestedByAnnotation)
	self := &authenticationv1.SelfSubjectReview{}
	if c.Create(ctx, self) == nil && self.Status.UserInfo.Username != "" {
		annotations[v1alpha1.RequestedByAnnotation] = self.Status.UserInfo.Username
	}
	object.SetAnnotations(annotations)
}
