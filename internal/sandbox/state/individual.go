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

// newIndividual makes an individual with the checks of the mandate type.
func (a *Account) newIndividual(app *application, details Person, d dialect.Dialect) *individual {
	id, known := a.people[fold(details.Email)]
	if !known || d.IndividualIDs != dialect.IndividualIDsPerson {
		id = a.nextID(&a.ids.individual)
	}
	person := &individual{ID: id, Person: details, application: app}
	for _, kind := range app.MandateType.checks {
		person.checks = append(person.checks, a.newCheck(person, kind))
	}
	return person
}

// Individual returns an individual of any application.
func (a *Account) Individual(id int64) (Individual, error) {
	defer a.lock()()
	person, err := a.individuals.find(id)
	if err != nil {
		return Individual{}, err
	}
	return a.viewIndividual(person), nil
}

// Report returns an individual for a report: only one whose checks are done.
func (a *Account) Report(id int64) (Individual, error) {
	defer a.lock()()
	person, err := a.individuals.find(id)
	if err != nil {
		return Individual{}, err
	}
	if !person.done() {
		return Individual{}, &RefusedError{Reason: "the individual has not completed the checks"}
	}
	return a.viewIndividual(person), nil
}

// ResendInvite sends an individual a new invite code.
func (a *Account) ResendInvite(id int64) (Individual, error) {
	return a.changeIndividual(control.ResendInvites, id, func(person *individual) { a.send(control.Resend, person) })
}

// ResetIndividual discards the progress of an individual and sends a new invite code.
func (a *Account) ResetIndividual(id int64) (Individual, error) {
	return a.changeIndividual(control.ResetIndividual, id, func(person *individual) {
		person.TermsAccepted, person.completionPublished = false, false
		person.actions, person.address = nil, nil
		for _, c := range person.checks {
			c.reset()
			if a.dialect.Get().ResetCheckIDs == dialect.ResetCheckIDsNew {
				a.checks.remove(c.ID)
				c.ID = a.nextID(&a.ids.check)
				a.checks.add(c.ID, c)
			}
		}
		a.send(control.Reset, person)
		a.updateStatus(person.application)
	})
}

// changeIndividual changes an individual of an application that is not concluded.
func (a *Account) changeIndividual(op control.Operation, id int64, work func(*individual)) (Individual, error) {
	try := func(person *individual) (func(), error) {
		if person.application.Status.final() {
			return nil, &RefusedError{Reason: "the application is concluded"}
		}
		return func() {
			work(person)
			a.touch(person.application)
		}, nil
	}
	return change(a, op, &a.individuals, id, try, a.viewIndividual)
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
