package operator

import (
	"slices"
	"sync"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// shared has one copy of each of the values that most Mandates have: reasons, sentences, and the service's names of states
// and checks. Ten thousand copies of them would be a third of all that the cache takes. Nothing of it is personal data.
type shared struct {
	mu    sync.Mutex
	known map[any]any // a text to itself, and a value to a pointer to it
}

func newShared() *shared { return &shared{known: map[any]any{}} }

// maxShared bounds what is kept for ever, should a service give every check a name of its own.
const maxShared = 10_000

// compact makes a Mandate smaller that was just decoded. Whoever gets it from the cache gets a deep copy.
func (s *shared) compact(m *v1alpha1.Mandate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, status := &m.Spec, &m.Status
	// A decoder leaves room for more, up to half of a list.
	spec.Individuals, status.Individuals = slices.Clone(spec.Individuals), slices.Clone(status.Individuals)
	text(s, &m.Namespace, &m.Kind, &m.APIVersion, &spec.ServiceRef.Name, &spec.MandateType.Code, &spec.MandateType.Name, &status.State, &status.Progress)
	text(s, &spec.DeletionPolicy)
	pointer(s, &status.MandateType)
	for i := range status.Conditions {
		c := &status.Conditions[i]
		text(s, &c.Type, &c.Reason, &c.Message)
		text(s, &c.Status)
	}
	for i := range status.AvailableActions {
		text(s, &status.AvailableActions[i].Name, &status.AvailableActions[i].Title)
	}
	for i := range status.Individuals {
		s.compactIndividual(&status.Individuals[i])
	}
}

func (s *shared) compactIndividual(individual *v1alpha1.IndividualStatus) {
	pointer(s, &individual.State)
	pointer(s, &individual.TermsAccepted)
	pointer(s, &individual.ChecksInReview, &individual.ChecksPending, &individual.ChecksPassed)
	for i := range individual.CompletedActions {
		text(s, &individual.CompletedActions[i])
	}
	individual.Checks = slices.Clone(individual.Checks)
	for i := range individual.Checks {
		check := &individual.Checks[i]
		text(s, &check.Name, &check.Title)
		pointer(s, &check.State)
	}
}

// text replaces texts by the copy that is known.
func text[T ~string](s *shared, fields ...*T) {
	for _, field := range fields {
		if known, ok := s.known[*field]; ok {
			*field = known.(T) //nolint:forcetypeassert // keys of a type have values of it
		} else if len(s.known) < maxShared {
			s.known[*field] = *field
		}
	}
}

// pointer replaces pointers by the known one to an equal value.
func pointer[T comparable](s *shared, fields ...**T) {
	for _, field := range fields {
		if *field == nil {
			continue
		}
		if known, ok := s.known[**field]; ok {
			*field = known.(*T) //nolint:forcetypeassert // as above
		} else if len(s.known) < maxShared {
			s.known[**field] = *field
		}
	}
}
