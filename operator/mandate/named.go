package mandate

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// lookedAt is what this process knows of the applications that an annotation names. The lists are texts, so that two
// states can be compared.
type lookedAt struct {
	by lookup // what follows is about the ids there
	// others belong to others. missing were not found once, since then, and absent twice.
	others, missing, absent string
	since                   time.Time
	// request is the one with which they were looked for. Another one may name what did not exist before.
	request string
}

// lookedAtBy gives what is known of the ids at one connection.
func (s *localState) lookedAtBy(by lookup) lookedAt {
	if s.named == nil || s.named.by != by {
		return lookedAt{by: by}
	}
	return *s.named
}

// namedApplications are those that are left to look at, the last ones first. That something is not found may come from
// a read that lags behind the create, so it is looked for once more, later, and whenever a notification comes.
func (r *reconciliation) namedApplications() []int64 {
	named := engine.Candidates(r.mandate)
	if r.facts.id != 0 {
		return nil
	}
	if r.shownID != 0 { // it shows the reference, so it is looked at first
		named = append(slices.DeleteFunc(named, func(id int64) bool { return id == r.shownID }), r.shownID)
	}
	if len(named) == 0 {
		return nil
	}
	state := r.localState.Get(r.mandate)
	known := state.lookedAtBy(r.lookup())
	skipped := engine.ParseCandidates(known.others)
	if known.request == engine.ReconcileRequest(r.mandate) {
		skipped = append(skipped, engine.ParseCandidates(known.absent)...)
		if r.facts.now.Sub(known.since) < lagAllowance {
			skipped = append(skipped, engine.ParseCandidates(known.missing)...)
		}
	}
	slices.Reverse(named)
	return slices.DeleteFunc(named, func(id int64) bool { return slices.Contains(skipped, id) || r.isOthers(id) })
}

// isOthers reports whether an application has shown another reference when it was read for another Mandate.
func (r *reconciliation) isOthers(id int64) bool {
	shown, known := r.shown.of(r.namedID(id))
	return known && shown != r.reference
}

// readNamed retrieves the next application that a notification has named. Those that are left when this Mandate's is
// found may be those of others.
func (r *reconciliation) readNamed(ctx context.Context) {
	id := r.facts.named[0]
	switch {
	case r.isOthers(id): // since this reconciliation began
		r.skipNamed(id, func(*lookedAt) {})
		return
	case !r.shown.startRead(r.namedID(id)): // it is read for another Mandate now, and may be this one's
		r.facts.named, r.facts.namedUnread = r.facts.named[1:], true
		return
	}
	application, err := r.retrieveNamed(ctx, id)
	switch {
	case r.facts.found != 0 && err != nil && !idv.IsNotFound(err):
		r.facts.named = []int64{r.facts.found}
		return
	case r.facts.found != 0:
		r.facts.named = r.facts.named[1:]
		return
	case idv.IsNotFound(err):
		r.skipNamed(id, func(l *lookedAt) {
			missing := engine.ParseCandidates(l.missing)
			if slices.Contains(missing, id) {
				l.absent = with(l.absent, id)
			} else {
				l.missing, l.since = with(l.missing, id), r.facts.now
				r.retryMissing = true
			}
		})
		return
	case err != nil:
		r.facts.named, r.facts.namedUnread = nil, true
		log.FromContext(ctx).Info("Failed to read an application that a notification names", "error", err.Error())
		return
	}
	r.looking = true
	r.take(ctx, application)
	r.looking = false
	switch a := &r.facts.application; {
	case r.facts.failureReason != "": // what to compare with cannot be read
	case !a.sameReference:
		r.skipOther(id)
	case a.differs:
		r.skipOther(id)
	default:
		r.facts.found = id
		r.facts.named = append(slices.Clone(r.facts.named[1:]), id)
	}
}

// retrieveNamed ends what startRead has begun.
func (r *reconciliation) retrieveNamed(ctx context.Context, id int64) (*idv.Application, error) {
	defer r.shown.finishRead(r.namedID(id))
	application, err := r.client.RetrieveApplication(ctx, id)
	if err == nil {
		r.show(id, application.Reference)
	}
	return application, err
}

// skipOther goes on to the next application after one that is not this Mandate's, and never will be.
func (r *reconciliation) skipOther(id int64) {
	r.skipNamed(id, func(l *lookedAt) { l.others = with(l.others, id) })
}

// skipNamed goes on to the next application, and keeps what was learned of this one.
func (r *reconciliation) skipNamed(id int64, learn func(*lookedAt)) {
	if r.facts.found == 0 || r.facts.found == id {
		r.forgetFound()
	}
	left := slices.Clone(r.facts.named)
	r.facts.named = slices.DeleteFunc(left, func(other int64) bool { return other == id })
	request := engine.ReconcileRequest(r.mandate)
	r.localState.Update(r.mandate, func(s *localState) {
		named := s.lookedAtBy(r.lookup())
		if named.request != request {
			named.request = request
			named.missing, named.absent = "", ""
		}
		learn(&named)
		s.named = &named
	})
}

// with adds an id to a list. It forgets the first ones of too many: the annotation does not name these any more.
func with(list string, id int64) string {
	ids := engine.ParseCandidates(list)
	ids = append(slices.DeleteFunc(ids, func(other int64) bool { return other == id }), id)
	return engine.FormatCandidates(ids[max(len(ids)-v1alpha1.MaxCandidates, 0):])
}

// forgetFound drops what was read of an application that is not this Mandate's after all.
func (r *reconciliation) forgetFound() {
	r.facts.found, r.facts.application = 0, applicationFacts{}
	r.application = nil
}

// bindFound binds the application that a notification has named, unless another Mandate has it.
func (r *reconciliation) bindFound(ctx context.Context) error {
	id := r.facts.found
	if err := r.bind(ctx, id); err != nil {
		return err
	}
	switch {
	case r.facts.bound:
		r.observeFound(FoundByNotification)
		log.FromContext(ctx).Info("Found the application again, which a notification has named", "applicationID", id)
	case r.facts.adoptedByOther:
		r.facts.adoptedByOther = false
		r.skipOther(id)
	default:
		r.forgetFound() // the ledger has changed, and is read again
	}
	return nil
}
