package mandate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
)

// What the CRD allows. What a service says beyond that is cut, so that it cannot make the status invalid.
const (
	maxActions   = 50
	maxChecks    = 100
	maxCompleted = 100
	maxFailed    = 20
)

const (
	// maxProjectionBytes bounds in JSON what the status shows of the application: fifty individuals with a dozen checks
	// each take two thirds of it. The states and counters of all individuals always fit.
	maxProjectionBytes = 160 << 10
	// actionsFraction is the part of that for the actions on the application: one of eight.
	actionsFraction = 8
	// Bytes around the texts of an individual, of an action, and of a check with its evidence and failed fields.
	individualOverhead = 300
	entryOverhead      = 120
	checkOverhead      = 165
)

// projection is what a status shows of what the service says: states, counters and ids, no personal data. What is
// decided is decided on the application: the status may not show all of it.
type projection struct {
	state       string
	archived    bool
	mandateType *v1alpha1.MandateType
	individuals []v1alpha1.IndividualStatus // without the evidence of their checks
	actions     []v1alpha1.AvailableAction
	progress    string
	truncated   bool
	digest      string // of all that is not truncated; "" if nothing is
}

// project makes the projection of an application. Of an individual that is not found, it has the name alone. Texts
// about people are left out, but for names of states that are known.
func project(
	mandate *v1alpha1.Mandate, found []*idv.Individual, application *idv.Application, names lifecycle.Names,
) *projection {
	budget := engine.NewStatusBudget(maxProjectionBytes, personalOf(mandate, application, names))
	p := &projection{state: nameOrID(budget, application.State.Name, application.State.ID), archived: application.Archived}
	if t := application.MandateType; t != (idv.Reference{}) {
		p.mandateType = &v1alpha1.MandateType{ID: budget.ID(t.ID), Name: budget.Text(t.Name), Code: budget.Text(t.Code)}
		budget.Take(entryOverhead, p.mandateType.Name, p.mandateType.Code)
	}
	budget.Take(entryOverhead, p.state)
	p.individuals = make([]v1alpha1.IndividualStatus, len(found))
	for i := range found {
		projectIndividual(budget, &p.individuals[i], mandate.Spec.Individuals[i].Name, found[i])
	}
	actions := budget.Part(actionsFraction)
	p.actions = projectActions(actions, application.Actions)
	budget.Return(actions)
	for i := range found {
		if found[i] != nil {
			part := budget.Part(len(found) - i)
			projectLists(part, &p.individuals[i], found[i])
			budget.Return(part)
		}
	}
	p.progress, p.truncated = checkProgress(found), budget.Truncated
	if budget.Truncated {
		p.digest = fullDigest(found, application)
	}
	return p
}

// personalOf is what the spec and the service say of people.
func personalOf(mandate *v1alpha1.Mandate, application *idv.Application, names lifecycle.Names) *engine.Personal {
	personal := engine.PersonalOf(mandate, names)
	personal.Add(application.Name.Reveal())
	for i := range application.Individuals {
		one := &application.Individuals[i]
		personal.Add(one.Email.Reveal(), one.Reference.Reveal())
		for _, value := range one.Personal {
			personal.Add(value.Reveal())
		}
	}
	return personal
}

// projectionOf is the projection that a status shows.
func projectionOf(status *v1alpha1.MandateStatus) *projection {
	return &projection{state: status.State, individuals: status.Individuals, digest: status.Digest}
}

// show writes it into a status, which then has slices of its own.
func (p *projection) show(status *v1alpha1.MandateStatus) {
	status.State, status.Archived = p.state, p.archived
	status.MandateType = p.mandateType
	status.AvailableActions, status.Progress = p.actions, p.progress
	status.Truncated, status.Digest = p.truncated, p.digest
	status.Individuals = slices.Clone(p.individuals)
	for i := range status.Individuals {
		status.Individuals[i].Checks = slices.Clone(p.individuals[i].Checks)
	}
}

func checkProgress(found []*idv.Individual) string {
	passed, total := 0, 0
	for _, individual := range found {
		if individual != nil {
			passed += int(individual.ChecksPassed)
			counted := int(individual.ChecksPassed) + int(individual.ChecksInReview) + int(individual.ChecksPending)
			total += max(len(individual.Checks), counted)
		}
	}
	return fmt.Sprintf("%d/%d", min(passed, total), total)
}

func projectActions(budget *engine.StatusBudget, actions []idv.Action) (shown []v1alpha1.AvailableAction) {
	for i, a := range actions {
		name, title := budget.Text(a.Name), budget.Text(a.Title)
		if i == maxActions || !budget.Fits(entryOverhead, name, title) {
			budget.Truncated = true
			break
		}
		shown = append(shown, v1alpha1.AvailableAction{ID: budget.ID(a.ID), Name: name, Title: title})
	}
	return shown
}

// projectIndividual writes what is always shown of an individual.
func projectIndividual(
	budget *engine.StatusBudget, shown *v1alpha1.IndividualStatus, name string, individual *idv.Individual,
) {
	*shown = v1alpha1.IndividualStatus{Name: name}
	budget.Take(individualOverhead, name)
	if individual == nil {
		return
	}
	shown.ID, shown.State = budget.ID(individual.ID), serviceState(budget, individual.State)
	if shown.State != nil {
		budget.Take(0, shown.State.Name)
	}
	shown.TermsAccepted = &individual.TermsAccepted
	shown.ChecksInReview = count(individual.ChecksInReview)
	shown.ChecksPending = count(individual.ChecksPending)
	shown.ChecksPassed = count(individual.ChecksPassed)
}

// projectLists writes as many checks and completed actions of an individual as there is budget for.
func projectLists(budget *engine.StatusBudget, shown *v1alpha1.IndividualStatus, individual *idv.Individual) {
	for i, c := range individual.Checks {
		check := v1alpha1.CheckStatus{
			ID: budget.ID(c.ID), Name: budget.Text(c.Name), Title: budget.Text(c.Title), State: serviceState(budget, c.State),
			FailedFields: failedFields(budget, c.FailedFields),
		}
		state := ""
		if check.State != nil {
			state = check.State.Name
		}
		texts := slices.Concat(check.FailedFields, []string{check.Name, check.Title, state})
		if i == maxChecks || !budget.Fits(checkOverhead, texts...) {
			budget.Truncated = true
			break
		}
		shown.Checks = append(shown.Checks, check)
	}
	for i, a := range individual.CompletedActions {
		name := nameOrID(budget, a.Name, a.ID)
		if i == maxCompleted || !budget.Fits(entryOverhead, name) {
			budget.Truncated = true
			break
		}
		shown.CompletedActions = append(shown.CompletedActions, name)
	}
	shown.Truncated = budget.Truncated
}

func failedFields(budget *engine.StatusBudget, names []string) (shown []string) {
	for i, name := range names {
		if i == maxFailed {
			budget.Truncated = true
			break
		}
		if text := budget.Text(name); text != "" {
			shown = append(shown, text)
		}
	}
	return shown
}

// fullDigest is of all that hash would be of if the status had budget for it.
func fullDigest(found []*idv.Individual, application *idv.Application) string {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	encode := func(values ...any) { _ = encoder.Encode(values) } // numbers and texts always encode, and a hash takes all
	encode(application.State)
	for i, individual := range found {
		if individual == nil {
			continue
		}
		encode(i, individual.ID, individual.State, individual.TermsAccepted)
		encode(individual.ChecksInReview, individual.ChecksPending, individual.ChecksPassed)
		encode(individual.CompletedActions)
		for _, check := range individual.Checks {
			encode(check)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hash is of the state and the individuals, without the evidence of their checks.
func (p *projection) hash() uint64 {
	return valuesHash(func(encode func(any)) {
		encode([]string{p.state, p.digest})
		for _, individual := range p.individuals {
			checks := individual.Checks
			individual.Checks = nil
			encode(individual)
			for _, check := range checks {
				check.Evidence = ""
				encode(check)
			}
		}
	})
}

func serviceState(budget *engine.StatusBudget, s idv.State) *v1alpha1.ServiceState {
	if s == (idv.State{}) {
		return nil
	}
	return &v1alpha1.ServiceState{ID: budget.ID(s.ID), Name: budget.Text(s.Name)}
}

// nameOrID is the id if there is no name that can be shown.
func nameOrID(budget *engine.StatusBudget, name string, id int64) string {
	if shown := budget.Text(name); shown != "" || id == 0 {
		return shown
	}
	return fmt.Sprint(id)
}

func count(n int32) *int64 {
	wide := int64(n)
	return &wide
}
