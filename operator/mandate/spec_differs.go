package mandate

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// newObject reports whether an application that another Mandate of the name created or adopted, or this one before an
// edit, is about to be bound to this one. If a person says in spec.adopt that it is this Mandate's, that is enough.
func (r *reconciliation) newObject() bool {
	if r.readingCandidate {
		return true // nobody but a notification says that the application is this Mandate's
	}
	if r.facts.otherAccount() && !r.facts.application.referenceMatched {
		return true // nobody says so: another account has other ids
	}
	return r.mandate.Status.ApplicationID == nil && r.record != nil && r.facts.id != 0 &&
		(r.record.Spec.MandateRef.UID != r.mandate.UID || r.editedSince()) && r.facts.adopt != r.facts.id
}

// editedSince reports whether this Mandate was edited after a create was sent, and before the status showed that: the
// API server refuses it afterwards. The answer to an earlier request can come after the last one.
func (r *reconciliation) editedSince() bool {
	create := ledger.CreateOf(r.record)
	return create != nil && (create.Edited || create.Generation != r.mandate.Generation)
}

// compareSpec compares the spec of a new object with what the application was created or adopted for, by what the
// record has of that, and otherwise by what the service shows. The status is written for the Mandate that is compared
// here, or not at all. It reports false if the spec or its Secrets cannot be read.
func (r *reconciliation) compareSpec(ctx context.Context, application *idv.Application) bool {
	if !r.newObject() {
		return true
	}
	live, err := r.readLiveSpec(ctx)
	switch {
	case err != nil:
		r.facts.failureReason = v1alpha1.ReasonReadFailed
		log.FromContext(ctx).Info("Failed to read the spec to compare", "error", apierror.Redact(err).Error())
	case live.problem != "":
		r.facts.failureReason = live.problem
	}
	if r.facts.failureReason != "" {
		return false
	}
	r.comparedWith = &live.request
	if fields := r.differences(live, application); len(fields) > 0 {
		r.facts.application.differs = true
		log.FromContext(ctx).Info("The application was created or adopted for another spec, or shows too little to compare",
			"applicationID", application.ID, "fields", fields)
	}
	return true
}

// liveSpec is what an application is made from, past the cache.
type liveSpec struct {
	request idv.NewApplication // personal data
	inputs  string             // digest of the versions of the spec and its Secrets
	problem string             // reason why a Secret is of no use; "" if nothing is wrong
}

// readLiveSpec reads the spec of this Mandate, and its Secrets. If it is not the one in the cache any more, that ends
// the reconciliation.
func (r *reconciliation) readLiveSpec(ctx context.Context) (spec liveSpec, err error) {
	live := &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(r.live.Get(ctx, r.name(), live)); err != nil {
		return spec, err
	}
	if live.UID != r.mandate.UID || live.Generation != r.mandate.Generation {
		spec.problem = reasonStaleCache
		return spec, nil
	}
	mandateType, _ := r.mandateTypeID(live.Spec.MandateType)
	return r.readSpec(ctx, live, mandateType)
}

// differences names the fields of the spec that are not as the application was created or adopted for. Where the record
// does not say so, the service has to show the individuals, unless the spec is the one that was sent.
func (r *reconciliation) differences(live liveSpec, application *idv.Application) []string {
	shown := r.shownDifferences(live.request, application)
	if r.record == nil || r.record.Spec.SpecDigests == nil {
		if len(shown) == 0 && !r.isSent(live) && !individuals.Identified(application.Individuals) {
			return []string{"spec.individuals"}
		}
		return shown
	}
	digests := specDigests(r.salt(), &r.mandate.Spec, &live.request)
	recorded := digestDifferences(r.record.Spec.SpecDigests, digests)
	if len(recorded) == 0 && !r.readingCandidate && !r.facts.otherAccount() {
		return nil // the service may show what was changed there
	}
	return append(recorded, shown...)
}

// isSent reports whether the spec and its Secrets are those that the create was made from.
func (r *reconciliation) isSent(live liveSpec) bool {
	create := ledger.CreateOf(r.record)
	return create != nil && create.Sends > 0 && !create.Edited && create.Inputs == live.inputs
}

// shownDifferences names the fields of the spec that are not as the service shows them, each only if it shows it.
func (r *reconciliation) shownDifferences(sent idv.NewApplication, shown *idv.Application) (fields []string) {
	if name := shown.Name.Reveal(); name != "" && !individuals.SameText(name, sent.Name.Reveal()) {
		fields = append(fields, "spec.name")
	}
	if r.otherType(shown.MandateType) {
		fields = append(fields, "spec.mandateType")
	}
	switch n := len(shown.Individuals); {
	case n != 0 && n != len(sent.Individuals):
		return append(fields, "spec.individuals")
	case !individuals.Identified(shown.Individuals):
		return fields
	}
	expected := make([]individuals.Expected, len(sent.Individuals))
	for i, one := range sent.Individuals {
		expected[i] = individuals.Expected{
			Name: r.mandate.Spec.Individuals[i].Name, Reference: one.Reference.Reveal(), Email: one.Email.Reveal(),
		}
	}
	for i, found := range individuals.Match(expected, shown.Individuals).Individuals {
		path := fmt.Sprintf("spec.individuals[%s]", expected[i].Name)
		switch {
		case found == nil:
			fields = append(fields, path+".reference")
		case found.Email.Reveal() != "" && !individuals.SameOrMasked(found.Email.Reveal(), expected[i].Email):
			fields = append(fields, path+".email")
		}
	}
	return fields
}

// otherType reports whether the service shows another mandate type than the one that the spec selects. It is the same
// if its id, or what the spec selects it by, is the same: a service may have made its types anew.
func (r *reconciliation) otherType(shown idv.Reference) bool {
	selector := r.mandate.Spec.MandateType
	id, found := r.mandateTypeID(selector)
	compared := false
	same := func(shown, wanted string) bool {
		known := shown != "" && wanted != ""
		compared = compared || known
		return known && individuals.SameText(shown, wanted)
	}
	if found && shown.ID != 0 {
		compared = true
		if id == shown.ID {
			return false
		}
	}
	return !same(shown.Code, selector.Code) && !same(shown.Name, selector.Name) && compared
}
