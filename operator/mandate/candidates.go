package mandate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

const (
	// candidateRetryInterval is when a candidate that could not be read is read again. The pause doubles with each
	// failure, up to maxCandidatePause.
	candidateRetryInterval, maxCandidatePause = 5 * time.Second, time.Hour
	// candidateReadsBeforeCreate is how often a candidate has to fail to be read until no create waits for it any more.
	candidateReadsBeforeCreate = 2
)

// candidateReads is what this process knows of the candidates.
type candidateReads struct {
	by         connectionVersion // what follows is about the ids there
	generation int64             // of the Mandate: after an edit, an application may be as its spec asks for
	reads      map[int64]candidateRead
}

// candidateRead is the last read of a candidate.
type candidateRead struct {
	result candidateResult
	// request is the one with which it was read, and tries how often it was. Another one has it read again, that of a
	// notification only if it may be this Mandate's.
	request string
	tries   int
	next    time.Time // when it is read again with the same request; zero: never
}

type candidateResult int

const (
	candidateOther      candidateResult = iota // it is another Mandate's or person's, and stays so
	candidateIncomplete                        // there is none, or it does not show yet that it is this Mandate's
	candidateUnread                            // the service failed to answer, for this id or for all
)

// resultWithReference is that of an application that does not show the Mandate's reference.
func resultWithReference(shown string) candidateResult {
	if shown == "" {
		return candidateIncomplete
	}
	return candidateOther
}

// delaysCreate reports whether the application may be the Mandate's, for all that is known, so that a create would only
// be refused as a duplicate.
func (c candidateRead) delaysCreate() bool {
	return c.result == candidateUnread && c.tries < candidateReadsBeforeCreate
}

// candidates are the applications that may be the Mandate's, the last ones first: those that its annotation names, and
// the one that the answer to the create showed.
func (r *creator) candidates() []int64 {
	named := engine.Candidates(r.mandate)
	if own := r.facts.record.candidate; own != 0 {
		named = append(slices.DeleteFunc(named, func(id int64) bool { return id == own }), own)
	}
	slices.Reverse(named)
	return named
}

// selectCandidates finds out which candidates are to be read now, and when the next one is.
func (r *creator) selectCandidates() {
	r.facts.create.candidates, r.nextCandidate = nil, 0
	if r.facts.id != 0 {
		return
	}
	known, request := r.candidatesRead(), engine.ReconcileRequest(r.mandate)
	for _, id := range r.candidates() {
		read, isKnown := known.reads[id]
		another := request != "" && request != read.request &&
			(read.result != candidateOther || !engine.IsNotification(request))
		after := read.next.Sub(r.facts.now)
		switch {
		case !isKnown, another, !read.next.IsZero() && after <= 0:
			r.facts.create.candidates = append(r.facts.create.candidates, id)
		case !read.next.IsZero():
			r.facts.create.candidatePending = r.facts.create.candidatePending || read.delaysCreate()
			r.nextCandidate = cmp.Or(min(r.nextCandidate, after), after)
		}
	}
}

// due is in how long a candidate is to be read; 0: none is.
func (r *creator) due() time.Duration {
	r.selectCandidates()
	if r.facts.create.candidatePending && r.facts.id == 0 {
		return sooner(r.nextCandidate, lagAllowance)
	}
	return r.nextCandidate
}

// readCandidate retrieves the next candidate.
func (r *creator) readCandidate(ctx context.Context) {
	id := r.facts.create.candidates[0]
	application, err := r.client.RetrieveApplication(idv.WithUntrustedID(ctx), id)
	if err != nil {
		r.candidateFailed(ctx, id, err)
		return
	}
	r.observe(ctx, application)
	switch a := &r.facts.application; {
	case r.facts.failureReason != "": // what to compare with cannot be read
	case !a.sameReference:
		r.skipCandidate(id, resultWithReference(application.Reference))
	case a.differs:
		r.skipCandidate(id, candidateIncomplete)
	default:
		r.facts.create.found = id
	}
}

// candidateFailed goes on to the next candidate after one that could not be read. One that no service answers for must
// not keep the others from being read.
func (r *creator) candidateFailed(ctx context.Context, id int64, err error) {
	kind := idv.KindOf(err)
	switch {
	case engine.IsConnectionError(ctx, err):
		r.facts.create.candidates, r.facts.create.candidatePending = nil, true
	case idv.OutcomeOf(err).NothingDone():
		r.skipCandidate(id, resultWithReference("")) // it shows none
	default:
		r.skipCandidate(id, candidateUnread)
		if kind == idv.KindTimeout && len(r.facts.create.candidates) > 0 { // the next one may take as long, in the same slot
			r.facts.create.candidates, r.facts.create.candidatePending = nil, true
		}
	}
	if kind != idv.KindNotFound {
		log.FromContext(ctx).Info("Failed to read an application that may be the Mandate's", "error", err.Error())
	}
}

// candidatesRead is what is known of the candidates.
func (r *creator) candidatesRead() candidateReads {
	by, generation := r.connectionVersion(), r.mandate.Generation
	if known := r.local().candidateReads; known != nil && known.by == by &&
		known.generation == generation {
		return *known
	}
	return candidateReads{by: by, generation: generation}
}

// skipCandidate goes on to the next candidate, and keeps what was learned of this one.
func (r *creator) skipCandidate(id int64, result candidateResult) {
	r.forgetFound()
	left := slices.Clone(r.facts.create.candidates)
	r.facts.create.candidates = slices.DeleteFunc(left, func(other int64) bool { return other == id })
	known, request := r.candidatesRead(), engine.ReconcileRequest(r.mandate)
	made := candidateRead{result: result, request: request, tries: 1}
	if before := known.reads[id]; before.request == request {
		made.tries = min(before.tries+1, 11) // the pause is the longest one by then
	}
	switch {
	case result == candidateUnread:
		made.next = r.facts.now.Add(min(candidateRetryInterval<<(made.tries-1), maxCandidatePause))
	case result == candidateIncomplete && made.tries < 2: // a read may lag behind the create, and shows less than it will
		made.next = r.facts.now.Add(lagAllowance)
	}
	reads, named := map[int64]candidateRead{id: made}, r.candidates()
	for other, read := range known.reads {
		if other != id && slices.Contains(named, other) {
			reads[other] = read
		}
	}
	known.reads = reads
	r.facts.create.candidatePending = r.facts.create.candidatePending || made.delaysCreate()
	r.learn(func(s *localState) { s.candidateReads = &known })
}

// forgetFound drops what was read of an application that is not this Mandate's after all.
func (r *creator) forgetFound() {
	r.facts.create.found, r.facts.application = 0, applicationFacts{}
	r.application = nil
}

// bindFound binds the candidate that is this Mandate's, unless another Mandate has it.
func (r *creator) bindFound(ctx context.Context) error {
	id := r.facts.create.found
	if err := r.bind(ctx, id); err != nil {
		return err
	}
	switch {
	case r.facts.bound:
		r.observeRecovery(RecoveredByNotification)
		log.FromContext(ctx).Info("Found the application again, by a notification", "applicationID", id)
	case r.facts.create.adoptedByOther:
		r.facts.create.adoptedByOther = false
		r.skipCandidate(id, candidateOther)
	default:
		r.forgetFound() // the ledger has changed, and is read again
	}
	return nil
}
