package mandate

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// dueReads is when the application of each Mandate is due to be read. Unlike what decide goes by, a read that fails
// leaves it as it was. The zero value is ready.
type dueReads struct {
	mu sync.Mutex
	at map[types.NamespacedName]int64 // in nanoseconds since 1970
}

// set sets when an application is due.
func (d *dueReads) set(mandate types.NamespacedName, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = map[types.NamespacedName]int64{}
	}
	d.at[mandate] = at.UnixNano()
}

// read sets when an application is due after it was read; never, if next is zero.
func (d *dueReads) read(mandate types.NamespacedName, now time.Time, next time.Duration) {
	if next == 0 {
		d.forget(mandate)
		return
	}
	d.set(mandate, now.Add(next))
}

func (d *dueReads) forget(mandate types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.at, mandate)
}

// lag is for how long the application of a Mandate has been due.
func (d *dueReads) lag(mandate types.NamespacedName, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.at[mandate]
	if !ok {
		return 0
	}
	return max(0, now.Sub(time.Unix(0, at)))
}

// Lag is for how long the application of a Mandate has been due to be read; 0 while it is not due. It is not read at an
// interval while something is wrong with the Mandate itself, nor once there is an outcome.
func (r *Reconciler) Lag(mandate *v1alpha1.Mandate) time.Duration {
	status := &mandate.Status
	if mandate.Spec.Suspend || !mandate.DeletionTimestamp.IsZero() || status.ApplicationID == nil ||
		status.Outcome != "" || meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionReady) {
		return 0
	}
	return r.due.lag(client.ObjectKeyFromObject(mandate), r.clock.Now())
}
