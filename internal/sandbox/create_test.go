package sandbox_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// changed is a valid create with some members changed; a nil value removes one.
func changed(changes object) object {
	body := mandate("new", "jane")
	for name, value := range changes {
		if value == nil {
			delete(body, name)
			continue
		}
		body[name] = value
	}
	return body
}

func TestCreateAnswersWithoutIndividuals(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	got := s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	tree, _ := got.tree().(object)
	id := tree["id"]
	delete(tree, "id")
	wantEqual(t, "status code", http.StatusOK, got.status)
	wantEqual(t, "answer", object{
		"name": "Acme", "reference": "acme", "archived": false,
		"status": object{"id": number("12"), "status": "created"},
		"mandate_type": object{
			"id": number("17"), "name": "Know your customer", "code": "kyc",
			"description": "Document, liveness and proof of address",
		},
		"available_actions": []any{
			object{"id": number("87"), "name": "archive", "title": "Archive the application"},
		},
	}, tree)
	if id == number("1") || id == nil {
		t.Errorf("the first id is %v", id)
	}
}

func TestCreateLimits(t *testing.T) {
	cases := map[string]struct {
		changes object
		status  int
	}{
		"a name of 1 character":                            {object{"name": "A"}, 200},
		"a name of 150 characters":                         {object{"name": strings.Repeat("n", 150)}, 200},
		"a name of 150 characters that are 600 bytes":      {object{"name": strings.Repeat("😀", 150)}, 200},
		"a name of 151 characters":                         {object{"name": strings.Repeat("n", 151)}, 400},
		"a reference of 150 characters that are 600 bytes": {object{"reference": strings.Repeat("😀", 150)}, 200},
		"a reference of 151 characters":                    {object{"reference": strings.Repeat("r", 151)}, 400},
		"no reference":                                     {object{"reference": nil}, 200},
		"a reference that is empty":                        {object{"reference": ""}, 200},
		"e-mails suppressed":                               {object{"suppress_email_notification": true}, 200},
		"an individual without anything":                   {object{"individuals": []object{{}}}, 200},
		"a middle name that is empty":                      {object{"individuals": []object{{"middle_name": ""}}}, 200},
		"a date of birth on a leap day": {
			object{"individuals": []object{{"date_of_birth": "2000-02-29"}}}, 200,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			got := s.request(http.MethodPost, "/ext/applications", changed(c.changes))
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	jane := func(changes object) []object {
		person := object{"email": "jane@example.com"}
		maps.Copy(person, changes)
		return []object{{"email": "first@example.com"}, person}
	}
	// secondIndividual is the exception for a field of the second individual.
	secondIndividual := func(field, message string) object {
		return object{"individuals": []any{object{}, object{field: []any{message}}}}
	}
	unknownType := object{"mandate_type": []any{"must be the id of a mandate type from the reference data"}}
	cases := map[string]struct {
		changes object
		want    object // the exception
	}{
		"no name":                    {object{"name": nil}, object{"name": []any{"must have 1 to 150 characters"}}},
		"an empty name":              {object{"name": ""}, object{"name": []any{"must have 1 to 150 characters"}}},
		"a name that is a number":    {object{"name": 7}, object{"name": []any{"must be a string"}}},
		"no mandate type":            {object{"mandate_type": nil}, unknownType},
		"an unknown mandate type":    {object{"mandate_type": 1}, unknownType},
		"a mandate type as a string": {object{"mandate_type": "17"}, object{"mandate_type": []any{"must be an integer"}}},
		"a flag that is a string": {
			object{"suppress_email_notification": "true"},
			object{"suppress_email_notification": []any{"must be true or false"}},
		},
		"an unknown field":               {object{"references": "x"}, object{"references": []any{"is not a known field"}}},
		"a field in another letter case": {object{"Name": "x"}, object{"Name": []any{"is not a known field"}}},
		"no individuals":                 {object{"individuals": nil}, object{"individuals": []any{}}},
		"an empty list of individuals":   {object{"individuals": []object{}}, object{"individuals": []any{}}},
		"individuals that are no list":   {object{"individuals": "jane"}, object{"individuals": []any{}}},
		"an individual that is no object": {
			object{"individuals": []any{"jane"}},
			object{"individuals": []any{object{"non_field_errors": []any{"must be an object"}}}},
		},
		"an e-mail without a host": {
			object{"individuals": jane(object{"email": "jane"})}, secondIndividual("email", "must be an e-mail address"),
		},
		"an e-mail with a display name": {
			object{"individuals": jane(object{"email": "J <jane@example.com>"})},
			secondIndividual("email", "must be an e-mail address"),
		},
		"a date that does not exist": {
			object{"individuals": jane(object{"date_of_birth": "1990-02-30"})},
			secondIndividual("date_of_birth", "must be a date written YYYY-MM-DD"),
		},
		"an unknown field of a person": {
			object{"individuals": jane(object{"firstName": "Jane"})}, secondIndividual("firstName", "is not a known field"),
		},
		"a reference twice in one request": {
			object{"individuals": []object{{"reference": "a"}, {"reference": "a"}}},
			secondIndividual("reference", "an individual with this reference already exists"),
		},
		"two things at once": {
			object{"name": "", "mandate_type": 1},
			object{
				"name":         []any{"must have 1 to 150 characters"},
				"mandate_type": []any{"must be the id of a mandate type from the reference data"},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			got := s.request(http.MethodPost, "/ext/applications", changed(c.changes))
			wantProblem(t, got, http.StatusBadRequest)
			wantEqual(t, "exception", any(c.want), got.at("exception"))
			if list, isList := c.want["individuals"].([]any); isList && len(list) == 0 {
				// The documented shape cannot have this message.
				wantEqual(t, "detail", any("individuals must be a list of at least one object"), got.at("detail"))
			}
			if emails := s.emails(); len(emails) > 0 {
				t.Errorf("%d e-mails were sent", len(emails))
			}
		})
	}
}

func TestReferencesAreUnique(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.create(mandate("acme", "jane"))

	got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "joe"))
	wantProblem(t, got, http.StatusBadRequest)
	duplicate := object{"reference": []any{"a mandate with this reference already exists"}}
	wantEqual(t, "a mandate's reference", any(duplicate), got.at("exception"))

	other := changed(object{"individuals": []object{{"reference": "joe"}, {"reference": "acme.jane"}}})
	got = s.request(http.MethodPost, "/ext/applications", other)
	wantProblem(t, got, http.StatusBadRequest)
	wantEqual(t, "an individual's reference", any(object{
		"individuals": []any{object{}, object{"reference": []any{"an individual with this reference already exists"}}},
	}), got.at("exception"))

	// Case and spaces make another reference: it is compared as it is.
	s.create(mandate("ACME", "jane"))
	if emails := s.emails(); len(emails) != 2 {
		t.Errorf("%d e-mails for two applications of one person each", len(emails))
	}
}

func TestDeletionFreesReferences(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	got := s.must(http.MethodDelete, path, nil)
	wantEqual(t, "status code", http.StatusNoContent, got.status)
	wantEqual(t, "body", "", string(got.body))
	s.create(mandate("acme", "jane"))
	wantEqual(t, "e-mails", 2, len(s.emails()))
}

func TestInvites(t *testing.T) {
	cases := map[string]struct {
		changes object
		want    []string
	}{
		"one per individual":    {mandate("new", "jane", "joe"), []string{"jane@example.com", "joe@example.com"}},
		"suppressed":            {object{"suppress_email_notification": true}, nil},
		"a person without mail": {object{"individuals": []object{{"first_name": "Ann"}}}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			s.create(changed(c.changes))
			var got []string
			for _, email := range s.emails() {
				got = append(got, email.Address)
				wantEqual(t, "kind", control.Invite, email.Kind)
				wantEqual(t, "reference", "new", email.Reference)
				if email.InviteCode == "" || email.IndividualID == 0 || email.ApplicationID == 0 || email.Time.IsZero() {
					t.Errorf("an e-mail is not whole: %+v", email)
				}
			}
			wantEqual(t, "addresses", c.want, got)
		})
	}
}
