package mandate

import (
	"crypto/sha256"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// A notification may name an application whose create had no answer, and not say whose it is. It is read for one of the
// Mandates that wait. If it shows the reference of another one, that one reads it next, and no third one does.

// maxCandidateReferences is how many applications a process remembers of one connection that were read because a
// notification has named them. What is forgotten is read again.
const maxCandidateReferences = 10_000

// candidateID is an application that a notification has named, and candidateReference a reference, as one connection
// sees them.
type candidateID struct {
	service connection.Key
	by      connectionVersion
	id      int64
}

type candidateReference struct {
	service   connection.Key
	by        connectionVersion
	reference referenceDigest
}

// referenceDigest is what is kept of a reference, because a service may show one of any length.
type referenceDigest [sha256.Size]byte

func digestOf(reference string) referenceDigest { return sha256.Sum256([]byte(reference)) }

// shownReferences are those that one connection has shown.
type shownReferences struct {
	by         connectionVersion // the last one
	references map[int64]referenceDigest
	ids        map[referenceDigest]int64
}

// candidateReferences are those of applications that notifications have named. The zero value has none.
type candidateReferences struct {
	mu         sync.Mutex
	reading    map[candidateID]bool // now
	shown      map[connection.Key]*shownReferences
	waiting    map[candidateReference]types.NamespacedName // those that wait for an id
	waitingFor map[types.NamespacedName]candidateReference
}

// startRead reports whether no other reconciliation reads an application now. If so, finishRead has to be called.
func (s *candidateReferences) startRead(id candidateID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading[id] {
		return false
	}
	if s.reading == nil {
		s.reading = map[candidateID]bool{}
	}
	s.reading[id] = true
	return true
}

func (s *candidateReferences) finishRead(id candidateID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reading, id)
}

// remember records what an application shows, and gives the Mandate that waits for it.
func (s *candidateReferences) remember(
	id candidateID, reference referenceDigest,
) (waits types.NamespacedName, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.shown[id.service]
	if shown == nil || shown.by != id.by {
		shown = &shownReferences{by: id.by, references: map[int64]referenceDigest{}, ids: map[referenceDigest]int64{}}
		if s.shown == nil {
			s.shown = map[connection.Key]*shownReferences{}
		}
		s.shown[id.service] = shown
	}
	shown.add(id.id, reference)
	waits, found = s.waiting[candidateReference{id.service, id.by, reference}]
	return waits, found
}

func (s *shownReferences) add(id int64, reference referenceDigest) {
	s.remove(id)
	if len(s.references) >= maxCandidateReferences {
		for other := range s.references {
			s.remove(other)
			break
		}
	}
	s.references[id], s.ids[reference] = reference, id
}

func (s *shownReferences) remove(id int64) {
	reference, known := s.references[id]
	delete(s.references, id)
	if known && s.ids[reference] == id {
		delete(s.ids, reference)
	}
}

// at gives what a connection has shown. It is called with the lock.
func (s *candidateReferences) at(service connection.Key, by connectionVersion) shownReferences {
	shown := s.shown[service]
	if shown == nil || shown.by != by {
		return shownReferences{}
	}
	return *shown
}

// forgetConnection forgets what a connection has shown that is gone.
func (s *candidateReferences) forgetConnection(service connection.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, service)
}

// of gives the reference that an application shows, if it was read.
func (s *candidateReferences) of(id candidateID) (reference referenceDigest, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reference, known = s.at(id.service, id.by).references[id.id]
	return reference, known
}

// id gives the application that shows a reference; 0 if none was read.
func (s *candidateReferences) id(of candidateReference) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at(of.service, of.by).ids[of.reference]
}

// wait records that a Mandate waits for an id, and gives that if it is known.
func (s *candidateReferences) wait(name types.NamespacedName, of candidateReference) (id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting, s.waitingFor = map[candidateReference]types.NamespacedName{}, map[types.NamespacedName]candidateReference{}
	}
	s.remove(name)
	s.waiting[of], s.waitingFor[name] = name, of
	return s.at(of.service, of.by).ids[of.reference]
}

// forget records that a Mandate does not wait any more.
func (s *candidateReferences) forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
}

// remove is called with the lock.
func (s *candidateReferences) remove(name types.NamespacedName) {
	of, waits := s.waitingFor[name]
	delete(s.waitingFor, name)
	if waits && s.waiting[of] == name {
		delete(s.waiting, of)
	}
}

func (r *reconciliation) candidateID(id int64) candidateID {
	return candidateID{r.session.Key, r.connectionVersion(), id}
}

func (r *reconciliation) candidateReference() candidateReference {
	return candidateReference{r.session.Key, r.connectionVersion(), digestOf(r.reference)}
}

// rememberCandidate records what an application shows, and wakes up the Mandate that waits for it.
func (r *reconciliation) rememberCandidate(id int64, reference string) {
	if reference == "" {
		return // the service shows none, or not yet
	}
	waits, found := r.candidateReferences.remember(r.candidateID(id), digestOf(reference))
	if found && waits != r.name() {
		r.wake(waits)
	}
}

// awaitCandidate records whether the Mandate waits for an application that a notification names. Such a one may have
// been read since the reconciliation began.
func (r *reconciliation) awaitCandidate(reason string) {
	lost := reason == v1alpha1.ReasonSettling || reason == v1alpha1.ReasonOutcomeUnknown
	if !lost || r.facts.id != 0 || r.reference == "" {
		r.candidateReferences.forget(r.name())
		return
	}
	if id := r.candidateReferences.wait(r.name(), r.candidateReference()); id != 0 && id != r.shownCandidate {
		r.wake(r.name())
	}
}
