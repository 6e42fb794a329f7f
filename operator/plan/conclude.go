package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// reasonInvalid is of an object that the API server refuses.
const reasonInvalid = "Invalid"

// conclude says what the reconciliations of an object have come to.
func (p *planner) conclude(item *planned) {
	item.Calls = p.callsOf(item)
	for _, call := range item.Calls {
		item.Actions = withNew(item.Actions, actionOf[call.Kind])
	}
	switch object := p.world.objects[item.key].(type) {
	case *v1alpha1.Mandate:
		p.concludeMandate(item, object)
	case *v1alpha1.MandateAction:
		p.concludeAction(item, object)
	case nil:
		if item.Change == Pruned {
			item.Message = prunedMessage(item)
		}
	}
	if item.refusal != "" { // what is stored goes on
		item.Actions = slices.DeleteFunc(item.Actions, func(a Action) bool { return a == Wait })
		item.Actions = withNew(item.Actions, Refuse)
		item.Reason, item.Message = reasonInvalid, item.refusal
	}
	if len(item.Actions) == 0 {
		item.Actions = []Action{Nothing}
	}
	if item.sends() {
		p.assumeService(item)
		p.assumeOrder(item)
		if slices.Contains(item.Actions, Create) && item.before != nil && ledger.MayExist(item.before) {
			item.assume(assumedOpenCall)
		}
	}
}

// assumeOrder says in which order a plan takes what one change does to a Mandate.
func (p *planner) assumeOrder(item *planned) {
	for _, other := range p.items {
		if other.mandate == nil || item.mandate == nil || other.mandate.UID != item.mandate.UID || other == item {
			continue
		}
		decides := slices.Contains(item.Actions, Decide) || slices.Contains(item.Actions, Review)
		switch {
		case item.key.Kind == kindAction && other.Change == Pruned && other.key.Kind == kindMandate:
			item.assume(assumedPruned)
		case decides && other.key.Kind == kindAction && len(p.callsOf(other)) > 0:
			item.assume(assumedReset)
		}
	}
}

// callsOf are the calls that the plan's records have and the cluster's have not. Those of actions have their names.
func (p *planner) callsOf(item *planned) (calls []Call) {
	if item.isService() || item.mandate == nil {
		return nil
	}
	record := p.world.record(item.key.Namespace, item.mandate.Name)
	if record == nil {
		return nil
	}
	for i := range record.Spec.Calls {
		call := &record.Spec.Calls[i]
		ofAction := item.key.Kind == kindAction && call.Name == item.Name
		ofMandate := item.key.Kind == kindMandate && call.Name == ""
		if call.Result == v1alpha1.CallDone && (ofAction || ofMandate) && !item.had(call) {
			calls = append(calls, Call{call.Kind, call.Individual, call.Check, call.Evidence})
		}
	}
	return calls
}

// had reports whether the cluster's record has a call as it is now. A request that was sent once more is another one.
func (i *planned) had(call *v1alpha1.Call) bool {
	return i.before != nil && slices.ContainsFunc(i.before.Spec.Calls, func(c v1alpha1.Call) bool {
		return c.Seq == call.Seq && c.StartedTime.Equal(&call.StartedTime)
	})
}

func (p *planner) concludeMandate(item *planned, m *v1alpha1.Mandate) {
	bound := item.mandate.Status.ApplicationID == nil && m.Status.ApplicationID != nil
	if bound && !slices.Contains(item.Actions, Create) {
		item.Actions = append([]Action{Bind}, item.Actions...)
	}
	if item.Change != Unchanged || len(item.Actions) > 0 {
		item.Decisions = decisionsOf(item.mandate, p.personalOf(item.mandate))
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	if len(item.Actions) == 0 || ready.Status != metav1.ConditionTrue {
		item.Reason, item.Message = ready.Reason, ready.Message
	}
	decided := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionDecided)
	waits := m.Spec.Decision != nil && m.Status.Outcome == "" && decided != nil && decided.Status == metav1.ConditionFalse
	switch {
	case slices.Contains(item.Unknown, assumedApplication) && aboutChecks(ready.Reason):
		item.Reason, item.Message = "", ""
	case meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionStalled):
		item.Actions = append(item.Actions, Refuse)
	case meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReconciling), m.Spec.Suspend:
		item.Actions = append(item.Actions, Wait)
	case waits && item.Change != Unchanged:
		item.Actions = append(item.Actions, Wait)
		item.Reason, item.Message = decided.Reason, decided.Message
	}
	if item.Reason == v1alpha1.ReasonCreationBudgetReached { // it is created later
		item.Actions, item.Emails = []Action{Create}, emailsOf(m)
	}
}

// aboutChecks reports whether a reason is about what an application shows, which a plan knows from the status alone.
func aboutChecks(reason string) bool {
	return slices.Contains([]string{
		v1alpha1.ReasonDecisionOutdated, v1alpha1.ReasonReviewOutdated, v1alpha1.ReasonIndividualsUnmatched,
		v1alpha1.ReasonStateUnknown, v1alpha1.ReasonDecisionWaiting,
	}, reason)
}

// emailsOf is how many people a create e-mails.
func emailsOf(m *v1alpha1.Mandate) int {
	if m.Spec.SuppressEmailNotification {
		return 0
	}
	return len(m.Spec.Individuals)
}

func (p *planner) concludeAction(item *planned, a *v1alpha1.MandateAction) {
	if a.Spec.Type == v1alpha1.MandateActionDownloadReport {
		item.Message = "The action downloads a report. It e-mails nobody."
		return
	}
	for _, kind := range []string{
		v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionReconciling,
	} {
		condition := meta.FindStatusCondition(a.Status.Conditions, kind)
		if condition == nil || condition.Status != metav1.ConditionTrue || len(item.Calls) > 0 {
			continue
		}
		item.Reason, item.Message = condition.Reason, condition.Message
		switch {
		case kind == v1alpha1.ConditionFailed && item.Change != Unchanged:
			item.Actions = append(item.Actions, Refuse)
		case condition.Reason == v1alpha1.ReasonCreationBudgetReached: // it is sent later
			item.Actions, item.Emails = []Action{actionOf[v1alpha1.CallKind(a.Spec.Type)]}, 1
		case kind == v1alpha1.ConditionReconciling:
			item.Actions = append(item.Actions, Wait)
		}
		return
	}
}

// personalOf is what a manifest says of people.
func (p *planner) personalOf(m *v1alpha1.Mandate) *engine.Personal {
	var connected connection.Connection
	if service := p.serviceOf(m); service != nil {
		connected = connection.Of(service, connected.Account)
	}
	return engine.PersonalOf(m, connected.States)
}

func prunedMessage(item *planned) string {
	m := item.mandate
	switch {
	case item.key.Kind == kindAction:
		return "The action is deleted. What it has sent stays sent."
	case m == nil || item.key.Kind != kindMandate:
		return "The object is deleted."
	case m.Status.ApplicationID == nil:
		return "The Mandate is deleted. It has no application."
	case m.Spec.DeletionPolicy == v1alpha1.DeletionPolicyRetain || m.Spec.DeletionPolicy == "":
		return "The Mandate is deleted, and its application stays at the service, because deletionPolicy is Retain."
	default:
		return "The Mandate is deleted, and deletionPolicy is " + string(m.Spec.DeletionPolicy) + "."
	}
}

// assumeService says that a service does not work now.
func (p *planner) assumeService(item *planned) {
	service := p.serviceOf(item.mandate)
	if service == nil {
		return
	}
	if unknown := p.unknown[KeyOf(service)]; unknown != "" {
		item.assume(unknown)
		return
	}
	status := service.ServiceStatus()
	if !isReady(service) {
		reason := engine.ReasonOf(status.Conditions, v1alpha1.ConditionReady)
		if reason == "" {
			reason = "not seen by the operator yet"
		}
		item.assume("The " + string(connection.KeyOfService(service).Kind) + " " + service.GetName() + " is not Ready (" +
			reason + "). What is planned is sent when it is.")
	}
	if item.mandate.Spec.MandateType.ID == nil && (!isReady(service) || status.Truncated) {
		item.assume(assumedType)
	}
}
