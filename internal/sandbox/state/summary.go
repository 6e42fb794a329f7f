package state

import (
	"maps"
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Applications returns every application in short, oldest first.
func (a *Account) Applications() []control.Application {
	defer a.begin()()
	summaries := make([]control.Application, 0, len(a.applications))
	for _, id := range slices.Sorted(maps.Keys(a.applications)) {
		summaries = append(summaries, summary(a.applications[id]))
	}
	return summaries
}

func summary(app *application) control.Application {
	short := control.Application{
		ID: app.ID, State: app.Status.Name, Archived: app.Archived, CreatedTime: app.created,
		Individuals: make([]control.Individual, 0, len(app.people)),
	}
	if app.Reference != nil {
		short.Reference = *app.Reference
	}
	for _, person := range app.people {
		one := control.Individual{ID: person.ID, Reference: person.Reference, State: person.status().Name}
		for _, c := range person.checks {
			one.Checks = append(one.Checks, control.Check{ID: c.ID, Name: c.Name, State: c.Status.Name})
		}
		short.Individuals = append(short.Individuals, one)
	}
	return short
}
