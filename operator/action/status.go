package action

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// writeStatus is the only place that writes the status of orders: one patch, and none if nothing changed. It is refused
// with a conflict if p.order is not the latest, whatever has changed. That is what makes a start one operator's alone.
func (p *pass) writeStatus(ctx context.Context, reason string) error {
	if p.keepsStatus(reason) {
		return nil
	}
	updated := p.order.DeepCopy()
	p.statusFor(&updated.Status, reason)
	if equality.Semantic.DeepEqual(updated.Status, p.order.Status) {
		return nil
	}
	if err := p.Status.Patch(ctx, updated, client.MergeFromWithOptions(p.order, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	p.order = updated
	return nil
}

// keepsStatus: a start of the operator, before it has looked at the IdentityService, is no news.
func (p *pass) keepsStatus(reason string) bool {
	switch reason {
	case reasonDeleting, reasonAwaiting, reasonBehind:
		return true
	case v1alpha1.ReasonServiceNotReady:
		return !p.facts.service.known && p.order.Status.ObservedGeneration == p.order.Generation
	}
	return false
}

// statusFor is the status that a reason makes.
func (p *pass) statusFor(status *v1alpha1.MandateActionStatus, reason string) {
	generation := p.order.Generation
	status.ObservedGeneration = generation
	if reason == reasonEnded { // the time to live was edited; kubectl wait compares generations
		for i := range status.Conditions {
			status.Conditions[i].ObservedGeneration = generation
		}
		return
	}
	now := metav1.NewTime(p.facts.now)
	status.Attempt = ""
	if reason == v1alpha1.ReasonStarted {
		if status.StartedTime == nil {
			status.StartedTime = &now
		}
		if p.facts.emails {
			status.Attempt = p.attempt
		}
	}
	v := verdicts[reason]
	set := func(conditionType string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: v.message, ObservedGeneration: generation})
	}
	if v.progress == open {
		set(v1alpha1.ConditionReconciling)
		return
	}
	status.CompletedTime = &now
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
	if v.progress == complete {
		set(v1alpha1.ConditionComplete)
		return
	}
	set(v1alpha1.ConditionFailed)
	// kstatus, and with it Flux, knows Failed of Jobs only.
	set(v1alpha1.ConditionStalled)
}
