package state

import (
	"strings"
	"unicode"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// NewApplication is the input of a create. Absent strings are empty.
type NewApplication struct {
	Name        string
	Reference   string
	MandateType int64
	Suppress    bool
	Individuals []Person
}

// Person has the personal details that a client sends of an individual.
type Person struct {
	config.Individual
	// MiddleNameSent is true if the request has a middle name, even an empty one.
	MiddleNameSent bool `json:"-"`
}

// Create makes an application and sends the invites, or returns an
// *InvalidError and does neither. If pause is not nil, Create calls it without the
// lock, between the check for duplicates and the insert; its error aborts the create.
func (a *Account) Create(input NewApplication, pause func() error) (Application, error) {
	if pause != nil {
		if err := a.check(input); err != nil {
			return Application{}, err
		}
		if err := pause(); err != nil {
			return Application{}, err
		}
	}
	defer a.lock()()
	d := a.dialect.Get()
	valid := pause != nil
	var app *application
	err := a.carryOut(control.CreateApplication, func() (func(), error) {
		if invalid := a.validate(input, d); !valid && !invalid.Empty() {
			return nil, invalid
		}
		valid = false // by the time that a delayed create is done
		if app == nil {
			app = a.newApplication(input, d)
		}
		return func() { a.insert(app) }, nil
	})
	if err != nil {
		return Application{}, err
	}
	return a.view(app), nil
}

func (a *Account) check(input NewApplication) error {
	defer a.lock()()
	if invalid := a.validate(input, a.dialect.Get()); !invalid.Empty() {
		return invalid
	}
	return nil
}

func (a *Account) newApplication(input NewApplication, d dialect.Dialect) *application {
	kind, _ := a.References.mandateType(func(t MandateType) bool { return t.ID == input.MandateType })
	first := firstStatus(d)
	app := &application{
		Overview: Overview{
			ID: a.nextID(&a.ids.application), Name: input.Name, Status: first, MandateType: kind,
		},
		initialStatus: first, suppressed: input.Suppress, readLag: d.ReadLag,
	}
	if input.Reference != "" {
		app.Reference = &input.Reference
	}
	for _, person := range input.Individuals {
		person.Title = normalizeCase(person.Title, d)
		person.Gender = normalizeCase(person.Gender, d)
		app.individuals = append(app.individuals, a.newIndividual(app, person, d))
	}
	return app
}

func (a *Account) insert(app *application) {
	a.creates++
	app.sequence, app.created = a.creates, a.clock.Now()
	app.changed = app.created
	a.applications.add(app.ID, app)
	if app.Reference != nil {
		a.references.add(*app.Reference, app)
	}
	a.scheduleExpiry(a.rule.expiry(app))
	for _, person := range app.individuals {
		a.individuals.add(person.ID, person)
		a.individualReferences.add(person.Reference, app)
		if _, known := a.people[fold(person.Email)]; !known && person.Email != "" {
			a.people[fold(person.Email)] = person.ID
		}
		for _, c := range person.checks {
			a.checks.add(c.ID, c)
		}
	}
	a.publish(app, "application.created", 0)
	for _, person := range app.individuals {
		a.send(control.Invite, person)
	}
}

// normalizeCase applies the letter case that the dialect has for titles and genders.
func normalizeCase(value string, d dialect.Dialect) string {
	switch d.TitleGenderCase {
	case dialect.TitleGenderLower:
		return strings.ToLower(value)
	case dialect.TitleGenderUpper:
		return strings.ToUpper(value)
	case dialect.TitleGenderTitle:
		runes := []rune(strings.ToLower(value))
		for i := range min(1, len(runes)) {
			runes[i] = unicode.ToUpper(runes[i])
		}
		return string(runes)
	default:
		return value
	}
}

func firstStatus(d dialect.Dialect) Status {
	switch d.FirstState {
	case dialect.FirstStatePending:
		return statusPending
	case dialect.FirstStateDraft:
		return statusDraft
	case dialect.FirstStateAwaiting:
		return statusAwaiting
	case dialect.FirstStateInReview:
		return statusInReview
	default:
		return statusCreated
	}
}
