package notification

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/operator/connection"
)

// match is what a delivery is about.
type match struct {
	// mandates whose applications are to be read.
	mandates []types.NamespacedName
	// unknownIDs may be those of applications whose create had no answer.
	unknownIDs []int64
	// referenced are the Mandates that wait for an id, and whose references the delivery has.
	referenced []types.NamespacedName
	// references are the hashes of all texts.
	references []uint64
}

// match finds what the candidates of a delivery for a connection are about.
func (x *Index) match(key connection.Key, candidates []Candidate) match {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of, m := x.connections[key], match{}
	if of == nil {
		of = &connectionIndex{}
	}
	about := newIDFilter(candidates)
	for _, candidate := range candidates {
		application, individual := of.applications[candidate.Number], of.individuals[candidate.Number]
		m.add(application, individual)
		about.add(candidate, application != nil, individual != nil)
		hash := x.hash(candidate.Text)
		m.references = append(m.references, hash)
		if named := of.references[hash]; named != nil {
			if _, waits := of.waiting[*named]; waits {
				m.referenced = append(m.referenced, *named)
			} else {
				m.add(named)
				about.known = true
			}
		}
	}
	m.unknownIDs = about.unknownIDs()
	return m
}

// waiters are the Mandates of a connection that wait for an id.
type waiters struct {
	able, blocked []types.NamespacedName // to read applications now, or not
	since         time.Time              // when the first of those began to wait that did so lately; 0 if none did
}

// waiting gives those of a connection. Lately is after some time.
func (x *Index) waiting(key connection.Key, after time.Time) (w waiters) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := x.connections[key]
	if of == nil {
		return w
	}
	for name, s := range of.waiting {
		if s.blocked {
			w.blocked = append(w.blocked, name)
		} else {
			w.able = append(w.able, name)
		}
		if s.since.After(after) && (w.since.IsZero() || s.since.Before(w.since)) {
			w.since = s.since
		}
	}
	return w
}

// known reports whether an id is that of an application which a Mandate has.
func (x *Index) known(key connection.Key, id int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := x.connections[key]
	return of != nil && of.applications[id] != nil
}

func (m *match) add(names ...*types.NamespacedName) {
	for _, name := range names {
		if name != nil && !slices.Contains(m.mandates, *name) {
			m.mandates = append(m.mandates, *name)
		}
	}
}

// idFilter selects the numbers of a delivery that can be ids of applications that are not known. Deliveries have all
// kinds of other numbers, such as the id of a state. So only the numbers count whose names are the likeliest, and if
// there is a known one among these, only those with the same path, as in a list of events.
type idFilter struct {
	bestRank rank // of the numbers
	paths    []memberPath
	unknown  []Candidate
	known    bool // the delivery is about a known application, whatever its numbers are
}

func newIDFilter(candidates []Candidate) *idFilter {
	s := &idFilter{bestRank: ranks}
	for _, candidate := range candidates {
		if candidate.Number != 0 && candidate.mayBeUnknown {
			s.bestRank = min(s.bestRank, candidate.rank)
		}
	}
	return s
}

// add takes a candidate, which may be the id of an application or an individual that is known. Applications and
// individuals may have the same ids, so only a number that is named after an individual is one for certain. Not even
// that hides a number that is named after an application.
func (s *idFilter) add(candidate Candidate, application, individual bool) {
	switch {
	case candidate.Number == 0:
	case !candidate.mayBeUnknown:
		s.known = s.known || individual && candidate.path.isOfIndividual() && s.bestRank != rankApplication
	case application && candidate.rank == s.bestRank:
		s.paths = append(s.paths, candidate.path)
	case !application:
		s.unknown = append(s.unknown, candidate)
	}
}

// unknownIDs are the ids that are left. The most likely ones are last, and last to be dropped.
func (s *idFilter) unknownIDs() (ids []int64) {
	for _, candidate := range s.unknown {
		likely := candidate.rank == s.bestRank || s.bestRank == rankObject && candidate.rank == rankID
		if likely && (slices.Contains(s.paths, candidate.path) || len(s.paths) == 0 && !s.known) {
			ids = append(ids, candidate.Number)
		}
	}
	slices.Reverse(ids)
	return ids
}
