package service

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// protect keeps a service while Mandates need it, and counts them. The finalizer is there only as long: a service
// that nobody needs can be deleted, with its namespace, when no operator runs. An operator that does not see all
// Mandates of a ClusterIdentityService leaves its finalizer to one that does.
func (r *Reconciler) protect(ctx context.Context, key connection.Key, service connection.Service, needed int) error {
	deleted := service.GetDeletionTimestamp()
	has := controllerutil.ContainsFinalizer(service, v1alpha1.ServiceFinalizer)
	wanted := needed > 0
	if key.Namespace == "" && !r.config.AllNamespaces {
		wanted = has
	}
	givenUp := wanted && has && r.isOver(deleted)
	switch wanted = wanted && !givenUp; {
	case wanted == has, wanted && !deleted.IsZero(): // the API server takes no finalizer then
		return nil
	case givenUp: // reported before the patch: after it, the service is gone, and a process that ends would say nothing
		message := fmt.Sprintf(
			"The operator releases the service, but Mandates still need it: %d. They wait until somebody creates a service "+
				"of that name.",
			needed,
		)
		r.config.Events.Eventf(
			service, nil, corev1.EventTypeWarning, engine.EventDeletionGivenUp, engine.ActionDelete, "%s", message)
		log.FromContext(ctx).Error(nil, "Releasing the service although Mandates still need it", "mandates", needed)
	}
	return r.setFinalizer(ctx, key, service, !has)
}

// isOver reports whether a deletion has waited for as long as it may, by the clock of the API server, which began it.
func (r *Reconciler) isOver(deleted *metav1.Time) bool {
	after := r.config.ServerClock.Period(r.config.DeletionGiveUpAfter, clock.RealClock{})
	return !deleted.IsZero() && time.Since(deleted.Time) >= after
}

// mandateChanged gives the service of a Mandate if its protection has to change now, or what it says of states; that it
// may go can wait for the next reconciliation, unless somebody waits for it.
func (r *Reconciler) mandateChanged(ctx context.Context, object client.Object) []connection.Key {
	mandate, ok := object.(*v1alpha1.Mandate)
	if !ok {
		return nil
	}
	key := connection.KeyOf(mandate)
	if key.Namespace == "" && (!r.config.ClusterServices || !r.config.AllNamespaces) {
		return nil
	}
	service := key.NewService()
	if err := r.config.Cache.Get(ctx, key.ObjectKey(), service); err != nil {
		return nil // it is reconciled when it comes
	}
	leaving := !service.GetDeletionTimestamp().IsZero()
	said := meta.FindStatusCondition(service.ServiceStatus().Conditions, v1alpha1.ConditionStatesUnderstood) != nil
	if !said && engine.WaitsForState(mandate, namesOf(service)) {
		return []connection.Key{key}
	}
	if !leaving && (!needsService(mandate) || controllerutil.ContainsFinalizer(service, v1alpha1.ServiceFinalizer)) {
		return nil
	}
	return []connection.Key{key}
}

// needsService reports whether something is left to do for a Mandate at the service. What was not begun is not: nothing
// new is sent by way of a service that is being deleted.
func needsService(m *v1alpha1.Mandate) bool {
	if !m.DeletionTimestamp.IsZero() {
		return controllerutil.ContainsFinalizer(m, v1alpha1.ApplicationFinalizer)
	}
	created := engine.ReasonOf(m.Status.Conditions, v1alpha1.ConditionCreated)
	return (m.Status.ApplicationID != nil || created == v1alpha1.ReasonOutcomeUnknown) && m.Status.Outcome == ""
}

// showsNothing reports whether a Mandate says nothing of an application: a create may be under way, or the cache lags.
func showsNothing(m *v1alpha1.Mandate) bool {
	return m.DeletionTimestamp.IsZero() && m.Status.Outcome == "" && !needsService(m)
}

// setFinalizer patches the metadata, and updates the service that was read.
func (r *Reconciler) setFinalizer(ctx context.Context, key connection.Key, service connection.Service, set bool) error {
	change := controllerutil.RemoveFinalizer
	if set {
		change = controllerutil.AddFinalizer
	}
	after, err := engine.PatchMetadata(ctx, r.config.Metadata, string(key.Kind), service, func(o client.Object) {
		change(o, v1alpha1.ServiceFinalizer)
	})
	if err != nil {
		return err
	}
	service.SetFinalizers(after.Finalizers)
	service.SetResourceVersion(after.ResourceVersion)
	return nil
}

// blocksDeletion reports whether a deletion waits for Mandates.
func blocksDeletion(service connection.Service, needed int) bool {
	return needed > 0 && !service.GetDeletionTimestamp().IsZero() &&
		controllerutil.ContainsFinalizer(service, v1alpha1.ServiceFinalizer)
}

// remainingMessage says how many Mandates hold up a deletion, and names none.
func remainingMessage(needed int) string {
	return fmt.Sprintf(
		"Deletion waits for Mandates that still need this service: %d. It completes when they have an outcome or are "+
			"gone, or after a day by default. Nothing new is created.",
		needed,
	)
}

const (
	// missingAfter is longer than a Mandate takes to confirm that its application is gone.
	missingAfter = 2 * time.Minute
	// manyMissing is how many applications are hardly missing by chance.
	manyMissing = 2
)

// sharedMessages are those of the conditions that tell of several Mandates, by reason. Most have the name of theirs.
var sharedMessages = map[string]string{
	v1alpha1.ConditionApplicationsMissing: "The applications of several Mandates are not found, and that may not be the " +
		"service's own word, but that of a proxy. Check spec.baseURL.",
	v1alpha1.ConditionAccountChanged: "The credentials may belong to another account than the applications of Mandates, " +
		"so nothing is created or sent. Correct the Secret, or set idv.mandate.io/same-account to status.account.",
	v1alpha1.ReasonApplicationsOfOtherAccount: "The applications of some Mandates belong to another account, so nothing " +
		"is sent for them. Other Mandates continue. Apply those again with the service that created their applications.",
	v1alpha1.ConditionCreationSuspended: "spec.creation.suspend is true, so nothing is sent that e-mails individuals. " +
		"Set it to false to continue.",
	v1alpha1.ConditionCreationBudgetReached: "spec.creation allows no more e-mails now. status.creation says how many " +
		"wait, and until when. Raise the limits only if so many are meant.",
}

// dependents is what the Mandates of a service say, as far as it matters to the service.
type dependents struct {
	needed     int  // it for something that is left to do
	confirming int  // for long that their applications are gone
	waits      bool // one of them for the account that has its application
	begun      int  // have an application without an outcome, or may have one
	created    int  // have one that can be read
	refused    int  // have one that the account did not show
	waiting    int  // for the budget, MandateActions included
	unknown    int  // wait for a state whose name is not known
	// notified is when a notification was last about one of them, by the request that it has left there. A time from the
	// future is of a replica whose clock was fast. It is not believed.
	notified time.Time
}

func (r *Reconciler) dependents(
	ctx context.Context, key connection.Key, names lifecycle.Names,
) (found dependents, err error) {
	var mandates v1alpha1.MandateList
	err = r.config.Cache.List(ctx, &mandates, client.InNamespace(key.Namespace),
		client.MatchingFields{connection.MandateField: key.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return found, err
	}
	begun := r.config.Connections.Begun(key)
	for i := range mandates.Items {
		mandate := &mandates.Items[i]
		found.add(mandate, names)
		if name := client.ObjectKeyFromObject(mandate); begun.Has(name) && showsNothing(mandate) {
			found.needed++
			begun.Delete(name)
		}
	}
	for shown := range begun { // or gone
		r.config.Connections.SetBegun(key, shown, false)
	}
	return found, nil
}

func (d *dependents) add(m *v1alpha1.Mandate, names lifecycle.Names) {
	if needsService(m) {
		d.needed++
	}
	if budget.Waits(m) {
		d.waiting++
	}
	if engine.WaitsForState(m, names) {
		d.unknown++
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
	ready := engine.ReasonOf(status.Conditions, v1alpha1.ConditionReady)
	d.waits = d.waits || ready == v1alpha1.ReasonAccountChanged
	switch {
	case status.Outcome != "":
	case status.ApplicationID != nil:
		d.begun++
		d.created++
		if ready == v1alpha1.ReasonAccountChanged || ready == v1alpha1.ReasonIdentityServiceMismatch {
			d.refused++
		}
	case meta.IsStatusConditionPresentAndEqual(status.Conditions, v1alpha1.ConditionCreated, metav1.ConditionUnknown):
		d.begun++
	}
}

// setShared sets a condition that tells of several Mandates, or removes it.
func setShared(status *v1alpha1.IdentityServiceStatus, generation int64, kind string, is bool) {
	setWarning(status, generation, kind, engine.If(is, kind), sharedMessages[kind])
}
