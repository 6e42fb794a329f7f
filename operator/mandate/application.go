package mandate

import (
	"context"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/individuals"
)

// read retrieves the application.
func (r *reconciliation) read(ctx context.Context) {
	id, reason := r.facts.id, v1alpha1.ReasonReadFailed
	if id == 0 {
		id, reason = r.facts.adopt, v1alpha1.ReasonRetrying
	}
	application, err := r.client.RetrieveApplication(ctx, id)
	a := &r.facts.application
	switch {
	case idv.IsNotFound(err):
		a.lookup = applicationMissing
		return
	case idv.IsUnprovenNotFound(err):
		a.lookup = applicationUnproven
		if r.facts.id != 0 && r.othersRead() {
			a.lookup = applicationMissingAlone
		}
		return
	case idv.IsForbidden(err):
		r.requestFailed(ctx, err, v1alpha1.ReasonReadForbidden)
		return
	case err != nil:
		r.requestFailed(ctx, err, reason)
		return
	}
	r.observeApplication(ctx, application)
}

// observeApplication takes over what the service shows of an application, if it is this Mandate's.
func (r *reconciliation) observeApplication(ctx context.Context, application *idv.Application) {
	a := &r.facts.application
	a.referenceMatched = strings.EqualFold(application.Reference, r.reference)
	a.sameReference = r.matches(application.Reference) || r.isCreated(application)
	if !a.sameReference {
		a.lookup = applicationFound
		return // it is another Mandate's or person's: nothing of it is used
	}
	compared := r.newObject()
	if !r.compareSpec(ctx, application) {
		return // what to compare with cannot be read
	}
	a.sameAccount = a.referenceMatched || compared && !a.differs && r.showsWhatWasSent(application) &&
		individuals.Identified(application.Individuals)
	r.provesAccount()
	if r.facts.otherAccount() {
		a.lookup = applicationFound
		return // it may be another person's who has that id there: nothing of it is used
	}
	if !r.identify(ctx, application) {
		return
	}
	a.lookup = applicationFound
	if a.differs {
		return // it was created for another spec: nothing of it is used
	}
	r.application = application
	r.facts.bound = r.facts.bound || r.facts.id != 0 && (r.facts.adopt == 0 || r.facts.adopt == r.facts.id)
	a.stage = r.session.Connection.States.Stage(application.State)
	a.archived = application.Archived
	r.projection = project(r.mandate, r.matching.Individuals, application)
	if r.projection.hash() != projectionOf(&r.mandate.Status).hash() {
		r.localState.Update(r.mandate, func(s *localState) { s.changed = r.facts.now })
	}
	r.observeEvidence()
	r.applicationRead()
	r.subscriber.facts.readHere = true
}

// matches reports whether the reference that the service shows is this Mandate's. Where the ledger or the status
// vouches for the id, an application without a reference matches, and so does one in other letters. Where a person
// names the id, which may be wrong, only the same reference matches.
func (r *reconciliation) matches(shown string) bool {
	if r.facts.id == 0 {
		return shown == r.reference
	}
	return shown == "" || strings.EqualFold(shown, r.reference)
}

// isCreated reports whether the id that the answer to the create showed is that of an application that shows no
// reference, and otherwise what was sent. compareSpec compares the individuals.
func (r *reconciliation) isCreated(application *idv.Application) bool {
	return r.readingCandidate && application.ID == r.facts.record.candidate && application.Reference == "" &&
		r.showsWhatWasSent(application)
}

// showsWhatWasSent reports whether enough of an application shows to compare it with the spec.
func (r *reconciliation) showsWhatWasSent(application *idv.Application) bool {
	return application.Name.Reveal() != "" && application.MandateType != (idv.Reference{}) &&
		len(application.Individuals) == len(r.mandate.Spec.Individuals)
}

// probe reads something that has nothing to do with the application. If the service answers that, with the same
// credentials, its 404 is believed.
func (r *reconciliation) probe(ctx context.Context) {
	if _, err := r.client.RetrieveReferences(ctx); err != nil {
		r.requestFailed(ctx, err, v1alpha1.ReasonConfirming)
		return
	}
	r.facts.application.lookup = applicationGone
}
