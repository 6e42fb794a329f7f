package mandate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// eventOutcomeContradicted is the reason of the event that an application shows something else than its outcome.
const eventOutcomeContradicted = "OutcomeContradicted"

// eventApplicationFound is the reason of the event that an application which was Deleted exists.
const eventApplicationFound = "ApplicationFound"

// subscriptionMessages are the events about subscriptions that a person may do something about.
var subscriptionMessages = map[v1alpha1.SubscriptionState]string{
	v1alpha1.SubscriptionRefused: "The service refused the webhook subscription of the application, so the operator " +
		"polls the application. Correct spec.notifications of the IdentityService; the operator's log names the fields.",
	v1alpha1.SubscriptionOutcomeUnknown: "The answer to the webhook subscription was lost, so the subscription may " +
		"exist. It is not sent again. The operator polls the application and looks for the subscription daily.",
}

// sayContradiction makes an event when an application first shows something else than its outcome: a service may reopen
// one. The outcome stays, and decides what the operator does.
func (r *reconciliation) sayContradiction() {
	contradicts := r.facts.contradicts()
	said := r.localState.Get(r.mandate).contradicted
	if !r.facts.application.read() || contradicts == said {
		return
	}
	r.localState.Update(r.mandate, func(s *localState) { s.contradicted = contradicts })
	if contradicts {
		r.events.Eventf(r.mandate, nil, corev1.EventTypeWarning, eventOutcomeContradicted, engine.ActionObserve,
			"The service shows another state than the outcome of this Mandate; see status.state. The outcome stays. Ask "+
				"the service's support what became of the application.")
	}
}

// recordEvent makes an event of a status that was just written, if a person needs to know: the verification has an
// outcome, or somebody must act. What goes as it should makes no event: a normal verification has one, at its
// outcome, and none costs a write between the manifest and Ready. Their texts are the fixed messages of the conditions.
func (r *reconciliation) recordEvent(before, after *v1alpha1.MandateStatus) {
	if before.Outcome == v1alpha1.OutcomeDeleted && after.Outcome != before.Outcome {
		r.events.Eventf(r.mandate, nil, corev1.EventTypeNormal, eventApplicationFound, engine.ActionObserve,
			"The operator found the application again, so it removed the outcome Deleted.")
	}
	if message := subscriptionMessages[after.Subscription]; message != "" && after.Subscription != before.Subscription {
		r.events.Eventf(r.mandate, nil, corev1.EventTypeWarning, "Subscription"+string(after.Subscription),
			engine.ActionReconcile, "%s", message)
	}
	if after.Outcome != before.Outcome && after.Outcome != "" {
		eventType := corev1.EventTypeNormal
		if after.Outcome == v1alpha1.OutcomeExpired || after.Outcome == v1alpha1.OutcomeDeleted {
			eventType = corev1.EventTypeWarning
		}
		r.events.Eventf(
			r.mandate, nil, eventType, string(after.Outcome), engine.ActionObserve, "%s", messages[string(after.Outcome)],
		)
		return
	}
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionStalled)
	is := meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionStalled)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		r.events.Eventf(r.mandate, nil, corev1.EventTypeWarning, is.Reason, engine.ActionReconcile, "%s", is.Message)
	}
}
