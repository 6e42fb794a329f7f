package state

import (
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Individual is a person whose identity is verified (interface: Resources).
type Individual struct {
	ID int64 `json:"id"`
	Person
	Status           Status   `json:"status"`
	TermsAccepted    bool     `json:"terms_accepted"`
	Address          *Address `json:"address"`
	CompletedActions []Action `json:"completed_actions"`
	ChecksInReview   int      `json:"checks_in_review"`
	ChecksPending    int      `json:"checks_in_pending"`
	ChecksPassed     int      `json:"checks_passed"`
	Checks           []Check  `json:"checks"`
}

// Address is where an individual lives (interface: Address).
type Address struct {
	ID                int64  `json:"id"`
	Individual        int64  `json:"individual"`
	Flat              string `json:"flat_appartment_subbuilding"`
	BuildingNumber    string `json:"building_number"`
	BuildingName      string `json:"building_name"`
	RoadStreet        string `json:"road_street"`
	District          string `json:"district"`
	TownCity          string `json:"town_city"`
	StateProvinceName string `json:"state_province_name"`
	StateProvinceCode string `json:"state_province_code"`
	CountryCode       string `json:"country_code"`
	PostZipCode       string `json:"post_zip_code"`
	DateFrom          string `json:"date_from"`
	DateTo            string `json:"date_to"`
}

type individual struct {
	ID int64
	Person
	TermsAccepted bool

	application         *application
	checks              []*check
	actions             []Action
	address             *Address
	inviteCode          string
	completionPublished bool // subscribers were notified that the checks are done
}

func (a *Account) addIndividual(app *application, details Person) {
	person := &individual{ID: a.nextID(&a.ids.individual), Person: details, application: app}
	app.individuals = append(app.individuals, person)
	a.individuals[person.ID] = person
	a.individualReferences.add(details.Reference, app)
	for _, kind := range app.MandateType.checks {
		a.addCheck(person, kind)
	}
}

// Individual returns an individual of any application.
func (a *Account) Individual(id int64) (Individual, error) {
	defer a.lock()()
	person, ok := a.individuals[id]
	if !ok {
		return Individual{}, ErrNotFound
	}
	return a.viewIndividual(person), nil
}

// Report returns an individual for a report: only one whose checks are done.
func (a *Account) Report(id int64) (Individual, error) {
	defer a.lock()()
	person, ok := a.individuals[id]
	if !ok {
		return Individual{}, ErrNotFound
	}
	if !person.done() {
		return Individual{}, &RefusedError{Reason: "the individual has not completed the checks"}
	}
	return a.viewIndividual(person), nil
}

// ResendInvite sends an individual a new invite code.
func (a *Account) ResendInvite(id int64) (Individual, error) {
	defer a.lock()()
	person, err := a.openIndividual(id)
	if err != nil {
		return Individual{}, err
	}
	a.send(control.Resend, person)
	a.touch(person.application)
	return a.viewIndividual(person), nil
}

// ResetIndividual discards the progress of an individual and sends a new invite code.
func (a *Account) ResetIndividual(id int64) (Individual, error) {
	defer a.lock()()
	person, err := a.openIndividual(id)
	if err != nil {
		return Individual{}, err
	}
	person.TermsAccepted, person.completionPublished = false, false
	person.actions, person.address = nil, nil
	for _, c := range person.checks {
		c.reset()
		if a.dialect.Get().ResetCheckIDs == dialect.ResetCheckIDsNew {
			delete(a.checks, c.ID)
			c.ID = a.nextID(&a.ids.check)
			a.checks[c.ID] = c
		}
	}
	a.send(control.Reset, person)
	a.touch(person.application)
	a.updateStatus(person.application)
	return a.viewIndividual(person), nil
}

func (a *Account) openIndividual(id int64) (*individual, error) {
	person, ok := a.individuals[id]
	if !ok {
		return nil, ErrNotFound
	}
	if person.application.Status.final() {
		return nil, &RefusedError{Reason: "the application is concluded"}
	}
	return person, nil
}

// done is true if the individual has no pending checks.
func (i *individual) done() bool { return i.count(checkPending) == 0 }

func (i *individual) count(statuses ...Status) int {
	n := 0
	for _, c := range i.checks {
		if slices.Contains(statuses, c.Status) {
			n++
		}
	}
	return n
}

func (i *individual) passed() int { return i.count(checkPassed, checkManuallyAccepted) }

func (i *individual) status() Status {
	switch {
	case i.done() && i.count(checkInReview) > 0:
		return individualInReview
	case i.done() && i.passed() == len(i.checks):
		return individualCompleted
	case i.done():
		return individualFailed
	case i.TermsAccepted:
		return individualInProgress
	case i.inviteCode != "":
		return individualInvited
	default:
		return individualCreated
	}
}

func (a *Account) viewIndividual(i *individual) Individual {
	view := Individual{
		ID: i.ID, Person: i.Person, Status: i.status(), TermsAccepted: i.TermsAccepted, Address: i.address,
		CompletedActions: append([]Action{}, i.actions...), Checks: make([]Check, len(i.checks)),
	}
	countDecisions := a.dialect.Get().ManualCounters != dialect.ManualCountersUnchanged
	for n, c := range i.checks {
		view.Checks[n] = c.view()
		status := c.Status
		if !countDecisions {
			status = c.automaticStatus
		}
		switch status {
		case checkInReview:
			view.ChecksInReview++
		case checkPending:
			view.ChecksPending++
		case checkPassed, checkManuallyAccepted:
			view.ChecksPassed++
		}
	}
	return view
}
