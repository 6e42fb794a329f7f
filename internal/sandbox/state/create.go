package state

import (
	"net/mail"
	"time"
	"unicode/utf8"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// maxLength is the length of a name and of a reference in code points (interface: Limits).
const maxLength = 150

// NewApplication is the input of a create. Absent strings are empty.
type NewApplication struct {
	Name        string
	Reference   string
	MandateType int64
	Suppress    bool
	Individuals []Person
}

// Person is what a client says of an individual.
type Person struct {
	Email       string `json:"email"`
	Title       string `json:"title"`
	FirstName   string `json:"first_name"`
	MiddleName  string `json:"middle_name"`
	LastName    string `json:"last_name"`
	DateOfBirth string `json:"date_of_birth"`
	Gender      string `json:"gender"`
	Reference   string `json:"reference"`
}

// Create makes an application and sends the invites, or returns an
// *InvalidError and does neither.
func (a *Account) Create(input NewApplication) (Application, error) {
	defer a.begin()()
	spoken := a.dialect.Get()
	if invalid := a.validate(input, spoken); !invalid.Empty() {
		return Application{}, invalid
	}
	kind, _ := mandateType(input.MandateType)
	first := firstStatus(spoken)
	app := &application{
		Overview: Overview{
			ID: a.ids.application.next(), Name: input.Name, Status: first, MandateType: kind,
		},
		first: first, suppressed: input.Suppress, created: a.clock.Now(), unread: spoken.ReadLag,
	}
	if input.Reference != "" {
		app.Reference = &input.Reference
		a.references[input.Reference] = true
	}
	a.applications[app.ID] = app
	a.expireBy(app.created.Add(Retention))
	for _, person := range input.Individuals {
		a.addIndividual(app, person)
	}
	a.publish(app, "application.created", 0)
	for _, person := range app.people {
		a.send(control.Invite, person)
	}
	return a.view(app), nil
}

func (a *Account) validate(input NewApplication, spoken dialect.Dialect) *InvalidError {
	invalid := &InvalidError{Fields: FieldErrors{}}
	if length := utf8.RuneCountInString(input.Name); length < 1 || length > maxLength {
		invalid.Fields.Add("name", "must have 1 to 150 characters")
	}
	if utf8.RuneCountInString(input.Reference) > maxLength {
		invalid.Fields.Add("reference", "must have at most 150 characters")
	}
	if a.references[input.Reference] {
		invalid.Duplicate = true
		invalid.Fields.Add("reference", duplicateText(spoken, "a mandate"))
	}
	if _, ok := mandateType(input.MandateType); !ok {
		invalid.Fields.Add("mandate_type", "must be the id of a mandate type from the reference data")
	}
	a.validateIndividuals(input.Individuals, spoken, invalid)
	return invalid
}

func (a *Account) validateIndividuals(people []Person, spoken dialect.Dialect, invalid *InvalidError) {
	if len(people) == 0 {
		invalid.Individuals = []FieldErrors{}
	}
	perAccount := spoken.IndividualReferences != dialect.IndividualReferencesApplication
	seen := map[string]bool{}
	for i, person := range people {
		if person.Email != "" && !isAddress(person.Email) {
			invalid.AddIndividual(i, len(people), "email", "must be an e-mail address")
		}
		if _, err := time.Parse(time.DateOnly, person.DateOfBirth); person.DateOfBirth != "" && err != nil {
			invalid.AddIndividual(i, len(people), "date_of_birth", "must be a date written YYYY-MM-DD")
		}
		if person.Reference == "" {
			continue
		}
		if seen[person.Reference] || perAccount && a.individualReferences[person.Reference] {
			invalid.Duplicate = true
			invalid.AddIndividual(i, len(people), "reference", duplicateText(spoken, "an individual"))
		}
		seen[person.Reference] = true
	}
}

func isAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text
}

func duplicateText(spoken dialect.Dialect, what string) string {
	switch spoken.DuplicateAnswer {
	case dialect.DuplicateUnique:
		return "must be unique"
	case dialect.DuplicateTranslated:
		return "Diese Referenz ist bereits vergeben"
	default:
		return what + " with this reference already exists"
	}
}

func firstStatus(spoken dialect.Dialect) Status {
	switch spoken.FirstState {
	case dialect.FirstStatePending:
		return statusPending
	case dialect.FirstStateDraft:
		return statusDraft
	case dialect.FirstStateInReview:
		return statusInReview
	default:
		return statusCreated
	}
}
