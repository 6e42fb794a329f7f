package mandate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// RecoveredBy is how the application of a create without a clear answer became known.
type RecoveredBy string

// The ways. A create that is sent again with the same reference shows that the one before it created nothing.
const (
	RecoveredByRepeat       RecoveredBy = "repeat"
	RecoveredByNotification RecoveredBy = "notification"
	RecoveredByAdoption     RecoveredBy = "adoption"
)

// observeRecovery tells that the outcome of an earlier create, which was unknown, is known.
func (r *creator) observeRecovery(by RecoveredBy) {
	if r.recovered != nil {
		r.recovered(by)
	}
}

// adopt binds the application that a person has named, unless another Mandate has it.
func (r *creator) adopt(ctx context.Context) error {
	unknown := r.facts.create.unknown || r.facts.record.sent()
	err := r.bind(ctx, r.facts.create.adopt)
	if err == nil && r.facts.bound {
		if unknown {
			r.observeRecovery(RecoveredByAdoption)
		}
		log.FromContext(ctx).Info("Adopted the application", "applicationID", r.facts.id)
	}
	return err
}

// bind writes the application that was found to be this Mandate's into the ledger, unless another Mandate has it. That
// is done one at a time: of two Mandates that name one application, the second finds the first.
func (r *creator) bind(ctx context.Context, id int64) error {
	r.adoptionMutex.Lock()
	defer r.adoptionMutex.Unlock()
	name, spec := r.name(), r.recordOf()
	spec.ApplicationID = &id
	current, _, err := r.session.IsCurrent(ctx, r.liveServices, r.mandate.Namespace)
	if err != nil || !current { // it may allow other references since
		r.facts.failureReason = reasonStaleCache
		return err
	}
	other, err := r.adoptedByOther(ctx, spec)
	if err != nil || other {
		r.facts.create.adoptedByOther = other
		return err
	}
	if spec.SpecDigests, err = r.digestsToBind(ctx); err != nil || r.facts.failureReason != "" {
		return err
	}
	adopted, err := r.ledger.Adopt(ctx, name, r.record, spec)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.facts.id, r.facts.bound = id, true
	if r.facts.application.read() { // before it was known to be this Mandate's
		r.learn(func(s *localState) { s.readBy = r.knownAccount() })
	}
	r.setRecord(adopted)
	return nil
}

// digestsToBind are those of the spec that an application is bound to; nil if a Secret is missing or of no use, or if
// an individual was erased. Another object of the name is then compared with what the service shows.
func (r *creator) digestsToBind(ctx context.Context) (*v1alpha1.SpecDigests, error) {
	if r.hasErased() {
		return nil, nil
	}
	if r.comparedWith != nil {
		return specDigests(r.salt(), &r.mandate.Spec, r.comparedWith), nil
	}
	live, err := r.readLiveSpec(ctx, r.live)
	switch {
	case err != nil:
		return nil, err
	case live.problem == reasonStaleCache:
		r.facts.failureReason = reasonStaleCache
		return nil, nil
	case live.problem != "":
		return nil, nil
	}
	return specDigests(r.salt(), &r.mandate.Spec, &live.request), nil
}

// adoptedByOther reports whether another Mandate has the application that this one is to have: by the ledger, or by
// its status, if its record is lost. Of another namespace, the status counts only with the same ClusterIdentityService.
// With an IdentityService, its editor chooses which id a service answers, and where it leads afterwards.
func (r *creator) adoptedByOther(ctx context.Context, spec v1alpha1.ApplicationRecordSpec) (bool, error) {
	other, err := r.ledger.HeldByOther(ctx, r.name(), spec)
	if err == nil && !other {
		other, err = r.boundToOther(ctx, *spec.ApplicationID, client.InNamespace(r.mandate.Namespace))
	}
	if err == nil && !other && spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
		ofService := client.MatchingFields{connection.MandateField: r.session.Key.String()}
		other, err = r.boundToOther(ctx, *spec.ApplicationID, ofService)
	}
	return other, err
}

// boundToOther looks for another Mandate whose status has the application.
func (r *creator) boundToOther(ctx context.Context, wanted int64, option client.ListOption) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, option); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		other := &mandates.Items[i]
		if id := other.Status.ApplicationID; other.UID == r.mandate.UID || id == nil || *id != wanted {
			continue
		}
		if bound, err := r.sameService(ctx, other); bound || err != nil {
			return bound, err
		}
	}
	return false, nil
}

// sameService reports whether a Mandate with the id has its application at the service of this one.
func (r *creator) sameService(ctx context.Context, other *v1alpha1.Mandate) (bool, error) {
	if other.Namespace != r.mandate.Namespace {
		return strings.EqualFold(other.Status.Reference, r.reference), nil
	}
	service, _, err := r.services.Find(ctx, connection.KeyOf(other), other.Namespace)
	switch {
	case err != nil:
		return false, err
	case service == nil: // its URL is not known, so it may be the same application
		return true, nil
	default:
		return idv.NormalBaseURL(service.Settings().BaseURL) == r.session.Connection.URL, nil
	}
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
	request    string            // after another one, they are read again
	reads      map[int64]candidateRead
}

// candidateRead is the last read of a candidate.
type candidateRead struct {
	result candidateResult
	tries  int
	next   time.Time // when it is read again by itself; zero: never
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

// candidates are the applications that may be the Mandate's, the last ones first: those that its annotation names, and
// the one that the answer to the create showed.
func (r *creator) candidates() []int64 {
	named := engine.IDsIn(r.mandate, v1alpha1.CandidateAnnotation)
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
	known := r.candidatesRead()
	for _, id := range r.candidates() {
		read, isKnown := known.reads[id]
		after := read.next.Sub(r.facts.now)
		switch {
		case !isKnown, !read.next.IsZero() && after <= 0:
			r.facts.create.candidates = append(r.facts.create.candidates, id)
		case !read.next.IsZero():
			if read.result == candidateUnread && read.tries < candidateReadsBeforeCreate {
				r.facts.create.candidatePending = true
			}
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
	case a.reference == referenceOther:
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
		r.skipCandidate(id, candidateIncomplete) // it shows no reference
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

// candidatesRead is what is known of the candidates that need not be read again because of an edit or a request. The
// request of a notification has those read again that may be this Mandate's.
func (r *creator) candidatesRead() candidateReads {
	is := candidateReads{
		by: r.connectionVersion(), generation: r.mandate.Generation, request: engine.ReconcileRequest(r.mandate),
		reads: map[int64]candidateRead{},
	}
	known := r.local().candidateReads
	if known == nil || known.by != is.by || known.generation != is.generation {
		return is
	}
	is.request = cmp.Or(is.request, known.request)
	for _, id := range r.candidates() {
		read, isKnown := known.reads[id]
		isOther := read.result == candidateOther && engine.IsNotification(is.request)
		if isKnown && (is.request == known.request || isOther) {
			is.reads[id] = read
		}
	}
	return is
}

// skipCandidate goes on to the next candidate, and keeps what was learned of this one.
func (r *creator) skipCandidate(id int64, result candidateResult) {
	r.forgetFound()
	known := r.candidatesRead()
	made := candidateRead{result: result, tries: min(known.reads[id].tries+1, 11)} // the pause is the longest one by then
	switch {
	case result == candidateUnread:
		made.next = r.facts.now.Add(min(candidateRetryInterval<<(made.tries-1), maxCandidatePause))
	case result == candidateIncomplete && made.tries < 2: // a read may lag behind the create, and shows less than it will
		made.next = r.facts.now.Add(lagAllowance)
	case result == candidateIncomplete && id == r.facts.record.candidate && r.facts.record.isAwaited(r.facts.now):
		made.next = r.facts.now.Add(min(lagAllowance<<(made.tries-1), maxCandidatePause))
	}
	known.reads[id] = made
	r.learn(func(s *localState) { s.candidateReads = &known })
	r.selectCandidates()
}

// forgetFound drops what was read of an application that is not this Mandate's after all.
func (r *creator) forgetFound() {
	r.facts.create.found, r.facts.application = 0, applicationFacts{}
	r.application = nil
}
