package action

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/evidence"
	"github.com/mandate-io/idv/operator/individuals"
)

// mandateField is the index of actions by the name of their Mandate.
const mandateField = "spec.mandateRef.name"

// indexAction gives the index value of an action.
func indexAction(object client.Object) []string {
	action := object.(*v1alpha1.MandateAction) //nolint:forcetypeassert // it is registered for MandateActions
	return []string{action.Spec.MandateRef.Name}
}

// mandateChanged gives the actions that may have waited for a change of a Mandate.
func (r *Reconciler) mandateChanged(ctx context.Context, mandate client.Object) []reconcile.Request {
	var actions v1alpha1.MandateActionList
	err := r.config.Cache.List(ctx, &actions,
		client.InNamespace(mandate.GetNamespace()), client.MatchingFields{mandateField: mandate.GetName()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the MandateActions of a Mandate, will retry when it changes")
		return nil
	}
	var requests []reconcile.Request
	for i := range actions.Items {
		if action := &actions.Items[i]; action.Status.CompletedTime == nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(action)})
		}
	}
	return requests
}

// sawMandate reports whether the Mandate was there when the status was written.
func sawMandate(status *v1alpha1.MandateActionStatus) bool {
	waitsFor := engine.ReasonOf(status.Conditions, v1alpha1.ConditionReconciling)
	return waitsFor != "" && waitsFor != v1alpha1.ReasonMandateNotFound
}

func (r *reconciliation) mandateName() types.NamespacedName {
	return types.NamespacedName{Namespace: r.action.Namespace, Name: r.action.Spec.MandateRef.Name}
}

// observeMandate collects what the Mandate says and what is known of its IdentityService. live is past the cache, which
// may be further behind than that of the actions: a Mandate that was suspended before the action was created keeps it
// from being carried out.
func (r *reconciliation) observeMandate(ctx context.Context, live bool) error {
	mandate, reader := &v1alpha1.Mandate{}, r.config.Cache
	if live {
		reader = r.config.Live
	}
	err := reader.Get(ctx, r.mandateName(), mandate)
	if err != nil {
		r.facts.mandate = mandateFacts{seen: r.facts.mandate.seen, live: live}
		return client.IgnoreNotFound(err)
	}
	r.observed = mandate
	status := &mandate.Status
	r.facts.mandate = mandateFacts{
		exists:    true,
		seen:      true,
		live:      live,
		deleting:  !mandate.DeletionTimestamp.IsZero(),
		suspended: mandate.Spec.Suspend,
		stalled:   meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionStalled),
		unmatched: engine.ReasonOf(status.Conditions, v1alpha1.ConditionReady) == v1alpha1.ReasonIndividualsUnmatched,
		final:     status.Outcome == v1alpha1.OutcomeCompleted || status.Outcome == v1alpha1.OutcomeRejected,
		gone:      status.Outcome == v1alpha1.OutcomeExpired || status.Outcome == v1alpha1.OutcomeDeleted,
		named: slices.ContainsFunc(mandate.Spec.Individuals, func(i v1alpha1.Individual) bool {
			return i.Name == r.action.Spec.Individual
		}),
		application: ptr.Deref(status.ApplicationID, 0),
	}
	r.mandate, r.reference = mandate.ObjectMeta, status.Reference
	r.observeIndividual(status)
	r.facts.service, err = r.session.Resolve(ctx, &r.config.Services, mandate)
	if r.facts.service.Known {
		r.client = r.session.Connection.Client
		if standIn := r.config.StandIn; standIn != nil {
			r.client = standIn(r.session.Key)
		}
		r.facts.budgetWait = r.config.Budgets.Wait(r.session.Key, &r.session.Connection, r.waiter())
	}
	r.compareRecord()
	return err
}

func (r *reconciliation) observeIndividual(status *v1alpha1.MandateStatus) {
	i := slices.IndexFunc(status.Individuals, func(i v1alpha1.IndividualStatus) bool {
		return i.Name == r.action.Spec.Individual
	})
	if i < 0 {
		return
	}
	r.facts.mandate.individual = status.Individuals[i].ID
	digest, err := json.Marshal([]any{status.State, status.Individuals[i]})
	if err != nil {
		return // without a digest, no refusal is remembered
	}
	r.statusDigest = string(digest)
	r.facts.report.alreadyRefused = r.localState.Get(r.action).refusedDigest == r.statusDigest
}

// readApplication sees whether the service knows the application and the individual as the Mandate does.
func (r *reconciliation) readApplication(ctx context.Context) error {
	application, err := r.client.RetrieveApplication(ctx, r.facts.mandate.application)
	s := &r.facts.subject
	switch {
	case idv.IsNotFound(err):
		s.missing = true
		return nil
	case isForbidden(err):
		s.forbidden = true
		r.failed(err)
		log.FromContext(ctx).Info("The service does not let this user read the application", "error", err.Error())
		return nil
	case err != nil:
		r.requestFailed(ctx, err)
		return nil
	}
	s.read = true
	// An answer without a reference, or in other letters, is not one with another reference.
	s.sameReference = application.Reference == "" || strings.EqualFold(application.Reference, r.reference)
	s.sameAccount = s.sameReference && application.Reference != ""
	if f := &r.facts; s.sameAccount && f.record.otherAccount && f.record.application == f.mandate.application {
		r.config.Services.Connections.Prove(r.session.Key, connection.AccountOf(r.record), r.session.Connection.Account)
	}
	return r.identify(ctx, application)
}

// identify finds which individual of the answer the action names, by what the live Mandate and its Secrets say was
// sent: the id in the status may be a guess of an earlier version, or the service may have changed it.
func (r *reconciliation) identify(ctx context.Context, application *idv.Application) error {
	s, known := &r.facts.subject, individuals.Recorded(individuals.Known(r.observed), r.record)
	expected, _, err := individuals.Sent(ctx, r.config.Live, known, r.observed, r.reference)
	if err != nil {
		return err
	}
	matching := individuals.Match(expected, application.Individuals)
	s.unmatched = !matching.Complete
	r.expected, r.matching = expected, matching
	id := r.facts.mandate.individual
	s.member = slices.ContainsFunc(application.Individuals, func(i idv.Individual) bool { return i.ID == id })
	for i, found := range matching.Individuals {
		if expected[i].Name != r.action.Spec.Individual {
			continue
		}
		s.other = s.other || found == nil || found.ID != id
		if found != nil && r.record != nil && r.action.Spec.Type == v1alpha1.MandateActionResetIndividual {
			r.evidence, _ = evidence.Key(r.record.Spec.Salt).Individual(found, "")
		}
	}
	return nil
}
