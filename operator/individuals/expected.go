package individuals

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// Known is what the status of a Mandate knows of the individuals of its spec.
func Known(m *v1alpha1.Mandate) []Expected {
	known := make([]Expected, len(m.Spec.Individuals))
	for i := range known {
		name := m.Spec.Individuals[i].Name
		known[i].Name = name
		shown := slices.IndexFunc(m.Status.Individuals, func(s v1alpha1.IndividualStatus) bool { return s.Name == name })
		if shown >= 0 {
			known[i].ID = m.Status.Individuals[shown].ID
		}
	}
	return known
}

// Recorded takes the ids over that a record has: which individual is which was written there before anything was sent
// for one. A record may be nil.
func Recorded(known []Expected, record *v1alpha1.ApplicationRecord) []Expected {
	if record == nil {
		return known
	}
	for _, recorded := range record.Spec.Individuals {
		if i := indexOf(known, recorded.Name); i >= 0 {
			known[i].ID, known[i].Recorded = recorded.ID, true
		}
	}
	return known
}

// Frozen is what a record is about, with which individual is which, for the call that begins; nil if the record has
// that already, or if it is not known.
func Frozen(
	record *v1alpha1.ApplicationRecord, known []Expected, matching Matching,
) *v1alpha1.ApplicationRecordSpec {
	if len(record.Spec.Individuals) > 0 || !matching.Complete {
		return nil
	}
	about := record.Spec.DeepCopy()
	for i, found := range matching.Individuals {
		if found.ID < 1 || found.ID > v1alpha1.MaxID {
			return nil
		}
		about.Individuals = append(about.Individuals, v1alpha1.RecordedIndividual{Name: known[i].Name, ID: found.ID})
	}
	return about
}

func indexOf(individuals []Expected, name string) int {
	return slices.IndexFunc(individuals, func(e Expected) bool { return e.Name == name })
}

// Sent adds what the individuals were sent with, as the live Mandate and its Secrets say: the spec cannot change once
// the application exists. What depends on a Secret that is gone or invalid stays unknown, and the problems say so. An
// error is one of the API server.
func Sent(
	ctx context.Context, reader client.Reader, known []Expected, live *v1alpha1.Mandate, applicationReference string,
) (expected []Expected, problems []v1alpha1.Problem, err error) {
	expected = slices.Clone(known)
	for i := range live.Spec.Individuals {
		individual := &live.Spec.Individuals[i]
		named := indexOf(expected, individual.Name)
		if named < 0 {
			continue
		}
		details, err := Read(ctx, reader, live.Namespace, individual, applicationReference)
		if err != nil {
			return nil, nil, err
		}
		expected[named].Reference = details.Reference.Reveal()
		expected[named].Email = details.Email.Reveal()
		problems = append(problems, details.Problems...)
	}
	return expected, problems, nil
}

// Identified reports whether an answer shows what can be compared with what was sent.
func Identified(answered []idv.Individual) bool {
	return slices.ContainsFunc(answered, func(a idv.Individual) bool {
		return a.Reference.Reveal() != "" || a.Email.Reveal() != ""
	})
}
