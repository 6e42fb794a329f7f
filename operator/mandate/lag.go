package mandate

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Lag is for how long the application of a Mandate has been due to be read; 0 while it is not due. It is not read at an
// interval while something is wrong with the Mandate itself, nor once there is an outcome.
func (r *Reconciler) Lag(mandate *v1alpha1.Mandate) time.Duration {
	status := &mandate.Status
	if mandate.Spec.Suspend || !mandate.DeletionTimestamp.IsZero() || status.ApplicationID == nil ||
		status.Outcome != "" || meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionReady) {
		return 0
	}
	due := r.localState.Get(mandate).due
	if due.IsZero() {
		return 0
	}
	return max(0, r.clock.Now().Sub(due))
}
