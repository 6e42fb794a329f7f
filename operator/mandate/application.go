package mandate

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// read retrieves the application.
func (p *pass) read(ctx context.Context) {
	id, trouble := p.facts.id, v1alpha1.ReasonReadFailed
	if id == 0 {
		id, trouble = p.facts.adopt, v1alpha1.ReasonRetrying
	}
	application, err := p.service.RetrieveApplication(ctx, id)
	a := &p.facts.application
	switch {
	case idv.IsNotFound(err):
		a.missing = true
		return
	case err != nil:
		p.failed(ctx, err, trouble)
		return
	}
	a.read, a.missing, a.proven = true, false, strings.EqualFold(application.Reference, p.reference)
	a.sameReference = p.matches(application.Reference)
	if !a.sameReference {
		return // it is somebody else's: nothing of it is looked at
	}
	p.application = application
	p.recallReferences(ctx)
	p.facts.bound = p.facts.bound || p.facts.id != 0 && (p.facts.adopt == 0 || p.facts.adopt == p.facts.id)
	a.stage = p.connection.States.Stage(application.State)
	a.archived = application.Archived
	p.reviews = p.openReviews(application)
	a.reviews = len(p.reviews)
	projected := p.mandate.Status.DeepCopy()
	project(projected, p.mandate, p.request.Individuals, application, p.reviewed)
	a.fingerprint = fingerprint(projected)
	if a.fingerprint != fingerprint(&p.mandate.Status) {
		p.memory.update(p.mandate, func(n *note) { n.changed = p.facts.now })
	}
}

// matches tells whether the reference that the service shows is this Mandate's. Where the ledger or the status vouches for
// the id, none at all is no other one, and neither is one in other letters; a person who names an id may be wrong.
func (p *pass) matches(shown string) bool {
	if p.facts.id == 0 {
		return shown == p.reference
	}
	return shown == "" || strings.EqualFold(shown, p.reference)
}

// recallReferences reads the references that the individuals were sent with, if they are needed to tell who is who: the
// cache does not have them, and the status not yet the ids. Without them the order decides.
func (p *pass) recallReferences(ctx context.Context) {
	shown := p.mandate.Status.Individuals
	unknown := slices.ContainsFunc(shown, func(i v1alpha1.IndividualStatus) bool { return i.ID == 0 })
	if len(p.request.Individuals) > 0 || len(shown) > 0 && !unknown {
		return
	}
	live := &v1alpha1.Mandate{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.mandate), live); err != nil || live.UID != p.mandate.UID {
		return
	}
	if inputs, err := p.readInputs(ctx, live); err != nil || inputs.problem != "" {
		p.request = idv.NewApplication{}
	}
}

// probe asks for something that has nothing to do with the application: a service that answers that, with these
// credentials, means its 404.
func (p *pass) probe(ctx context.Context) {
	if _, err := p.service.RetrieveReferences(ctx); err != nil {
		p.failed(ctx, err, v1alpha1.ReasonConfirming)
		return
	}
	p.facts.service.probed = true
}

// archive archives the application, and has it read again. A refusal keeps nothing else from being done.
func (p *pass) archive(ctx context.Context) {
	a := &p.facts.application
	a.archiveSent = true
	_, err := p.service.ArchiveApplication(ctx, p.facts.id)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Archived the application", "applicationID", p.facts.id)
		a.read, p.facts.deletion.done = false, true
	case p.facts.deletion.requested && idv.IsNotFound(err):
		p.facts.deletion.done = true
	case idv.IsRefusal(err):
		p.facts.deletion.refused = true
		log.FromContext(ctx).Info("The service refused to archive the application", "error", err.Error())
	default:
		p.failed(ctx, err, v1alpha1.ReasonReadFailed)
	}
}

// decide sends complete or reject, and has the application read again. A refusal is shown, and remembered by what the
// application looked like.
func (p *pass) decide(ctx context.Context, send func(context.Context, int64) (*idv.Application, error)) {
	a := &p.facts.application
	a.decided = true
	_, err := send(ctx, p.facts.id)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Carried out the decision", "decision", p.mandate.Spec.Decision, "applicationID", p.facts.id)
		a.read = false
	case idv.IsRefusal(err):
		a.refused = true
		log.FromContext(ctx).Info("The service refused the decision", "error", err.Error())
	default:
		// Whether it was carried out shows when the application is read next; sending it twice is harmless.
		p.failed(ctx, err, v1alpha1.ReasonReadFailed)
	}
}
