package operator

import (
	"slices"
	"sync"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// texts has one copy of each of the texts that most Mandates share: reasons, sentences, and the service's names of
// states and checks. They are most of what ten thousand Mandates would take in memory.
type texts struct {
	mu    sync.Mutex
	known map[string]string
}

func newTexts() *texts { return &texts{known: map[string]string{}} }

// maxTexts bounds what is kept for ever, should a service give every check a name of its own.
const maxTexts = 10_000

// compact makes a Mandate smaller that was just decoded. Nothing of it is personal data by then.
func (t *texts) compact(m *v1alpha1.Mandate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := &m.Status
	// A decoder leaves room for more, up to half of a list.
	m.Spec.Individuals, status.Individuals = slices.Clone(m.Spec.Individuals), slices.Clone(status.Individuals)
	share(t, &m.Namespace, &m.Kind, &m.APIVersion, &m.Spec.ServiceRef.Name, &status.State, &status.Progress)
	for i := range status.Conditions {
		c := &status.Conditions[i]
		share(t, &c.Type, &c.Reason, &c.Message)
		share(t, &c.Status)
	}
	if status.MandateType != nil {
		share(t, &status.MandateType.Name, &status.MandateType.Code)
	}
	for i := range status.AvailableActions {
		share(t, &status.AvailableActions[i].Name, &status.AvailableActions[i].Title)
	}
	for i := range status.Individuals {
		t.compactIndividual(&status.Individuals[i])
	}
}

func (t *texts) compactIndividual(individual *v1alpha1.IndividualStatus) {
	t.shareState(individual.State)
	for i := range individual.CompletedActions {
		share(t, &individual.CompletedActions[i])
	}
	individual.Checks = slices.Clone(individual.Checks)
	for i := range individual.Checks {
		check := &individual.Checks[i]
		share(t, &check.Name, &check.Title)
		t.shareState(check.State)
	}
}

func (t *texts) shareState(state *v1alpha1.ServiceState) {
	if state != nil {
		share(t, &state.Name)
	}
}

// share replaces texts by the copy that is known.
func share[T ~string](t *texts, fields ...*T) {
	for _, field := range fields {
		text := string(*field)
		if known, ok := t.known[text]; ok {
			*field = T(known)
		} else if len(t.known) < maxTexts {
			t.known[text] = text
		}
	}
}
