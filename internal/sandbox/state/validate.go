package state

import (
	"net/mail"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// maxLength is the length of a name and of a reference in code points (interface: Limits).
const maxLength = 150

func (a *Account) validate(input NewApplication, d dialect.Dialect) *InvalidError {
	invalid := &InvalidError{Fields: FieldErrors{}}
	if length := utf8.RuneCountInString(input.Name); length < 1 || length > maxLength {
		invalid.Fields.Add("name", "must have 1 to 150 characters")
	}
	if utf8.RuneCountInString(input.Reference) > maxLength {
		invalid.Fields.Add("reference", "must have at most 150 characters")
	}
	if input.Reference == "" && d.RequiredFields == dialect.RequiredFieldsAll {
		invalid.Fields.Add("reference", "is required")
	}
	if a.references.contains(input.Reference, d) {
		invalid.Duplicate = true
		invalid.Fields.Add("reference", duplicateText(d, "a mandate"))
	}
	if _, ok := mandateType(input.MandateType); !ok {
		invalid.Fields.Add("mandate_type", "must be the id of a mandate type from the reference data")
	}
	if len(input.Individuals) == 0 {
		invalid.Individuals = []FieldErrors{}
	}
	var seen []string
	for i, person := range input.Individuals {
		add := func(field, message string) { invalid.AddIndividual(i, len(input.Individuals), field, message) }
		person.validate(d, add)
		if person.Reference == "" {
			continue
		}
		again := slices.ContainsFunc(seen, func(name string) bool { return sameName(name, person.Reference, d) })
		perAccount := d.IndividualReferences != dialect.IndividualReferencesApplication
		if again || perAccount && a.individualReferences.contains(person.Reference, d) {
			invalid.Duplicate = true
			add("reference", duplicateText(d, "an individual"))
		}
		seen = append(seen, person.Reference)
	}
	return invalid
}

func (p Person) validate(d dialect.Dialect, add func(field, message string)) {
	if p.Email != "" && !isAddress(p.Email) {
		add("email", "must be an e-mail address")
	}
	if _, err := time.Parse(time.DateOnly, p.DateOfBirth); p.DateOfBirth != "" && err != nil {
		add("date_of_birth", "must be a date written YYYY-MM-DD")
	}
	if d.RequiredFields != dialect.RequiredFieldsAll {
		return
	}
	for field, value := range map[string]string{
		"email": p.Email, "title": p.Title, "first_name": p.FirstName, "last_name": p.LastName,
		"date_of_birth": p.DateOfBirth, "gender": p.Gender, "reference": p.Reference,
	} {
		if value == "" {
			add(field, "is required")
		}
	}
}

func isAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text
}

func duplicateText(d dialect.Dialect, what string) string {
	switch d.DuplicateAnswer {
	case dialect.DuplicateUnique:
		return "must be unique"
	case dialect.DuplicateTranslated:
		return "Diese Referenz ist bereits vergeben"
	default:
		return what + " with this reference already exists"
	}
}
