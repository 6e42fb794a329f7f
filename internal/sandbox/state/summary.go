package state

import (
	"maps"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// Applications returns every application in short form, oldest first.
func (a *Account) Applications() []control.Application {
	defer a.lock()()
	summaries := make([]control.Application, 0, len(a.applications.live))
	for _, app := range a.applicationsByAge() {
		summaries = append(summaries, a.summary(app))
	}
	return summaries
}

func (a *Account) applicationsByAge() []*application {
	bySequence := func(x, y *application) int { return x.sequence - y.sequence }
	return slices.SortedFunc(maps.Values(a.applications.live), bySequence)
}

func (a *Account) summary(app *application) control.Application {
	short := control.Application{
		ID: app.ID, Name: app.Name, MandateType: app.MandateType.Name, State: app.Status.Name, Archived: app.Archived,
		CreatedTime: app.created, ExpiryTime: a.rule.expiry(app),
		Individuals: make([]control.Individual, 0, len(app.individuals)),
	}
	if app.Reference != nil {
		short.Reference = *app.Reference
	}
	for _, person := range app.individuals {
		one := control.Individual{
			ID: person.ID, Name: person.fullName(), Email: person.Email, Reference: person.Reference,
			State: person.status().Name, TermsAccepted: person.TermsAccepted, ActionsCompleted: len(person.actions) > 0,
		}
		for _, c := range person.checks {
			one.Checks = append(one.Checks, control.Check{ID: c.ID, Name: c.Name, Title: c.Title, State: c.Status.Name})
		}
		short.Individuals = append(short.Individuals, one)
	}
	return short
}

func (p Person) fullName() string {
	return strings.Join(strings.Fields(strings.Join([]string{p.Title, p.FirstName, p.MiddleName, p.LastName}, " ")), " ")
}
