package action

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// mandateField is the index of orders by the name of their Mandate.
const mandateField = "spec.mandateRef.name"

// mandateChanged gives the orders that may have waited for a change of a Mandate.
func (r *Reconciler) mandateChanged(ctx context.Context, mandate client.Object) []reconcile.Request {
	var orders v1alpha1.MandateActionList
	err := r.Cache.List(ctx, &orders, client.InNamespace(mandate.GetNamespace()), client.MatchingFields{mandateField: mandate.GetName()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the MandateActions of a Mandate, will retry when it changes")
		return nil
	}
	var requests []reconcile.Request
	for i := range orders.Items {
		if order := &orders.Items[i]; order.Status.CompletedTime == nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(order)})
		}
	}
	return requests
}

// sawMandate tells whether the Mandate was there when the status was written.
func sawMandate(status *v1alpha1.MandateActionStatus) bool {
	waiting := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling)
	return waiting != nil && waiting.Reason != v1alpha1.ReasonMandateNotFound
}

// lookAtMandate collects what the Mandate says and what is known of its IdentityService.
func (p *pass) lookAtMandate(ctx context.Context, reader client.Reader) error {
	mandate := &v1alpha1.Mandate{}
	err := reader.Get(ctx, types.NamespacedName{Namespace: p.order.Namespace, Name: p.order.Spec.MandateRef.Name}, mandate)
	if err != nil {
		p.facts.mandate = mandateFacts{seen: p.facts.mandate.seen}
		return client.IgnoreNotFound(err)
	}
	status := &mandate.Status
	p.facts.mandate = mandateFacts{
		exists: true, seen: true,
		deleting:  !mandate.DeletionTimestamp.IsZero(),
		suspended: mandate.Spec.Suspend,
		stalled:   meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionStalled),
		applied:   status.ApplicationID != nil,
		final:     status.Outcome == v1alpha1.OutcomeCompleted || status.Outcome == v1alpha1.OutcomeRejected,
		gone:      status.Outcome == v1alpha1.OutcomeExpired || status.Outcome == v1alpha1.OutcomeDeleted,
		named:     slices.ContainsFunc(mandate.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.Name == p.order.Spec.Individual }),
	}
	if status.ApplicationID != nil {
		p.applicationID, p.reference = *status.ApplicationID, status.Reference
	}
	p.lookAtIndividual(status)
	return p.connect(ctx, mandate)
}

func (p *pass) lookAtIndividual(status *v1alpha1.MandateStatus) {
	i := slices.IndexFunc(status.Individuals, func(i v1alpha1.IndividualStatus) bool { return i.Name == p.order.Spec.Individual })
	if i < 0 {
		return
	}
	p.facts.mandate.individual = status.Individuals[i].ID
	situation, err := json.Marshal([]any{status.State, status.Individuals[i]})
	if err != nil {
		return // without a situation, no refusal is remembered
	}
	p.situation = string(situation)
	p.facts.report.held = p.memory.update(p.order, func(*note) {}).refused == p.situation
}

// connect finds the connection of the Mandate. One that was made from an earlier IdentityService is not it: its URL may be
// another's.
func (p *pass) connect(ctx context.Context, mandate *v1alpha1.Mandate) error {
	p.service, p.facts.service = connection.KeyOf(mandate), serviceFacts{}
	service, access, err := connection.Find(ctx, p.Cache, p.ClusterServices, p.service, mandate.Namespace)
	if err != nil || access == connection.Absent {
		return err
	}
	p.facts.service = serviceFacts{exists: true, denied: access == connection.Denied}
	if p.facts.service.denied {
		return nil
	}
	made, ok := p.Connections.Get(p.service)
	known := ok && made.UID == service.GetUID() && made.Generation == service.GetGeneration()
	p.connection = made
	p.facts.service.known, p.facts.service.ready = known, known && made.Ready
	return nil
}

// readMandate looks at the Mandate past the cache, which may be further behind than that of the orders: a Mandate that was
// suspended before the order was created keeps it from being carried out.
func (p *pass) readMandate(ctx context.Context) error {
	if err := p.lookAtMandate(ctx, p.Live); err != nil {
		return err
	}
	p.facts.mandate.live = true
	return nil
}

// readApplication sees whether the service knows the application and the individual as the Mandate does.
func (p *pass) readApplication(ctx context.Context) {
	application, err := p.connection.Client.RetrieveApplication(ctx, p.applicationID)
	s := &p.facts.subject
	switch {
	case idv.IsNotFound(err):
		s.missing = true
		return
	case err != nil:
		p.failed(ctx, err)
		return
	}
	s.read = true
	// An answer without a reference, or in other letters, is not one with another reference.
	s.sameReference = application.Reference == "" || strings.EqualFold(application.Reference, p.reference)
	s.member = slices.ContainsFunc(application.Individuals, func(i idv.Individual) bool { return i.ID == p.facts.mandate.individual })
}
