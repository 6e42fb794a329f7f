package action

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// writeStatus is the only place that writes the status of actions: one patch, and none if nothing changed. It is
// refused with a conflict if r.action is not the latest, whatever has changed.
func (r *reconciliation) writeStatus(ctx context.Context, reason string) error {
	if r.keepsStatus(reason) {
		return nil
	}
	updated := r.action.DeepCopy()
	r.statusFor(&updated.Status, reason)
	if equality.Semantic.DeepEqual(updated.Status, r.action.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(r.action, client.MergeFromWithOptimisticLock{})
	if err := r.config.Status.Patch(ctx, updated, patch); err != nil {
		return err
	}
	if r.action.Status.CompletedTime == nil && updated.Status.CompletedTime != nil && r.config.Ended != nil {
		r.config.Ended(updated.Spec.Type, conditionSpecs[reason].progress == complete, reason)
	}
	before := r.action.Status.Conditions
	r.action = updated
	r.recordEvent(before, reason)
	return nil
}

// keepsStatus: the status stays as it is after a start of the operator, until the IdentityService is probed.
func (r *reconciliation) keepsStatus(reason string) bool {
	switch reason {
	case reasonDeleting, reasonAwaiting, reasonStaleCache:
		return true
	case v1alpha1.ReasonIdentityServiceNotReady:
		return !r.facts.service.Known && r.action.Status.ObservedGeneration == r.action.Generation
	}
	return false
}

// statusFor is the status that a reason makes.
func (r *reconciliation) statusFor(status *v1alpha1.MandateActionStatus, reason string) {
	generation := r.action.Generation
	status.ObservedGeneration = generation
	if reason == reasonEnded { // the time to live was edited; kubectl wait compares generations
		for i := range status.Conditions {
			status.Conditions[i].ObservedGeneration = generation
		}
		return
	}
	v := conditionSpecs[reason]
	r.showProblems(status, reason)
	set := func(conditionType string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: v.message,
			ObservedGeneration: generation,
		})
	}
	if v.progress == progressing {
		set(v1alpha1.ConditionReconciling)
		return
	}
	status.CompletedTime = new(metav1.NewTime(r.facts.now))
	if r.entry != nil && r.entry.UID == r.action.UID && status.StartedTime == nil {
		status.StartedTime = new(metav1.NewTime(r.entry.StartedTime.Time))
	}
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	if v.progress == complete {
		set(v1alpha1.ConditionComplete)
		return
	}
	set(v1alpha1.ConditionFailed)
	// kstatus, and with it Flux, knows Failed of Jobs only.
	set(v1alpha1.ConditionStalled)
}

// requestReasons are those of which the problems say what a request came to.
var requestReasons = []string{
	v1alpha1.ReasonRetrying, v1alpha1.ReasonRefused, v1alpha1.ReasonForbidden, v1alpha1.ReasonSecretRefused,
	v1alpha1.ReasonReportNotReady, v1alpha1.ReasonOutcomeUnknown, v1alpha1.ReasonRecordPending,
}

// showProblems writes what is wrong, for people without access to the operator's log.
func (r *reconciliation) showProblems(status *v1alpha1.MandateActionStatus, reason string) {
	shown := status.Problems
	status.Problems = nil
	if !slices.Contains(requestReasons, reason) {
		return
	}
	found := slices.Clone(r.facts.problems)
	if reason == v1alpha1.ReasonRecordPending {
		found = []v1alpha1.Problem{r.notRecorded}
	}
	for i := range found {
		found[i].Reason = reason
	}
	status.Problems = engine.KeptProblems(shown, found, reason)
}

// eventReasons are those of an action that waits for a person. One that has failed has an event as well.
var eventReasons = []string{
	v1alpha1.ReasonMandateStalled, v1alpha1.ReasonIndividualsUnmatched, v1alpha1.ReasonRecordNotFound,
	v1alpha1.ReasonRecordRestored, v1alpha1.ReasonSecretRefused, v1alpha1.ReasonIdentityServiceNotAllowed,
}

// recordEvent makes an event of a status that was just written, if a person needs to know.
func (r *reconciliation) recordEvent(before []metav1.Condition, reason string) {
	v := conditionSpecs[reason]
	waits := slices.Contains(eventReasons, reason) && engine.ReasonOf(before, v1alpha1.ConditionReconciling) != reason
	ended := v.progress == failed && engine.ReasonOf(before, v1alpha1.ConditionFailed) == ""
	if waits || ended {
		r.config.Events.Eventf(r.action, nil, corev1.EventTypeWarning, reason, engine.ActionReconcile, "%s", v.message)
	}
}
