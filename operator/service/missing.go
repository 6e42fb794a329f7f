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
)

// sharedMessages are those of the conditions that tell of several Mandates. Their reasons have the same names.
var sharedMessages = map[string]string{
	v1alpha1.ConditionApplicationsMissing: "The applications of several Mandates are not found, and that may not be the " +
		"service's own word, but that of a proxy. Check spec.baseURL.",
	v1alpha1.ConditionAccountChanged: "The credentials may belong to another account than the applications of some " +
		"Mandates, for which nothing is sent. Correct the Secret, or set idv.mandate.io/same-account to status.account.",
}

// waiting reports whether several Mandates cannot confirm for long that their applications are gone, as behind a proxy
// that answers for the service, and whether any waits because its application may be another account's.
func (r *Reconciler) waiting(ctx context.Context, key connection.Key) (missing, otherAccount bool, err error) {
	var mandates v1alpha1.MandateList
	err = r.config.Cache.List(ctx, &mandates, client.InNamespace(key.Namespace),
		client.MatchingFields{connection.MandateField: key.String()}, client.UnsafeDisableDeepCopy)
	confirming := 0
	for i := range mandates.Items {
		switch c := meta.FindStatusCondition(mandates.Items[i].Status.Conditions, v1alpha1.ConditionReconciling); {
		case c == nil:
		case c.Reason == v1alpha1.ReasonAccountChanged:
			otherAccount = true
		case c.Reason == v1alpha1.ReasonConfirming && time.Since(c.LastTransitionTime.Time) >= missingAfter:
			confirming++
		}
	}
	return confirming >= manyMissing, otherAccount, err
}

// setShared sets a condition that tells of several Mandates, or removes it, and reports whether it was not set before.
func setShared(status *v1alpha1.IdentityServiceStatus, generation int64, kind string, is bool) (news bool) {
	if !is {
		meta.RemoveStatusCondition(&status.Conditions, kind)
		return false
	}
	before := meta.IsStatusConditionTrue(status.Conditions, kind)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: kind, Message: sharedMessages[kind], ObservedGeneration: generation,
	})
	return !before
}
