package mandate

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// RecoveredBy is how the application of a create without a clear answer became known.
type RecoveredBy string

// The ways. A create that is sent again with the same reference shows that the one before it created nothing.
const (
	RecoveredByRepeat       RecoveredBy = "repeat"
	RecoveredByNotification RecoveredBy = "notification"
	RecoveredByAdoption     RecoveredBy = "adoption"
)

// observeRecovery tells that the outcome of an earlier create, which was unknown, is known.
func (r *reconciliation) observeRecovery(by RecoveredBy) {
	if r.recovered != nil {
		r.recovered(by)
	}
}

// adopt binds the application that a person has named, unless another Mandate has it.
func (r *reconciliation) adopt(ctx context.Context) error {
	unknown := r.facts.unknown || r.facts.record.sent()
	err := r.bind(ctx, r.facts.adopt)
	if err == nil && r.facts.bound {
		if unknown {
			r.observeRecovery(RecoveredByAdoption)
		}
		log.FromContext(ctx).Info("Adopted the application", "applicationID", r.facts.id)
	}
	return err
}

// bind writes the application that was found to be this Mandate's into the ledger, unless another Mandate has it. That
// is done one at a time: of two Mandates that name one application, the second finds the first.
func (r *reconciliation) bind(ctx context.Context, id int64) error {
	r.adoptionMutex.Lock()
	defer r.adoptionMutex.Unlock()
	name, spec := r.name(), r.recordOf()
	spec.ApplicationID = &id
	current, err := r.serviceIsCurrent(ctx)
	if err != nil || !current { // it may allow other references since
		r.facts.failureReason = reasonStaleCache
		return err
	}
	other, err := r.adoptedByOther(ctx, spec)
	if err != nil || other {
		r.facts.adoptedByOther = other
		return err
	}
	if spec.SpecDigests, err = r.digestsToBind(ctx); err != nil || r.facts.failureReason != "" {
		return err
	}
	adopted, err := r.ledger.Adopt(ctx, name, r.record, spec)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.facts.id, r.facts.bound = id, true
	if r.facts.application.read() { // before it was known to be this Mandate's
		r.localState.Update(r.mandate, func(s *localState) { s.readBy = r.knownAccount() })
	}
	r.setRecord(adopted)
	return nil
}

// digestsToBind are those of the spec that an application is bound to; nil if a Secret is missing or of no use. Another
// object of the name is then compared with what the service shows.
func (r *reconciliation) digestsToBind(ctx context.Context) (*v1alpha1.SpecDigests, error) {
	if r.comparedWith != nil {
		return specDigests(r.salt(), &r.mandate.Spec, r.comparedWith), nil
	}
	live, err := r.readLiveSpec(ctx)
	switch {
	case err != nil:
		return nil, err
	case live.problem == reasonStaleCache:
		r.facts.failureReason = reasonStaleCache
		return nil, nil
	case live.problem != "":
		return nil, nil
	}
	return specDigests(r.salt(), &r.mandate.Spec, &live.request), nil
}

// adoptedByOther reports whether another Mandate has the application that this one is to have: by the ledger, or by
// its status, if its record is lost. Of another namespace, the status counts only with the same ClusterIdentityService.
// With an IdentityService, its editor chooses which id a service answers, and where it leads afterwards.
func (r *reconciliation) adoptedByOther(ctx context.Context, spec v1alpha1.ApplicationRecordSpec) (bool, error) {
	other, err := r.ledger.HeldByOther(ctx, r.name(), spec)
	if err == nil && !other {
		other, err = r.boundToOther(ctx, *spec.ApplicationID, client.InNamespace(r.mandate.Namespace))
	}
	if err == nil && !other && spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
		ofService := client.MatchingFields{connection.MandateField: r.session.Key.String()}
		other, err = r.boundToOther(ctx, *spec.ApplicationID, ofService)
	}
	return other, err
}

// boundToOther looks for another Mandate whose status has the application.
func (r *reconciliation) boundToOther(ctx context.Context, wanted int64, option client.ListOption) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, option); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		other := &mandates.Items[i]
		if id := other.Status.ApplicationID; other.UID == r.mandate.UID || id == nil || *id != wanted {
			continue
		}
		if bound, err := r.sameService(ctx, other); bound || err != nil {
			return bound, err
		}
	}
	return false, nil
}

// sameService reports whether a Mandate with the id has its application at the service of this one.
func (r *reconciliation) sameService(ctx context.Context, other *v1alpha1.Mandate) (bool, error) {
	if other.Namespace != r.mandate.Namespace {
		return strings.EqualFold(other.Status.Reference, r.reference), nil
	}
	service, _, err := r.services.Find(ctx, connection.KeyOf(other), other.Namespace)
	switch {
	case err != nil:
		return false, err
	case service == nil: // its URL is not known, so it may be the same application
		return true, nil
	default:
		return idv.NormalBaseURL(service.Settings().BaseURL) == r.session.Connection.URL, nil
	}
}
