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
)

// newObject reports whether an application that was created for another Mandate of the name is about to be bound to
// this one. If a person says in spec.adopt that the application is this Mandate's, that is enough. An application that
// was adopted by the other Mandate was never created from a spec.
func (r *reconciliation) newObject() bool {
	if r.readingCandidate {
		return true // nobody but a notification says that the application is this Mandate's
	}
	if r.facts.otherAccount() && !r.facts.application.referenceMatched {
		return true // nobody says so: another account has other ids
	}
	return r.mandate.Status.ApplicationID == nil && r.record != nil && r.facts.id != 0 &&
		r.record.Spec.MandateRef.UID != r.mandate.UID && r.facts.record.sent && r.facts.adopt != r.facts.id
}

// compareSpec compares what the service shows with the spec of a new object. The status is written for the Mandate that
// is compared here, or not at all. It reports false if the spec or its Secrets cannot be read.
func (r *reconciliation) compareSpec(ctx context.Context, application *idv.Application) bool {
	if !r.newObject() {
		return true
	}
	live := &v1alpha1.Mandate{}
	err := r.live.Get(ctx, r.name(), live)
	if client.IgnoreNotFound(err) == nil && (live.UID != r.mandate.UID || live.Generation != r.mandate.Generation) {
		r.facts.failureReason = reasonStaleCache
		return false
	}
	var sent idv.NewApplication
	if err == nil {
		sent, err = r.wouldSend(ctx, live)
	}
	if err != nil {
		r.facts.failureReason = v1alpha1.ReasonReadFailed
		log.FromContext(ctx).Info("Failed to read the spec to compare", "error", apierror.Redact(err).Error())
	}
	if r.facts.failureReason != "" {
		return false
	}
	if fields := r.differences(sent, application); len(fields) > 0 {
		r.facts.application.differs = true
		log.FromContext(ctx).Info("The application was created from another spec",
			"applicationID", application.ID, "fields", fields)
	}
	return true
}

// wouldSend is what the application would be created from. A Secret that is gone or invalid ends the reconciliation.
func (r *reconciliation) wouldSend(ctx context.Context, live *v1alpha1.Mandate) (idv.NewApplication, error) {
	request := idv.NewApplication{Name: nameOf(live)}
	for i := range live.Spec.Individuals {
		details, err := r.readDetails(ctx, live, &live.Spec.Individuals[i])
		if err != nil {
			return request, err
		}
		if details.Reason != "" {
			r.facts.failureReason = details.Reason
		}
		request.Individuals = append(request.Individuals, details.NewIndividual)
	}
	return request, nil
}

// differences names the fields of the spec that are not as the service shows them, each only if it shows it.
func (r *reconciliation) differences(sent idv.NewApplication, shown *idv.Application) (fields []string) {
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
func (r *reconciliation) otherType(shown idv.MandateType) bool {
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
