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

// adopt writes the application that was found to be this Mandate's into the ledger.
func (r *reconciliation) adopt(ctx context.Context) error {
	record := r.record
	if r.facts.records.recordedAtOtherURL {
		var err error // what was sent to another service stays on record as it is
		record, err = r.ledger.ByReference(ctx, r.mandate.Namespace, r.session.Connection.URL, r.reference)
		if err != nil {
			return err
		}
		if record != nil && !r.mayAdoptWith(&record.Spec) {
			r.facts.adoptedByOther = true
			return nil
		}
	}
	spec := v1alpha1.ApplicationRecordSpec{
		ServiceURL: r.session.Connection.URL, Reference: r.reference, ApplicationID: &r.facts.adopt,
		MandateRef: v1alpha1.RecordedMandate{Name: r.mandate.Name, UID: r.mandate.UID},
	}
	adopted, err := r.ledger.Adopt(ctx, r.mandate.Namespace, record, spec)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.setRecord(adopted)
	r.facts.bound = r.facts.id == r.facts.adopt
	log.FromContext(ctx).Info("Adopted the application", "applicationID", r.facts.id)
	return nil
}

// mayAdoptWith reports whether a record is this Mandate's, and does not name another application.
func (r *reconciliation) mayAdoptWith(record *v1alpha1.ApplicationRecordSpec) bool {
	id := record.ApplicationID
	return record.MandateRef.Name == r.mandate.Name && (id == nil || *id == r.facts.adopt)
}
