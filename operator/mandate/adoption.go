package mandate

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// taken tells whether another Mandate has the application that this one is to adopt. The ledger of this namespace would
// tell, but not that of another one.
func (r *Reconciler) taken(ctx context.Context, p *pass) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.Cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		other := &mandates.Items[i]
		if id := other.Status.ApplicationID; other.UID == p.mandate.UID || id == nil || *id != p.facts.adopt {
			continue
		}
		service, _, err := connection.Find(ctx, r.Cache, r.ClusterServices, connection.KeyOf(other), other.Namespace)
		switch {
		case err != nil:
			return false, err
		case service == nil: // nobody can tell whether it is another one's
			return true, nil
		case ledger.NormalURL(service.Settings().BaseURL) == p.connection.URL:
			return true, nil
		}
	}
	return false, nil
}

// adopt writes the application that was found to be this Mandate's into the ledger.
func (p *pass) adopt(ctx context.Context) error {
	record := p.record
	if p.facts.records.elsewhere {
		var err error // what was sent to another service stays on record as it is
		if record, err = p.Ledger.Get(ctx, p.mandate.Namespace, p.connection.URL, p.reference); err != nil {
			return err
		}
		if record != nil && (record.Spec.MandateRef.Name != p.mandate.Name || record.Spec.ApplicationID != nil && *record.Spec.ApplicationID != p.facts.adopt) {
			p.facts.taken = true
			return nil
		}
	}
	spec := v1alpha1.ApplicationRecordSpec{
		ServiceURL: p.connection.URL, Reference: p.reference, ApplicationID: &p.facts.adopt,
		MandateRef: v1alpha1.RecordedMandate{Name: p.mandate.Name, UID: p.mandate.UID},
	}
	adopted, err := p.Ledger.Adopt(ctx, p.mandate.Namespace, record, spec)
	if err != nil {
		return p.lost(ctx, err)
	}
	p.setRecord(adopted)
	p.facts.bound = p.facts.id == p.facts.adopt
	log.FromContext(ctx).Info("Adopted the application", "applicationID", p.facts.id)
	return nil
}
