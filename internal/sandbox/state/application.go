package state

import (
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Overview is an application without its individuals, as the response of a create has it.
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
	individuals   []*individual
	initialStatus Status
	suppressed    bool
	sequence      int // of the creation
	created       time.Time
	changed       time.Time // last
	readLag       int       // retrieves that still get ErrNotFound
}

// Retrieve returns an application.
func (a *Account) Retrieve(id int64) (Application, error) {
	defer a.lock()()
	app, err := a.applications.find(id)
	if last, deleted := a.deleted[id]; deleted && a.dialect.Get().GoneAnswer == dialect.GoneStateDeleted {
		last.Status = statusDeleted
		return Application{Overview: last, Individuals: []Individual{}}, nil
	}
	if err != nil {
		return Application{}, err
	}
	if app.readLag > 0 {
		app.readLag--
		return Application{}, ErrNotFound
	}
	return a.view(app), nil
}

// Delete removes an application with its individuals and checks.
func (a *Account) Delete(id int64) error {
	remove := func(app *application) (func(), error) {
		return func() {
			a.publish(app, "application.deleted", 0)
			a.remove(app, dialect.DeletedFreedByDeletion)
		}, nil
	}
	_, err := change(a, control.DeleteApplication, &a.applications, id, remove, a.view)
	return err
}

// ApplicationOf returns the id of the application that an object of an operation belongs to.
func (a *Account) ApplicationOf(op control.Operation, id int64) (applicationID int64, exists bool) {
	defer a.lock()()
	switch op {
	case control.AcceptCheck, control.RejectCheck:
		if c, err := a.checks.find(id); err == nil {
			return c.individual.application.ID, true
		}
	case control.RetrieveIndividual, control.ResendInvites, control.ResetIndividual, control.IndividualReport:
		if person, err := a.individuals.find(id); err == nil {
			return person.application.ID, true
		}
	default:
		_, err := a.applications.find(id)
		return id, err == nil
	}
	return 0, false
}

func (a *Account) view(app *application) Application {
	view := Application{Overview: app.Overview, Individuals: make([]Individual, len(app.individuals))}
	view.AvailableActions = a.availableActions(app)
	for i, person := range app.individuals {
		view.Individuals[i] = a.viewIndividual(person)
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
