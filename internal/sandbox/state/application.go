package state

import (
	"time"

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
	app, ok := a.applications[id]
	if !ok {
		return Application{}, ErrNotFound
	}
	if app.readLag > 0 {
		app.readLag--
		return Application{}, ErrNotFound
	}
	return a.view(app), nil
}

// Delete removes an application with its individuals and checks.
func (a *Account) Delete(id int64) error {
	defer a.lock()()
	app, ok := a.applications[id]
	if !ok {
		return ErrNotFound
	}
	a.publish(app, "application.deleted", 0)
	a.remove(app, dialect.DeletedFreedByDeletion)
	return nil
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
