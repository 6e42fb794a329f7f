package mandate

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/ledger"
)

func (p *pass) readRecord(ctx context.Context) error {
	record, err := p.Ledger.Get(ctx, p.mandate.Namespace, p.connection.URL, p.reference)
	if err != nil {
		return err
	}
	p.setRecord(record)
	p.facts.records.read = true
	if record == nil || p.facts.records.mine {
		return nil
	}
	p.facts.records.abandoned, err = p.abandoned(ctx, record)
	return err
}

// abandoned tells whether the Mandate of a record has no use for its reference any more. Two Mandates that want the same
// one would otherwise take the record from each other, and send, for ever.
func (p *pass) abandoned(ctx context.Context, record *v1alpha1.ApplicationRecord) (bool, error) {
	owner := &v1alpha1.Mandate{}
	err := p.Cache.Get(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.MandateRef.Name}, owner)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	wanted := owner.Status.Reference
	return wanted != "" && wanted != record.Spec.Reference, err
}

// listRecords looks for an attempt, or an application, under a reference or at a service that the Mandate had before an
// edit. What may have been created by it is the Mandate's, whatever the spec says now.
func (p *pass) listRecords(ctx context.Context) error {
	records, err := p.Ledger.OfMandate(ctx, p.mandate.Namespace, p.mandate.Name)
	if err != nil {
		return err
	}
	p.facts.records.listed = true
	var best *v1alpha1.ApplicationRecord
	for i := range records {
		if best == nil && p.weight(&records[i]) > 0 || best != nil && p.weight(&records[i]) > p.weight(best) {
			best = &records[i]
		}
	}
	if best != nil {
		p.reference = best.Spec.Reference
		p.facts.inputs = inputsFacts{} // they were for the other reference
		p.setRecord(best)
	}
	return nil
}

// weight of a record for this Mandate: 0 if it has nothing to tell about it. What is at the service that is used now counts
// more, and an application more than an attempt.
func (p *pass) weight(record *v1alpha1.ApplicationRecord) int {
	spec, here := &record.Spec, 0
	if spec.ServiceURL == p.connection.URL {
		here = 1
	}
	switch id := spec.ApplicationID; {
	case !p.owns(spec):
		return 0
	case p.facts.id != 0 && (id == nil || *id != p.facts.id):
		return 0
	case id != nil:
		return 3 + here
	case spec.Attempt != nil && spec.Attempt.Sent:
		return 1 + here
	default:
		return 0
	}
}

// owns tells whether a record of this name is this Mandate's. That of an earlier Mandate is, if it asked for the same: for
// the same reference, or both for the default one, which another referencePrefix changes.
func (p *pass) owns(spec *v1alpha1.ApplicationRecordSpec) bool {
	wanted := p.mandate.Spec.Reference
	switch {
	case spec.MandateRef.Name != p.mandate.Name: // a hash in the label could be of two names, and people can edit it
		return false
	case spec.MandateRef.UID == p.mandate.UID:
		return true
	case p.connection.URL != "" && spec.ServiceURL != p.connection.URL:
		return false
	default:
		return wanted == spec.Reference || wanted == "" && reference.IsMandate(spec.Reference, p.mandate.Namespace, p.mandate.Name)
	}
}

// release makes way for this Mandate where another one provably left nothing at the service.
func (p *pass) release(ctx context.Context) error {
	if err := p.Ledger.Release(ctx, p.record); err != nil {
		return p.lost(ctx, err)
	}
	p.setRecord(nil)
	return nil
}

// setRecord takes over what a record says.
func (p *pass) setRecord(record *v1alpha1.ApplicationRecord) {
	p.record = record
	r := recordsFacts{read: p.facts.records.read || record != nil, listed: p.facts.records.listed}
	if record != nil {
		r.exists, r.mine, r.elsewhere = true, record.Spec.MandateRef.Name == p.mandate.Name, record.Spec.ServiceURL != p.connection.URL
		if id := record.Spec.ApplicationID; id != nil {
			r.id = *id
		}
		if a := record.Spec.Attempt; a != nil {
			r.sent, r.ordinal, r.verdict, r.inputs = a.Sent, a.Ordinal, a.Verdict, a.Inputs
			r.first = a.FirstStartedTime.Time
			if r.mine && r.sent { // the only kind that is waited for; memory holds one attempt
				r.observed = p.memory.observe(p.mandate, a.Nonce, p.Clock.Now())
			}
		}
		switch created := record.Spec.CreatedTime; {
		case !p.facts.createdTime.IsZero():
		case created != nil:
			p.facts.createdTime = created.Time
		case r.id != 0: // adopted after its own create had no answer
			p.facts.createdTime = r.first
		}
	}
	p.facts.records = r
	if r.mine && !r.elsewhere && r.id != 0 && p.facts.id == 0 {
		p.facts.id = r.id
	}
}

// lost turns a lost race into a new look at the ledger: whoever won is the one to learn from.
func (p *pass) lost(ctx context.Context, err error) error {
	if !errors.Is(err, ledger.ErrLost) {
		return err
	}
	log.FromContext(ctx).V(1).Info("ApplicationRecord changed meanwhile, reading it again")
	p.facts.records, p.facts.untouched = recordsFacts{}, false
	p.record = nil
	return nil
}
