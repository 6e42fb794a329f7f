package service

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// seenInterval is how late the time in the status may be at which the name of a state was last seen, so that it costs
// one write a day.
const seenInterval = 24 * time.Hour

// statesMessage is that of the condition StatesUnderstood.
const statesMessage = "Mandates wait in a state that status.states shows as Unknown. Add its name to inReview, " +
	"completed, rejected, or closed (over without a decision) in spec.states, as the service means it."

// namesOf are the names of states that a service has beside those that the client knows.
func namesOf(service connection.Service) lifecycle.Names {
	return lifecycle.Names(service.Settings().States)
}

// showStates adds the names that were seen to those that the status has, and says what all of them mean. An earlier
// version may have written one about a person.
func showStates(status *v1alpha1.IdentityServiceStatus, names lifecycle.Names, seen map[string]time.Time) {
	personal := engine.PersonalOf(&v1alpha1.Mandate{}, names)
	shown := slices.DeleteFunc(slices.Clone(status.States), func(s v1alpha1.StateStatus) bool {
		return personal.Shown(s.Name) == ""
	})
	for i := range shown {
		last := seen[shown[i].Name]
		if last.Sub(shown[i].LastSeenTime.Time) >= seenInterval {
			shown[i].LastSeenTime = metav1.NewTime(last.Truncate(time.Second))
		}
		delete(seen, shown[i].Name)
	}
	for name, last := range seen { // those that are new
		shown = addState(shown, v1alpha1.StateStatus{Name: name, LastSeenTime: metav1.NewTime(last.Truncate(time.Second))})
	}
	for i := range shown {
		shown[i].Stage = v1alpha1.StateStage(names.Stage(idv.State{Name: shown[i].Name}).String())
	}
	slices.SortFunc(shown, func(a, b v1alpha1.StateStatus) int { return cmp.Compare(a.Name, b.Name) })
	status.States = shown
}

// addState adds a state, if need be in place of the one that was not seen for longest. So a service that makes up names
// costs no more writes than others.
func addState(shown []v1alpha1.StateStatus, state v1alpha1.StateStatus) []v1alpha1.StateStatus {
	if len(shown) < connection.MaxStates {
		return append(shown, state)
	}
	oldest := 0
	for i := range shown {
		if shown[i].LastSeenTime.Before(&shown[oldest].LastSeenTime) {
			oldest = i
		}
	}
	if state.LastSeenTime.Sub(shown[oldest].LastSeenTime.Time) >= seenInterval {
		shown[oldest] = state
	}
	return shown
}

// setStatesUnderstood sets the condition, which is there only while it is False, or removes it.
func setStatesUnderstood(status *v1alpha1.IdentityServiceStatus, generation int64, understood bool) {
	if understood {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionStatesUnderstood)
		return
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStatesUnderstood, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonStateUnknown,
		Message: statesMessage, ObservedGeneration: generation,
	})
}
