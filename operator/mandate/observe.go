package mandate

import (
	"cmp"
	"context"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
)

// observer reads the application, and finds out whether it is this Mandate's, and which individual is which.
type observer struct {
	*scope
	client   observerClient
	live     client.Reader
	services *engine.Services // which are told of accounts
	missing  *missingApplications

	readingCandidate bool // what is read is an application that may be the Mandate's
}

type observerClient interface {
	RetrieveApplication(ctx context.Context, id int64) (*idv.Application, error)
	RetrieveReferences(ctx context.Context) (*idv.References, error)
}

// read retrieves the application.
func (r *observer) read(ctx context.Context) {
	id, reason := r.facts.id, v1alpha1.ReasonReadFailed
	if id == 0 {
		id, reason = r.facts.create.adopt, v1alpha1.ReasonRetrying
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
func (r *observer) observeApplication(ctx context.Context, application *idv.Application) {
	a := &r.facts.application
	switch {
	case !r.matches(application.Reference) && !r.isCreated(application):
		a.reference, a.lookup = referenceOther, applicationFound
		return // it is another Mandate's or person's: nothing of it is used
	case application.Reference == "":
		a.reference = referenceHidden
	default:
		a.reference = referenceMatched
	}
	compared := r.newObject()
	if !r.compareSpec(ctx, application) {
		return // what to compare with cannot be read
	}
	a.sameAccount = a.reference == referenceMatched || compared && !a.differs && r.showsWhatWasSent(application) &&
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
	r.facts.bound = r.facts.bound || r.facts.id != 0 && (r.facts.create.adopt == 0 || r.facts.create.adopt == r.facts.id)
	a.archived = application.Archived
	r.projection = project(r.mandate, r.matching.Individuals, application, r.session.Connection.States)
	r.observeState(application.State)
	if r.projection.hash() != projectionOf(&r.mandate.Status).hash() {
		r.learn(func(s *localState) { s.changed = r.facts.now })
	}
	r.applicationRead()
}

// observeState finds out what the state of the application means, and has the service show its name. The id of a state
// without a name, or with one that cannot be shown, is its name in the status, so that people can explain it.
func (r *observer) observeState(state idv.State) {
	p, names := r.projection, r.session.Connection.States
	state.Name = cmp.Or(state.Name, p.state)
	if p.state != "" && names.IsKnown(p.state) && names.Stage(state) == lifecycle.Unknown { // its id was explained
		state.Name = p.state
	}
	r.facts.application.stage = engine.StageOf(state, p.individuals, names)
	r.services.Connections.SeeState(r.session.Key, p.state, r.facts.now)
}

// observeCandidate does so with an application of which nobody but a notification says that it is this Mandate's.
func (r *observer) observeCandidate(ctx context.Context, application *idv.Application) {
	r.readingCandidate = true
	r.observeApplication(ctx, application)
	r.readingCandidate = false
}

// matches reports whether the reference that the service shows is this Mandate's. Where the ledger or the status
// vouches for the id, an application without a reference matches, and so does one in other letters. Where a person
// names the id, which may be wrong, only the same reference matches.
func (r *observer) matches(shown string) bool {
	if r.facts.id == 0 {
		return shown == r.reference
	}
	return shown == "" || strings.EqualFold(shown, r.reference)
}

// isCreated reports whether the id that the answer to the create showed is that of an application that shows no
// reference, and otherwise what was sent. compareSpec compares the individuals.
func (r *observer) isCreated(application *idv.Application) bool {
	return r.readingCandidate && application.ID == r.facts.record.candidate && application.Reference == "" &&
		r.showsWhatWasSent(application)
}

// showsWhatWasSent reports whether enough of an application shows to compare it with the spec.
func (r *observer) showsWhatWasSent(application *idv.Application) bool {
	return application.Name.Reveal() != "" && application.MandateType != (idv.Reference{}) &&
		len(application.Individuals) == len(r.mandate.Spec.Individuals) && !r.hasErased()
}

// probe reads something that has nothing to do with the application. If the service answers that, with the same
// credentials, its 404 is believed.
func (r *observer) probe(ctx context.Context) {
	if _, err := r.client.RetrieveReferences(ctx); err != nil {
		r.requestFailed(ctx, err, v1alpha1.ReasonConfirming)
		return
	}
	r.facts.application.lookup = applicationGone
}

// identify finds which individual of the answer is which of the spec. The ids in the status are compared with what was
// sent, once in this process and whenever the answer shows something else: an earlier version may have guessed them,
// and a service may change them. It reports false if what was sent cannot be read.
func (r *observer) identify(ctx context.Context, application *idv.Application) bool {
	answered := application.Individuals
	var secrets []v1alpha1.Problem
	expected := individuals.Recorded(individuals.Known(r.mandate), r.record)
	r.matching = individuals.Match(expected, answered)
	if individuals.Identified(answered) && !r.compared() && !r.facts.deletion.requested {
		expected, wrong, err := r.sent(ctx, expected)
		if err != nil {
			r.facts.failureReason = v1alpha1.ReasonReadFailed
			r.failed(engine.ServerProblem("spec.individuals", "", "read the Mandate and its Secrets", err))
			log.FromContext(ctx).Info("Failed to read the individuals to compare", "error", apierror.Redact(err).Error())
		}
		if r.facts.failureReason != "" {
			return false
		}
		secrets = wrong
		r.matching = individuals.Match(expected, answered)
		r.remember(expected)
	}
	if !r.facts.record.read() && r.showsOtherIDs(expected) {
		r.facts.observe.ownAccount = false // so the record, which may contradict, is read before the application is again
		return false
	}
	a := &r.facts.application
	switch {
	case r.matching.Complete:
		a.individuals = individualsMatched
	case r.matching.Fewer:
		a.individuals = individualsFewer
	default:
		a.individuals = individualsUnmatched
	}
	if a.unmatched() {
		r.unmatched(r.unmatchedNames(), secrets)
		log.FromContext(ctx).Info("The individuals of the application do not match those of the spec",
			"applicationID", application.ID, "individuals", len(answered), "unmatched", r.unmatchedNames())
	}
	return true
}

// showsOtherIDs reports whether an individual is matched whose known id is another.
func (r *observer) showsOtherIDs(known []individuals.Expected) bool {
	for i, found := range r.matching.Individuals {
		if found != nil && known[i].ID != 0 && known[i].ID != found.ID {
			return true
		}
	}
	return false
}

// compared reports whether this process has compared these very individuals with what was sent.
func (r *observer) compared() bool {
	return r.matching.Complete && r.local().identities == r.identities()
}

// remember keeps that the individuals were compared with what was sent, if all of that is known.
func (r *observer) remember(expected []individuals.Expected) {
	known := r.matching.Complete
	for _, e := range expected {
		known = known && e.Reference != ""
	}
	if known {
		r.learn(func(s *localState) { s.identities = r.identities() })
	}
}

var identitiesSeed = maphash.MakeSeed()

// identities is a digest of who the individuals of the spec are in the answer. It is compared and never stored.
func (r *observer) identities() uint64 {
	var digest maphash.Hash
	digest.SetSeed(identitiesSeed)
	add := func(text string) {
		_, _ = digest.WriteString(strconv.Quote(text))
	}
	add(strconv.FormatInt(r.mandate.Generation, 10))
	for i, found := range r.matching.Individuals {
		add(r.mandate.Spec.Individuals[i].Name)
		if found != nil {
			add(strconv.FormatInt(found.ID, 10))
			add(found.Reference.Reveal())
			add(found.Email.Reveal())
		}
	}
	return digest.Sum64()
}

// sent adds what the individuals were sent with. This reconciliation may have sent it; otherwise it is read: the cache
// does not have it.
func (r *observer) sent(
	ctx context.Context, known []individuals.Expected,
) ([]individuals.Expected, []v1alpha1.Problem, error) {
	if request := r.request.Individuals; len(request) == len(known) {
		for i := range request {
			known[i].Reference, known[i].Email = request[i].Reference.Reveal(), request[i].Email.Reveal()
		}
		return known, nil, nil
	}
	live := &v1alpha1.Mandate{}
	err := r.live.Get(ctx, r.name(), live)
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, err
	}
	frozen := r.mandate.Status.ApplicationID != nil
	if live.UID != r.mandate.UID || live.Generation != r.mandate.Generation && !frozen {
		r.facts.failureReason = reasonStaleCache
		return nil, nil, nil
	}
	return individuals.Sent(ctx, r.live, known, live, r.reference)
}

func (r *observer) unmatchedNames() (names []string) {
	for i, found := range r.matching.Individuals {
		if found == nil {
			names = append(names, r.mandate.Spec.Individuals[i].Name)
		}
	}
	return names
}

// knownAccount is the account of an application. The zero value is not known.
type knownAccount struct {
	id int64
	by connection.Account
}

// knownAccount is that of the connection.
func (r *scope) knownAccount() knownAccount {
	return knownAccount{r.facts.id, r.session.Connection.Account}
}

// learnAccount remembers whether the record is the connection's account's, so that it is not read before each poll. A
// deletion needs that, too, once the record has gone with its namespace.
func (r *scope) learnAccount() {
	if r.record == nil && r.facts.deletion.requested {
		return
	}
	known, record := knownAccount{}, r.facts.record
	if record.id != 0 && record.id == r.facts.id && record.account != accountOther {
		known = r.knownAccount()
	}
	r.facts.observe.ownAccount = known != knownAccount{}
	if known != r.local().known {
		r.learn(func(s *localState) { s.known = known })
	}
}

// forgetAccount forgets the account that is not the connection's any more, and has the application read soon: one that
// shows proves that the account is the same, and one that does not is said at the service. sought: a process that has
// just started knows no account, and somebody waits for what it finds.
func (s *localState) forgetAccount(now time.Time, to knownAccount, sought bool, within time.Duration) {
	if s.known.by == to.by || s.known == (knownAccount{}) && !sought {
		return
	}
	s.known = knownAccount{}
	if soon := now.Add(within); soon.Before(s.readAt) {
		s.readAt, s.due = soon, soon
	}
}

// provesAccount notes that the connection's account has shown the application of the record. That is of use while its
// account is another one by name, or has shown no application yet. An application that the record does not name, as
// one that a person adopts, may be another account's.
func (r *observer) provesAccount() {
	f, by := &r.facts, r.session.Connection.Account
	if !f.application.sameAccount || f.record.account != accountOther && f.service.AccountConfirmed() {
		return
	}
	switch {
	case r.record == nil && f.observe.ownAccount:
		r.services.Connections.Prove(r.session.Key, by, by)
	case r.record != nil && f.id != 0 && f.record.id == f.id:
		r.services.Connections.Prove(r.session.Key, connection.AccountOf(r.record), by)
	}
}

// A 404 that is not the service's own word, such as that of a proxy, says nothing by itself. What tells is whether the
// connection reads another application that is as old.

// missingApplication answered 404.
type missingApplication struct {
	service   connection.Key
	account   connection.Account
	lastKnown time.Time // when it was last known to be there
	otherRead bool      // another application was read since, which was there at that time
}

// missingApplications are those of all Mandates of a process, with what is known of the others. The zero value has
// none.
type missingApplications struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]missingApplication
}

// add reports whether another application was read since this one answered 404 for the first time.
func (m *missingApplications) add(name types.NamespacedName, application missingApplication) (otherRead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.entries[name]
	if before.service == application.service && before.account == application.account {
		application.otherRead = before.otherRead
	}
	if m.entries == nil {
		m.entries = map[types.NamespacedName]missingApplication{}
	}
	m.entries[name] = application
	return application.otherRead
}

// remove is for an application that was read, or whose Mandate is gone.
func (m *missingApplications) remove(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, name)
}

// read records that an account reads an application. One that is younger than the last sign of a missing one proves
// nothing: it may have been created after an exchange of the credentials.
func (m *missingApplications) read(service connection.Key, by connection.Account, created time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, missing := range m.entries {
		if missing.service == service && missing.account == by && created.Before(missing.lastKnown) {
			missing.otherRead = true
			m.entries[name] = missing
		}
	}
}

// applicationRead records what a read of the application proves.
func (r *observer) applicationRead() {
	by := r.session.Connection.Account
	r.learn(func(s *localState) { s.read, s.readBy = r.facts.now, r.knownAccount() })
	r.missing.remove(r.name())
	if created := r.facts.createdTime; !created.IsZero() {
		r.missing.read(r.session.Key, by, created)
	}
}

// othersRead reports whether applications of others, which were there when this one was last known to be, are read
// while it is missing.
func (r *observer) othersRead() bool {
	state, by := r.local(), r.session.Connection.Account
	lastKnown := state.read
	if lastKnown.IsZero() {
		lastKnown = r.lastRead()
	}
	if lastKnown.IsZero() {
		lastKnown = r.facts.createdTime
	}
	return r.missing.add(r.name(), missingApplication{service: r.session.Key, account: by, lastKnown: lastKnown})
}
