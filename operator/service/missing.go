package service

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

const (
	// missingAfter is longer than a Mandate takes to confirm that its application is gone.
	missingAfter = 2 * time.Minute
	// manyMissing is how many applications are hardly missing by chance.
	manyMissing = 2

	missingMessage = "The service does not find the applications of several Mandates. The credentials may belong to " +
		"another account. Check the Secret; correct credentials bring the Mandates back."
)

// applicationsMissing reports whether several Mandates cannot confirm for long that their applications are gone, as
// after an exchange of the credentials.
func (r *Reconciler) applicationsMissing(ctx context.Context, key connection.Key) (bool, error) {
	var mandates v1alpha1.MandateList
	err := r.config.Cache.List(ctx, &mandates, client.InNamespace(key.Namespace),
		client.MatchingFields{connection.MandateField: key.String()}, client.UnsafeDisableDeepCopy)
	missing := 0
	for i := range mandates.Items {
		c := meta.FindStatusCondition(mandates.Items[i].Status.Conditions, v1alpha1.ConditionReconciling)
		if c != nil && c.Reason == v1alpha1.ReasonConfirming && time.Since(c.LastTransitionTime.Time) >= missingAfter {
			missing++
		}
	}
	return missing >= manyMissing, err
}

// setMissing sets the condition ApplicationsMissing, and reports whether it was not set before.
func setMissing(status *v1alpha1.IdentityServiceStatus, generation int64, missing bool) (changed bool) {
	if !missing {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionApplicationsMissing)
		return false
	}
	before := meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionApplicationsMissing)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionApplicationsMissing, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonApplicationsMissing, Message: missingMessage, ObservedGeneration: generation,
	})
	return !before
}
