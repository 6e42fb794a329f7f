package service

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
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
	v1alpha1.ConditionAccountChanged: "The credentials may belong to another account than the applications of Mandates, " +
		"so nothing is created or sent. Correct the Secret, or set idv.mandate.io/same-account to status.account.",
}

// dependents is what the Mandates of a service say, as far as it matters to the service.
type dependents struct {
	needed     int  // it for something that is left to do
	confirming int  // for long that their applications are gone
	waits      bool // one of them for the account that has its application
	begun      int  // have an application without an outcome, or may have one
	created    int  // have one that can be read
	refused    int  // have one that the account did not show
	// notified is when a notification was last about one of them, by the request that it has left there. A time from the
	// future is of a replica whose clock was fast. It is not believed.
	notified time.Time
}

func (r *Reconciler) dependents(ctx context.Context, key connection.Key) (found dependents, err error) {
	var mandates v1alpha1.MandateList
	err = r.config.Cache.List(ctx, &mandates, client.InNamespace(key.Namespace),
		client.MatchingFields{connection.MandateField: key.String()}, client.UnsafeDisableDeepCopy)
	for i := range mandates.Items {
		found.add(&mandates.Items[i])
	}
	return found, err
}

func (d *dependents) add(m *v1alpha1.Mandate) {
	if needsService(m) {
		d.needed++
	}
	request := engine.ParseNotificationRequest(engine.ReconcileRequest(m))
	if request.Time.After(d.notified) && !request.Time.After(time.Now()) {
		d.notified = request.Time
	}
	status := &m.Status
	waiting := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling)
	if waiting != nil && waiting.Reason == v1alpha1.ReasonConfirming &&
		time.Since(waiting.LastTransitionTime.Time) >= missingAfter {
		d.confirming++
	}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	other := ready != nil && ready.Reason == v1alpha1.ReasonAccountChanged
	otherURL := ready != nil && ready.Reason == v1alpha1.ReasonIdentityServiceMismatch
	d.waits = d.waits || other
	created := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionCreated)
	switch {
	case status.Outcome != "":
	case status.ApplicationID != nil:
		d.begun++
		d.created++
		if other || otherURL {
			d.refused++
		}
	case created != nil && created.Status == metav1.ConditionUnknown:
		d.begun++
	}
}

// setShared sets a condition that tells of several Mandates, or removes it, and reports whether it was not set before.
func setShared(status *v1alpha1.IdentityServiceStatus, generation int64, kind string, is bool) (news bool) {
	reason := ""
	if is {
		reason = kind
	}
	return setWarning(status, generation, kind, reason, sharedMessages[kind])
}
