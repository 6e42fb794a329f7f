package state

import (
	"net/mail"
	"regexp"
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
	if input.Reference == "" && d.RequiredFields != "" {
		invalid.Fields.Add("reference", "is required")
	}
	if !inFormat(input.Reference, d) {
		invalid.Fields.Add("reference", formatText)
	}
	if a.references.contains(input.Reference, d) {
		invalid.Duplicate = true
		invalid.Fields.Add("reference", duplicateText(d, "a mandate"))
	}
	isWanted := func(t MandateType) bool { return t.ID == input.MandateType }
	if _, ok := a.References.mandateType(isWanted); !ok {
		invalid.UnknownType = len(invalid.Fields) == 0
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
	if !inFormat(p.Reference, d) {
		add("reference", formatText)
	}
	if d.RequiredFields == "" {
		return
	}
	if d.RequiredFields == dialect.RequiredFieldsMiddleName && !p.MiddleNameSent {
		add("middle_name", "is required, and may be empty")
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

const formatText = "may have at most 50 letters, digits, hyphens and underscores"

var strictFormat = regexp.MustCompile(`^[A-Za-z0-9_-]{0,50}$`)

func inFormat(reference string, d dialect.Dialect) bool {
	return d.ReferenceFormat != dialect.ReferenceFormatStrict || strictFormat.MatchString(reference)
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
