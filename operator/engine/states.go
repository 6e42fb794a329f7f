package engine

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
)

// WaitsForState reports whether a Mandate waits, for an outcome at least, while the name of its application's state is
// not known.
func WaitsForState(m *v1alpha1.Mandate, names lifecycle.Names) bool {
	status := &m.Status
	return !m.Spec.Suspend && m.DeletionTimestamp.IsZero() && status.ApplicationID != nil && status.Outcome == "" &&
		StageOf(idv.State{Name: status.State}, status.Individuals, names) == lifecycle.Unknown
}

// StageOf is the stage of an application with these individuals. A name that nobody has explained makes no difference
// before all of them are done, unless it sounds as if the application was over.
func StageOf(state idv.State, individuals []v1alpha1.IndividualStatus, names lifecycle.Names) lifecycle.Stage {
	stage := names.Stage(state)
	waits := slices.ContainsFunc(individuals, func(i v1alpha1.IndividualStatus) bool { return !isDone(&i, names) })
	if stage == lifecycle.Unknown && waits && !lifecycle.SoundsOver(state) {
		return lifecycle.Open
	}
	return stage
}

// isDone reports whether no check waits for an individual. A service that does not count checks says so only by one
// that has failed.
func isDone(individual *v1alpha1.IndividualStatus, names lifecycle.Names) bool {
	if individual.ChecksPending == nil || *individual.ChecksPending > 0 {
		return false // it was not found, or waits
	}
	counted := ptr.Deref(individual.ChecksInReview, 0) + ptr.Deref(individual.ChecksPassed, 0)
	return counted > 0 || slices.ContainsFunc(individual.Checks, func(check v1alpha1.CheckStatus) bool {
		return check.State != nil && names.Failed(idv.State{Name: check.State.Name})
	})
}
