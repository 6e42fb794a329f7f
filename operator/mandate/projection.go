package mandate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// What the CRD allows. What a service says beyond that is cut, so that it cannot make the status invalid.
const (
	maxActions   = 50
	maxChecks    = 100
	maxCompleted = 100
)

// project writes what the service says of the application into the status: states, counters and ids, no personal data.
// Of an individual that is not found, it writes the name alone.
func project(
	status *v1alpha1.MandateStatus, mandate *v1alpha1.Mandate, found []*idv.Individual, application *idv.Application,
) {
	status.State = stateName(application.State)
	status.Archived = application.Archived
	status.MandateType = nil
	if t := application.MandateType; t != (idv.MandateType{}) {
		status.MandateType = &v1alpha1.MandateType{
			ID:   t.ID,
			Name: engine.TruncateText(t.Name),
			Code: engine.TruncateText(t.Code),
		}
	}
	status.AvailableActions = nil
	for _, a := range firstOf(application.Actions, maxActions) {
		status.AvailableActions = append(status.AvailableActions, v1alpha1.AvailableAction{
			ID: a.ID, Name: engine.TruncateText(a.Name), Title: engine.TruncateText(a.Title),
		})
	}
	status.Individuals = nil
	passed, total := 0, 0
	for i, individual := range found {
		shown := v1alpha1.IndividualStatus{Name: mandate.Spec.Individuals[i].Name}
		if individual != nil {
			projectIndividual(&shown, individual)
			passed += int(individual.ChecksPassed)
			counted := int(individual.ChecksPassed) + int(individual.ChecksInReview) + int(individual.ChecksPending)
			total += max(len(individual.Checks), counted)
		}
		status.Individuals = append(status.Individuals, shown)
	}
	status.Progress = fmt.Sprintf("%d/%d", min(passed, total), total)
}

func projectIndividual(shown *v1alpha1.IndividualStatus, individual *idv.Individual) {
	shown.ID, shown.State = individual.ID, serviceState(individual.State)
	shown.TermsAccepted = &individual.TermsAccepted
	shown.ChecksInReview = count(individual.ChecksInReview)
	shown.ChecksPending = count(individual.ChecksPending)
	shown.ChecksPassed = count(individual.ChecksPassed)
	for _, a := range firstOf(individual.CompletedActions, maxCompleted) {
		shown.CompletedActions = append(shown.CompletedActions, engine.TruncateText(a.Name))
	}
	for _, c := range firstOf(individual.Checks, maxChecks) {
		shown.Checks = append(shown.Checks, v1alpha1.CheckStatus{
			ID: c.ID, Name: engine.TruncateText(c.Name), Title: engine.TruncateText(c.Title),
			State: serviceState(c.State),
		})
	}
}

// statusDigest is of what a decision may depend on: the state and the checks. It is compared and never stored.
func statusDigest(status *v1alpha1.MandateStatus) string {
	data, err := json.Marshal([]any{status.State, status.Individuals})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func serviceState(s idv.State) *v1alpha1.ServiceState {
	if s == (idv.State{}) {
		return nil
	}
	return &v1alpha1.ServiceState{ID: s.ID, Name: engine.TruncateText(s.Name)}
}

func stateName(s idv.State) string {
	if s.Name == "" && s.ID != 0 {
		return fmt.Sprint(s.ID)
	}
	return engine.TruncateText(s.Name)
}

func count(n int32) *int64 {
	wide := int64(n)
	return &wide
}

func firstOf[T any](items []T, n int) []T { return items[:min(len(items), n)] }
