package engine

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	// MaxLookAge is how long before a request that acts on a person the last look at what orders it may begin. After a
	// slow one, or one after which the process was stopped, the operator looks again.
	MaxLookAge = time.Second
	// MaxLooks is how often it looks. If the API server is as slow as that, nothing is sent for now.
	MaxLooks = 5
)

// Elapsed is the time from one time of this process to another. The monotonic clock stops while a machine sleeps, and
// the time of day can be set back: the one by which more time has passed counts.
func Elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// MetadataOf is an object of a kind of ours by its metadata alone. What is read of it, or returned by a patch of it,
// has no personal data.
func MetadataOf(kind string, key client.ObjectKey) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
	}
}

// PatchMetadata changes the metadata of an object of a kind of ours, and returns them as they are then. It fails with a
// conflict if the object has changed since it was read.
func PatchMetadata(
	ctx context.Context, writer client.Writer, kind string, read client.Object, change func(client.Object),
) (*metav1.PartialObjectMetadata, error) {
	before := MetadataOf(kind, client.ObjectKeyFromObject(read))
	before.ResourceVersion = read.GetResourceVersion()
	before.Finalizers, before.Annotations = read.GetFinalizers(), read.GetAnnotations()
	after := before.DeepCopy()
	change(after)
	return after, writer.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// ReadMetadata reads the metadata of an object of a kind of ours: right before a request that acts on a person, at the
// API server. It returns nil if there is no such object.
func ReadMetadata(
	ctx context.Context, reader client.Reader, kind string, key client.ObjectKey,
) (*metav1.PartialObjectMetadata, error) {
	live := MetadataOf(kind, key)
	if err := reader.Get(ctx, key, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live, nil
}

// IsAllowed asks the API server whether RBAC, or another authorizer, lets the operator itself do something. Kubernetes
// lets every user ask by default; an operator that may not ask counts as one that is not allowed.
func IsAllowed(ctx context.Context, writer client.Writer, attributes authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
	}
	err := writer.Create(ctx, review)
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return review.Status.Allowed, err
}
