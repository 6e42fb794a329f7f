package operator

import (
	"slices"
	"sync"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	// maxInterned bounds how many values are kept for ever, in case a service gives every check a name of its own: of our
	// own texts, and apart from them of those of services.
	maxInterned = 10_000
	// maxInternedText is the length of a service's text that is kept for ever. Names of states and checks are short.
	maxInternedText = 128
)

// interner keeps one copy of each value that most Mandates have: reasons, messages, and the service's names of states
// and checks. Ten thousand copies of them would be a third of what the cache takes. No interned value is personal data.
//
// Package unique is of no use here: it forgets a value when nobody holds its Handle any more, and a string cannot hold
// it. Mandates that are decoded between two garbage collections would share their texts, and no others.
type interner struct {
	mu     sync.Mutex
	texts  map[string]string // our own: reasons, messages, names of objects
	values map[any]any       // those of services: texts, and pointers to all others
}

func newInterner() *interner { return &interner{texts: map[string]string{}, values: map[any]any{}} }

// intern makes a Mandate smaller that was just decoded. Readers of the cache get deep copies. A list with
// UnsafeDisableDeepCopy has the interned values themselves, which its readers must not change.
func (i *interner) intern(m *v1alpha1.Mandate) {
	i.mu.Lock()
	defer i.mu.Unlock()
	spec, status := &m.Spec, &m.Status
	// A decoder leaves up to half of the capacity of a list unused.
	spec.Individuals = slices.Clone(spec.Individuals)
	status.Individuals = slices.Clone(status.Individuals)
	internText(i, &m.Namespace, &m.Kind, &m.APIVersion, &spec.ServiceRef.Name)
	internText(i, &spec.MandateType.Code, &spec.MandateType.Name)
	i.internServiceText(&status.State, &status.Progress)
	internText(i, &spec.DeletionPolicy)
	if t := status.MandateType; t != nil && len(t.Name)+len(t.Code) <= maxInternedText {
		internPointer(i, &status.MandateType)
	}
	for n := range status.Conditions {
		c := &status.Conditions[n]
		internText(i, &c.Type, &c.Reason, &c.Message)
		internText(i, &c.Status)
	}
	for n := range status.AvailableActions {
		i.internServiceText(&status.AvailableActions[n].Name, &status.AvailableActions[n].Title)
	}
	for n := range status.Individuals {
		i.internIndividual(&status.Individuals[n])
	}
}

func (i *interner) internIndividual(individual *v1alpha1.IndividualStatus) {
	i.internState(&individual.State)
	internPointer(i, &individual.TermsAccepted)
	internPointer(i, &individual.ChecksInReview, &individual.ChecksPending, &individual.ChecksPassed)
	for n := range individual.CompletedActions {
		i.internServiceText(&individual.CompletedActions[n])
	}
	individual.Checks = slices.Clone(individual.Checks)
	for n := range individual.Checks {
		check := &individual.Checks[n]
		i.internServiceText(&check.Name, &check.Title)
		i.internState(&check.State)
	}
}

func (i *interner) internState(state **v1alpha1.ServiceState) {
	if *state != nil && len((*state).Name) <= maxInternedText {
		internPointer(i, state)
	}
}

// internPointer replaces pointers by the one that the interner has to an equal value.
func internPointer[T comparable](i *interner, fields ...**T) {
	for _, field := range fields {
		if *field == nil {
			continue
		}
		if known, ok := i.values[**field].(*T); ok {
			*field = known
		} else if len(i.values) < maxInterned {
			i.values[**field] = *field
		}
	}
}

// internText replaces texts by the copy that the interner has.
func internText[T ~string](i *interner, fields ...*T) {
	for _, field := range fields {
		text := string(*field)
		if known, ok := i.texts[text]; ok {
			*field = T(known)
		} else if len(i.texts) < maxInterned {
			i.texts[text] = text
		}
	}
}

// internServiceText is internText for what a service says: it can say much, and must not keep other texts out.
func (i *interner) internServiceText(fields ...*string) {
	for _, field := range fields {
		if known, ok := i.values[*field].(string); ok {
			*field = known
		} else if len(i.values) < maxInterned && len(*field) <= maxInternedText {
			i.values[*field] = *field
		}
	}
}
