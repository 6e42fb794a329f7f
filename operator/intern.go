package operator

import (
	"slices"
	"sync"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// maxInterned bounds how many values of a type are kept for ever, in case a service gives every check a name of its
// own.
const maxInterned = 10_000

// interner keeps one copy of each value that most Mandates have: reasons, messages, and the service's names of states
// and checks. Ten thousand copies of them would be a third of what the cache takes. No interned value is personal data.
//
// Package unique is of no use here: it forgets a value when nobody holds its Handle any more, and a string cannot hold
// it. Mandates that are decoded between two garbage collections would share their texts, and no others.
type interner struct {
	mu           sync.Mutex
	texts        pool[string]
	states       pool[v1alpha1.ServiceState]
	mandateTypes pool[v1alpha1.MandateType]
	counts       pool[int64]
	flags        pool[bool]
}

func newInterner() *interner {
	return &interner{
		texts: pool[string]{}, states: pool[v1alpha1.ServiceState]{}, mandateTypes: pool[v1alpha1.MandateType]{},
		counts: pool[int64]{}, flags: pool[bool]{},
	}
}

// intern makes a Mandate smaller that was just decoded. The cache gives deep copies, so nobody changes an interned
// value.
func (i *interner) intern(m *v1alpha1.Mandate) {
	i.mu.Lock()
	defer i.mu.Unlock()
	spec, status := &m.Spec, &m.Status
	// A decoder leaves up to half of the capacity of a list unused.
	spec.Individuals = slices.Clone(spec.Individuals)
	status.Individuals = slices.Clone(status.Individuals)
	internText(i.texts, &m.Namespace, &m.Kind, &m.APIVersion, &spec.ServiceRef.Name)
	internText(i.texts, &spec.MandateType.Code, &spec.MandateType.Name, &status.State, &status.Progress)
	internText(i.texts, &spec.DeletionPolicy)
	i.mandateTypes.intern(&status.MandateType)
	for n := range status.Conditions {
		c := &status.Conditions[n]
		internText(i.texts, &c.Type, &c.Reason, &c.Message)
		internText(i.texts, &c.Status)
	}
	for n := range status.AvailableActions {
		internText(i.texts, &status.AvailableActions[n].Name, &status.AvailableActions[n].Title)
	}
	for n := range status.Individuals {
		i.internIndividual(&status.Individuals[n])
	}
}

func (i *interner) internIndividual(individual *v1alpha1.IndividualStatus) {
	i.states.intern(&individual.State)
	i.flags.intern(&individual.TermsAccepted)
	i.counts.intern(&individual.ChecksInReview, &individual.ChecksPending, &individual.ChecksPassed)
	for n := range individual.CompletedActions {
		internText(i.texts, &individual.CompletedActions[n])
	}
	individual.Checks = slices.Clone(individual.Checks)
	for n := range individual.Checks {
		check := &individual.Checks[n]
		internText(i.texts, &check.Name, &check.Title)
		i.states.intern(&check.State)
	}
}

// pool has a pointer to each value.
type pool[T comparable] map[T]*T

// intern replaces pointers by the one that the pool has to an equal value.
func (p pool[T]) intern(fields ...**T) {
	for _, field := range fields {
		if *field == nil {
			continue
		}
		if known, ok := p[**field]; ok {
			*field = known
		} else if len(p) < maxInterned {
			p[**field] = *field
		}
	}
}

// internText replaces texts by the copy that the pool has.
func internText[T ~string](p pool[string], fields ...*T) {
	for _, field := range fields {
		text := string(*field)
		if known, ok := p[text]; ok {
			*field = T(*known)
		} else if len(p) < maxInterned {
			p[text] = &text
		}
	}
}
