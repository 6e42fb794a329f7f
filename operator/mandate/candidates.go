package mandate

import (
	"context"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// candidates are the applications that may be the Mandate's, the last ones first.
func (r *reconciliation) candidates() []int64 {
	named := engine.Candidates(r.mandate)
	if own := r.facts.record.candidate; own != 0 { // the answer to the create showed it
		named = append(slices.DeleteFunc(named, func(id int64) bool { return id == own }), own)
	}
	if r.shownCandidate != 0 { // it shows the reference, so it is read first
		named = append(slices.DeleteFunc(named, func(id int64) bool { return id == r.shownCandidate }), r.shownCandidate)
	}
	slices.Reverse(named)
	return named
}

// selectCandidates finds out which applications are to be read now. That something is not found may come from a
// read that lags behind the create, so it is looked for once more, later, and when a notification comes.
func (r *reconciliation) selectCandidates() {
	r.facts.candidates = nil
	if r.facts.id != 0 {
		return
	}
	r.eachCandidate(func(id int64, last *candidateRead, next time.Time) {
		switch {
		case !r.facts.now.Before(next):
			r.facts.candidates = append(r.facts.candidates, id)
		case last.delaysCreate():
			r.facts.candidatePending = true
		}
	})
}

// nextCandidateRead is in how long an application is to be read again; 0 if none is.
func (r *reconciliation) nextCandidateRead() (soonest time.Duration) {
	r.eachCandidate(func(_ int64, _ *candidateRead, next time.Time) {
		if after := next.Sub(r.facts.now); after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	})
	return soonest
}

// eachCandidate goes through the applications that are to be read, now or later, with the last read of each and when
// the next one is. Without a last read, the next one is at once.
func (r *reconciliation) eachCandidate(do func(id int64, last *candidateRead, next time.Time)) {
	all := r.candidates()
	if len(all) == 0 {
		return
	}
	known, request := r.candidatesRead(), engine.ReconcileRequest(r.mandate)
	for i, id := range all {
		if r.belongsToOther(id) {
			continue
		}
		last := known.of(id)
		if last == nil {
			do(id, nil, time.Time{})
		} else if next, again := last.next(request, i == 0 || i == 1 && r.shownCandidate != 0); again {
			do(id, last, next)
		}
	}
}

// belongsToOther reports whether an application has shown another reference, for whichever Mandate it was read, and no
// person has asked for another read since.
func (r *reconciliation) belongsToOther(id int64) bool {
	shown, known := r.candidateReferences.of(r.candidateID(id))
	return known && shown != digestOf(r.reference) && !r.personAsksFor(id)
}

// personAsksFor reports whether an application was not read yet with the request of a person.
func (r *reconciliation) personAsksFor(id int64) bool {
	request := r.pendingRequest()
	if request == "" || engine.IsNotification(request) {
		return false
	}
	last := r.candidatesRead().of(id)
	return last == nil || last.request != request
}

// readCandidate retrieves the next application that a notification has named. Those that are left when this Mandate's
// is found may be those of others.
func (r *reconciliation) readCandidate(ctx context.Context) {
	id := r.facts.candidates[0]
	switch {
	case r.belongsToOther(id): // since this reconciliation began
		r.dropCandidate(id)
		return
	case !r.candidateReferences.startRead(r.candidateID(id)): // it is read for another Mandate now, and may be this one's
		r.facts.candidates, r.facts.candidatePending = r.facts.candidates[1:], true
		return
	}
	application, err := r.retrieveCandidate(ctx, id)
	if err != nil {
		r.candidateFailed(ctx, id, err)
		return
	}
	if r.facts.found != 0 {
		r.facts.candidates = r.facts.candidates[1:]
		return
	}
	r.readingCandidate = true
	r.observeApplication(ctx, application)
	r.readingCandidate = false
	switch a := &r.facts.application; {
	case r.facts.failureReason != "": // what to compare with cannot be read
	case !a.sameReference:
		r.skipCandidate(id, resultWithReference(application.Reference))
	case a.differs:
		r.skipCandidate(id, candidateIncomplete)
	default:
		r.facts.found = id
		r.facts.candidates = append(slices.Clone(r.facts.candidates[1:]), id)
	}
}

// candidateFailed goes on to the next application after one that could not be read. One that no service answers for
// must not keep those that it was named with from being read.
func (r *reconciliation) candidateFailed(ctx context.Context, id int64, err error) {
	kind := idv.KindOf(err)
	switch {
	case r.facts.found != 0 && isConnectionError(ctx, err):
		r.facts.candidates = []int64{r.facts.found}
		return
	case r.facts.found != 0:
		r.facts.candidates = r.facts.candidates[1:]
		return
	case isConnectionError(ctx, err):
		r.facts.candidates, r.facts.candidatePending = nil, true
	case idv.OutcomeOf(err).NothingDone():
		r.skipCandidate(id, candidateRefused)
	default:
		r.skipCandidate(id, candidateUnread)
		state := r.localState.Get(r.mandate)
		r.facts.candidatePending = r.facts.candidatePending || state.candidateReads.of(id).delaysCreate()
		if kind == idv.KindTimeout && len(r.facts.candidates) > 0 { // the next one may take as long, in the same slot
			r.facts.candidates, r.facts.candidatePending = nil, true
		}
	}
	if kind != idv.KindNotFound {
		log.FromContext(ctx).Info("Failed to read an application that a notification names", "error", err.Error())
	}
}

// isConnectionError reports whether an error says nothing about the application: none could be read.
func isConnectionError(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*idv.Error](err)
	return !ok || e.Login || ctx.Err() != nil ||
		slices.Contains([]idv.Kind{idv.KindUnreachable, idv.KindRateLimited, idv.KindCanceled}, e.Kind)
}

// retrieveCandidate ends what startRead has begun.
func (r *reconciliation) retrieveCandidate(ctx context.Context, id int64) (*idv.Application, error) {
	defer r.candidateReferences.finishRead(r.candidateID(id))
	application, err := r.client.RetrieveApplication(idv.WithUntrustedID(ctx), id)
	if err == nil {
		r.rememberCandidate(id, application.Reference)
	}
	return application, err
}

// candidatesRead is what is known of the candidates.
func (r *reconciliation) candidatesRead() candidateReads {
	state := r.localState.Get(r.mandate)
	return state.candidatesReadBy(r.connectionVersion(), r.mandate.Generation)
}

// skipOther goes on to the next application after one that is not this Mandate's, and never will be.
func (r *reconciliation) skipOther(id int64) { r.skipCandidate(id, candidateOther) }

// skipCandidate goes on to the next application, and keeps what was learned of this one.
func (r *reconciliation) skipCandidate(id int64, result candidateResult) {
	r.dropCandidate(id)
	named := append(r.candidates(), id)
	r.localState.Update(r.mandate, func(s *localState) {
		made := candidateRead{id: id, at: r.facts.now, result: result, request: engine.ReconcileRequest(r.mandate)}
		known := s.candidatesReadBy(r.connectionVersion(), r.mandate.Generation).with(made, named)
		s.candidateReads = &known
	})
}

// dropCandidate goes on to the next application.
func (r *reconciliation) dropCandidate(id int64) {
	if r.facts.found == 0 || r.facts.found == id {
		r.forgetFound()
	}
	left := slices.Clone(r.facts.candidates)
	r.facts.candidates = slices.DeleteFunc(left, func(other int64) bool { return other == id })
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
		r.observeRecovery(RecoveredByNotification)
		log.FromContext(ctx).Info("Found the application again, by a notification", "applicationID", id)
	case r.facts.adoptedByOther:
		r.facts.adoptedByOther = false
		r.skipOther(id)
	default:
		r.forgetFound() // the ledger has changed, and is read again
	}
	return nil
}
