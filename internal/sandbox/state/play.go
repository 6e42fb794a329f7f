package state

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Play makes individuals act as they would in the mobile app.
func (a *Account) Play(play control.Play) (control.Application, error) {
	play.Step = cmp.Or(play.Step, control.FinishChecks)
	play.Result = cmp.Or(play.Result, control.ResultPass)
	if err := checkPlay(play); err != nil {
		return control.Application{}, err
	}
	defer a.lock()()
	app, err := a.find(play.ApplicationID, play.Reference)
	if err != nil {
		return control.Application{}, err
	}
	if app.Status.final() {
		return control.Application{}, &RefusedError{Reason: "the application is concluded"}
	}
	people := app.individuals
	if play.Individual != "" {
		people = slices.DeleteFunc(slices.Clone(people), func(i *individual) bool {
			return i.Reference != play.Individual && strconv.FormatInt(i.ID, 10) != play.Individual
		})
	}
	if len(people) == 0 {
		return control.Application{}, notFound("individual", "no individual of this application has this reference or id")
	}
	if play.Check != "" && !app.MandateType.hasCheck(play.Check) {
		return control.Application{}, notFound("check", "this mandate type has no check of this name")
	}
	for _, person := range people {
		a.playIndividual(person, play)
	}
	a.touch(app)
	a.updateStatus(app)
	return a.summary(app), nil
}

func checkPlay(play control.Play) error {
	steps := []control.Step{control.AcceptTerms, control.CompleteActions, control.FinishChecks}
	results := []control.Result{control.ResultPass, control.ResultFail, control.ResultReview}
	switch {
	case !slices.Contains(steps, play.Step):
		return InvalidField("step", "must be one of accept_terms, complete_actions, finish_checks")
	case !slices.Contains(results, play.Result):
		return InvalidField("result", "must be one of pass, fail, review")
	}
	return nil
}

// find returns the application with an id, or the oldest one with a reference; the id wins.
func (a *Account) find(id int64, reference string) (*application, error) {
	if id == 0 && reference == "" {
		return nil, InvalidField("application_id", "set application_id or reference")
	}
	if id != 0 {
		if app, err := a.applications.find(id); err == nil {
			return app, nil
		}
		return nil, notFound("application_id", "no application has this id")
	}
	for _, r := range a.references[fold(reference)] {
		if r.app != nil && r.name == reference {
			return r.app, nil
		}
	}
	return nil, notFound("reference", "no application has this reference")
}

func (a *Account) playIndividual(person *individual, play control.Play) {
	person.TermsAccepted = true
	if play.Step == control.AcceptTerms {
		return
	}
	a.completeActions(person)
	if play.Step == control.CompleteActions {
		return
	}
	for _, c := range person.checks {
		if play.Check == "" || play.Check == c.Name {
			a.finishCheck(c, play.Result)
		}
	}
}

// StepAll makes every individual take one step of autoplay.
func (a *Account) StepAll() {
	defer a.lock()()
	for _, app := range a.applicationsByAge() {
		if app.Status.final() {
			continue
		}
		for _, person := range app.individuals {
			if a.step(person) {
				a.touch(app)
			}
		}
		a.updateStatus(app)
	}
}

// step returns false if the individual has nothing to do.
func (a *Account) step(person *individual) bool {
	result, active := autoplayRule(person.Email)
	pending := slices.IndexFunc(person.checks, func(c *check) bool { return c.Status == checkPending })
	switch {
	case !active || pending < 0:
	case !person.TermsAccepted:
		person.TermsAccepted = true
	case len(person.actions) == 0:
		a.completeActions(person)
	default:
		a.finishCheck(person.checks[pending], result)
	}
	return active && pending >= 0
}

// autoplayRule reads the tag of an e-mail address: NAME+TAG@HOST.
func autoplayRule(email string) (result control.Result, active bool) {
	local, _, _ := strings.Cut(email, "@")
	switch local[max(0, strings.LastIndex(local, "+")):] {
	case "+fail":
		return control.ResultFail, true
	case "+review":
		return control.ResultReview, true
	case "+idle":
		return "", false
	default:
		return control.ResultPass, true
	}
}

func (a *Account) completeActions(person *individual) {
	if len(person.actions) > 0 {
		return
	}
	for _, c := range person.checks {
		person.actions = append(person.actions, c.kind.action)
	}
	person.address = &Address{
		ID: a.nextID(&a.ids.other), Individual: person.ID,
		BuildingNumber: "1", RoadStreet: "Sample Street", TownCity: "Sampleton",
		CountryCode: "GB", PostZipCode: "SA1 1AA", DateFrom: "2015-04-01",
	}
}

// finishCheck sets the result of a check that the client has not decided.
func (a *Account) finishCheck(c *check, result control.Result) {
	if c.Status != checkPending && c.Status != checkInReview {
		return
	}
	status := map[control.Result]Status{
		control.ResultPass: checkPassed, control.ResultFail: checkFailed, control.ResultReview: checkInReview,
	}[result]
	c.Status, c.automaticStatus = status, status
	c.Instance, c.Results = maps.Clone(c.kind.instance), nil
	for i, field := range c.kind.fields {
		one := FieldResult{
			ID: a.nextID(&a.ids.other), Individual: c.individual.ID, CheckField: field.id,
			Result: "match", Status: checkPassed.ID,
		}
		if last := i == len(c.kind.fields)-1; last && status != checkPassed {
			one.Status, one.Result = status.ID, field.failure
			if status == checkInReview {
				one.Result = "unclear"
			}
		}
		c.Results = append(c.Results, one)
	}
}
