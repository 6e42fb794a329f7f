package state

import (
	"cmp"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Seed adds an application that exists from the start, in any state. It sends no e-mails.
func (a *Account) Seed(wanted config.Application) error {
	defer a.lock()()
	kind, _ := a.References.mandateType(func(t MandateType) bool { return t.Code == wanted.MandateType })
	input := NewApplication{
		Name: wanted.Name, Reference: wanted.Reference, MandateType: kind.ID, Suppress: wanted.SuppressEmailNotification,
	}
	for _, person := range wanted.Individuals {
		input.Individuals = append(input.Individuals, Person{Individual: person})
	}
	if invalid := a.validate(input, dialect.Dialect{}); !invalid.Empty() {
		return invalid
	}
	app := a.newApplication(input, a.dialect.Get())
	app.ID, app.readLag = cmp.Or(wanted.ID, app.ID), 0
	emails := a.emails
	a.insert(app)
	a.emails = emails
	if status := statusNamed(wanted.State); wanted.State != "" && status != app.initialStatus {
		step := control.FinishChecks
		if status == statusInProgress {
			step = control.AcceptTerms
		}
		for _, person := range app.individuals {
			a.playIndividual(person, control.Play{Step: step, Result: cmp.Or(wanted.Result, control.ResultPass)})
		}
		app.Status = status
	}
	app.Archived = wanted.Archived
	return nil
}
