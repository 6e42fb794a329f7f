package engine

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IsAllowed asks the API server whether RBAC, or another authorizer, lets the operator itself do something. Kubernetes
// lets every user ask by default; an operator that may not ask counts as one that is not allowed.
func IsAllowed(
	ctx context.Context, writer client.Writer, attributes authorizationv1.ResourceAttributes,
) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &attributes,
		},
	}
	err := writer.Create(ctx, review)
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return review.Status.Allowed, err
}
