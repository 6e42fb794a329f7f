package mandate

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// A notification may name an application whose create had no answer, and not say whose it is. It is read for one of the
// Mandates that wait. If it shows the reference of another one, that one looks at it next, and no third one does.

// maxCandidateReferences is how many applications a process remembers that were read because a notification has named
// them. What is forgotten is read again.
const maxCandidateReferences = 10_000

// namedID is an application that a notification has named, and namedReference a reference, as one connection sees them.
type namedID struct {
	service connection.Key
	by      lookup
	id      int64
}

type namedReference struct {
	service   connection.Key
	by        lookup
	reference string
}

// candidateReferences are those of applications that notifications have named. The zero value has none.
type candidateReferences struct {
	mu         sync.Mutex
	reading    map[namedID]bool // now
	references map[namedID]string
	ids        map[namedReference]int64
	waiting    map[namedReference]types.NamespacedName // those that wait for an id
	waitingFor map[types.NamespacedName]namedReference
}

// startRead reports whether no other reconciliation reads an application now. If so, finishRead has to be called.
func (s *candidateReferences) startRead(id namedID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reading[id] {
		return false
	}
	if s.reading == nil {
		s.reading = map[namedID]bool{}
	}
	s.reading[id] = true
	return true
}

func (s *candidateReferences) finishRead(id namedID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reading, id)
}

// remember records what an application shows, and gives the Mandate that waits for it.
func (s *candidateReferences) remember(id namedID, reference string) (waits types.NamespacedName, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.references == nil {
		s.references, s.ids = map[namedID]string{}, map[namedReference]int64{}
	}
	if len(s.references) >= maxCandidateReferences {
		for other, shown := range s.references {
			delete(s.references, other)
			delete(s.ids, namedReference{other.service, other.by, shown})
			break
		}
	}
	of := namedReference{id.service, id.by, reference}
	s.references[id], s.ids[of] = reference, id.id
	waits, found = s.waiting[of]
	return waits, found
}

// of gives the reference that an application shows, if it was read.
func (s *candidateReferences) of(id namedID) (reference string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reference, known = s.references[id]
	return reference, known
}

// id gives the application that shows a reference; 0 if none was read.
func (s *candidateReferences) id(of namedReference) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[of]
}

// wait records that a Mandate waits for an id, and gives that if it is known.
func (s *candidateReferences) wait(name types.NamespacedName, of namedReference) (id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting, s.waitingFor = map[namedReference]types.NamespacedName{}, map[types.NamespacedName]namedReference{}
	}
	s.remove(name)
	s.waiting[of], s.waitingFor[name] = name, of
	return s.ids[of]
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

func (r *reconciliation) namedID(id int64) namedID { return namedID{r.session.Key, r.lookup(), id} }

func (r *reconciliation) namedReference() namedReference {
	return namedReference{r.session.Key, r.lookup(), r.reference}
}

// show records what an application shows, and has the Mandate look at it that waits for it.
func (r *reconciliation) show(id int64, reference string) {
	if reference == "" {
		return // the service shows none, or not yet
	}
	if waits, found := r.shown.remember(r.namedID(id), reference); found && waits != r.name() {
		r.wake(waits)
	}
}

// awaitCandidate records whether the Mandate waits for an application that a notification names. Such a one may have
// been read since the reconciliation began.
func (r *reconciliation) awaitCandidate(reason string) {
	lost := reason == v1alpha1.ReasonSettling || reason == v1alpha1.ReasonOutcomeUnknown
	if !lost || r.facts.id != 0 || r.reference == "" {
		r.shown.forget(r.name())
		return
	}
	if id := r.shown.wait(r.name(), r.namedReference()); id != 0 && id != r.shownID {
		r.wake(r.name())
	}
}
