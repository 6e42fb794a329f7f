package state

import (
	"time"
)

// Overview is an application without its individuals, as a create answers it.
type Overview struct {
	ID               int64       `json:"id"`
	Name             string      `json:"name"`
	Reference        *string     `json:"reference"`
	Status           Status      `json:"status"`
	MandateType      MandateType `json:"mandate_type"`
	Archived         bool        `json:"archived"`
	AvailableActions []Action    `json:"available_actions"`
}

// Application is an application with its individuals (interface: Resources).
type Application struct {
	Overview
	Individuals []Individual `json:"individuals"`
}

var (
	actionComplete = Action{81, "complete", "Complete the application"}
	actionReject   = Action{82, "reject", "Reject the application"}
	actionArchive  = Action{87, "archive", "Archive the application"}
)

type application struct {
	Overview
	people     []*individual
	first      Status
	suppressed bool
	created    time.Time
	unread     int // how many retrieves still answer that it does not exist
}

// Retrieve returns an application.
func (a *Account) Retrieve(id int64) (Application, error) {
	defer a.begin()()
	app, ok := a.applications[id]
	if !ok {
		return Application{}, ErrNotFound
	}
	if app.unread > 0 {
		app.unread--
		return Application{}, ErrNotFound
	}
	return a.view(app), nil
}

// Delete removes an application with its individuals and checks.
func (a *Account) Delete(id int64) error {
	defer a.begin()()
	app, ok := a.applications[id]
	if !ok {
		return ErrNotFound
	}
	a.publish(app, "application.deleted", 0)
	a.remove(app)
	return nil
}

// Archive marks an application as archived. Doing it again changes nothing.
func (a *Account) Archive(id int64) (Application, error) {
	defer a.begin()()
	app, ok := a.applications[id]
	if !ok {
		return Application{}, ErrNotFound
	}
	if !app.Archived {
		app.Archived = true
		a.publish(app, "application.archived", 0)
	}
	return a.view(app), nil
}

// Complete concludes an application that is in review.
func (a *Account) Complete(id int64) (Application, error) {
	return a.conclude(id, statusCompleted)
}

// Reject rejects an application that is in review.
func (a *Account) Reject(id int64) (Application, error) {
	return a.conclude(id, statusRejected)
}

func (a *Account) conclude(id int64, outcome Status) (Application, error) {
	defer a.begin()()
	app, ok := a.applications[id]
	if !ok {
		return Application{}, ErrNotFound
	}
	if app.Status != statusInReview {
		return Application{}, &RefusedError{"the application is not in review"}
	}
	if outcome == statusCompleted && a.undecided(app) {
		return Application{}, &RefusedError{"the application has checks that wait for a decision"}
	}
	a.enter(app, outcome)
	return a.view(app), nil
}

// settle moves an application to the state that its individuals have brought it to.
func (a *Account) settle(app *application) {
	if app.Status.final() {
		return
	}
	started, done := false, true
	for _, person := range app.people {
		started = started || person.TermsAccepted
		done = done && person.done()
		a.announce(person)
	}
	switch {
	case done || app.first == statusInReview:
		a.enter(app, statusInReview)
	case started || app.Status != app.first:
		a.enter(app, statusInProgress)
	}
}

func (a *Account) enter(app *application, status Status) {
	if app.Status != status {
		app.Status = status
		a.publish(app, "application."+status.event(), 0)
	}
}

func (a *Account) view(app *application) Application {
	view := Application{Overview: app.Overview, Individuals: make([]Individual, len(app.people))}
	view.AvailableActions = a.availableActions(app)
	for i, person := range app.people {
		view.Individuals[i] = person.view()
	}
	return view
}

func (a *Account) availableActions(app *application) []Action {
	actions := []Action{}
	if app.Status == statusInReview {
		if !a.undecided(app) {
			actions = append(actions, actionComplete)
		}
		actions = append(actions, actionReject)
	}
	if !app.Archived {
		actions = append(actions, actionArchive)
	}
	return actions
}
