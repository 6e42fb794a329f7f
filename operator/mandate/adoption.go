package mandate

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// adoptedByOther reports whether another Mandate has the application that this one is to adopt. The ledger knows only
// the Mandates of one namespace.
func (r *reconciliation) adoptedByOther(ctx context.Context) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		other := &mandates.Items[i]
		if id := other.Status.ApplicationID; other.UID == r.mandate.UID || id == nil || *id != r.facts.adopt {
			continue
		}
		service, _, err := r.services.Find(ctx, connection.KeyOf(other), other.Namespace)
		switch {
		case err != nil:
			return false, err
		case service == nil: // its URL is not known, so it may be the same application
			return true, nil
		case ledger.NormalURL(service.Settings().BaseURL) == r.session.Connection.URL:
			return true, nil
		}
	}
	return false, nil
}

// adopt writes the application that was found to be this Mandate's into the ledger, unless another Mandate has it
// there. Adoptions come one at a time: of two Mandates that name one application, the second finds the first.
func (r *reconciliation) adopt(ctx context.Context) error {
	r.adopting.Lock()
	defer r.adopting.Unlock()
	name, spec := r.name(), r.recordOf(nil)
	spec.ApplicationID = &r.facts.adopt
	other, err := r.ledger.HeldByOther(ctx, name, spec)
	if err != nil || other {
		r.facts.adoptedByOther = other
		return err
	}
	adopted, err := r.ledger.Adopt(ctx, name, r.record, spec)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.facts.id, r.facts.bound = r.facts.adopt, true
	r.setRecord(adopted)
	log.FromContext(ctx).Info("Adopted the application", "applicationID", r.facts.id)
	return nil
}
