package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var shownCases = cases{
	"individualIDs=per_application": wantIndividualIDs(false),
	"individualIDs=per_person":      wantIndividualIDs(true),

	"individualOrder=as_sent":      wantOrder("mia", "jane", "zoe"),
	"individualOrder=newest_first": wantOrder("zoe", "jane", "mia"),
	"individualOrder=by_name":      wantOrder("jane", "mia", "zoe"),

	"individualReference=shown":  wantPerson("acme.jane", "jane@example.com"),
	"individualReference=hidden": wantPerson(nil, "jane@example.com"),
	"individualEmail=shown":      wantPerson("acme.jane", "jane@example.com"),
	"individualEmail=masked":     wantPerson("acme.jane", "j***@example.com"),
	"individualEmail=hidden":     wantPerson("acme.jane", nil),

	"individualEntries=plain":   wantEntries("individuals", 0, "first_name"),
	"individualEntries=wrapped": wantEntries("individuals", 0, "individual", "first_name"),

	"checks=in_individual":   wantChecks("document", "document", 0, "name"),
	"checks=individual_only": wantChecks(nil, "document", 0, "name"),
	"checks=by_kind":         wantChecks("document", "document", "document", 0, "name"),

	"checkStateNames=usual":    wantCheckStates("pending", "in review", "passed", "failed"),
	"checkStateNames=clear":    wantCheckStates("awaiting", "needs attention", "clear", "consider"),
	"checkStateNames=approved": wantCheckStates("queued", "manual review", "approved", "rejected"),

	"checkRejection=silent": wantRejectionMail(control.Invite),
	"checkRejection=emails": wantRejectionMail(control.Invite, control.Notice),
}

func wantIndividualIDs(same bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		first := s.create(mandate("first", "jane"))
		person := s.person(first)
		second := s.create(mandate("second", "jane"))
		wantEqual(t, "the same id", same, person == s.person(second))
		s.must(http.MethodDelete, first, nil)
		wantEqual(t, "after a deletion", same, s.request("GET", person, nil).status == http.StatusOK)
	}
}

func wantOrder(names ...string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		app := s.must("GET", s.create(mandate("acme", "mia", "jane", "zoe")), nil)
		for i, name := range names {
			wantEqual(t, "first name", any(name), app.at("individuals", i, "first_name"))
		}
	}
}

func wantPerson(reference, email any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		app := s.must("GET", path, nil)
		wantEqual(t, "reference of the application", any("acme"), app.at("reference"))
		for what, person := range map[string]any{
			"in the application": app.at("individuals", 0), "alone": s.must("GET", s.person(path), nil).tree(),
		} {
			wantEqual(t, "reference "+what, reference, at(person, "reference"))
			wantEqual(t, "e-mail address "+what, email, at(person, "email"))
		}
		wantEqual(t, "address of the e-mail", "jane@example.com", s.emails()[0].Address)
	}
}

func wantEntries(path ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.must("GET", s.create(mandate("acme", "jane")), nil)
		wantEqual(t, "first name", any("jane"), got.at(path...))
	}
}

// wantChecks wants the name of a check in the application, if it is there, and in the response of retrieve individual.
func wantChecks(inApplication, alone any, path ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		created := s.create(mandate("acme", "jane"))
		app := s.must("GET", created, nil)
		inBody := append([]any{"individuals", 0, "checks"}, path...)
		if inApplication == nil {
			inBody = inBody[:3]
		}
		wantEqual(t, "in the application", inApplication, app.at(inBody...))
		person := s.must("GET", s.person(created), nil)
		wantEqual(t, "alone", alone, person.at(append([]any{"checks"}, path...)...))
	}
}

func wantCheckStates(names ...string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for i, result := range []control.Result{"", control.ResultReview, control.ResultPass, control.ResultFail} {
			reference := "mandate " + string(result)
			path := s.create(mandate(reference, "jane"))
			if result != "" {
				s.play(control.Play{Reference: reference, Result: result})
			}
			got := s.must("GET", path, nil).at("individuals", 0, "checks", 0, "status", "status")
			wantEqual(t, "state", any(names[i]), got)
			s.must(http.MethodPatch, s.check(path)+"/accept", object{})
			got = s.must("GET", path, nil).at("individuals", 0, "checks", 0, "status", "status")
			wantEqual(t, "accepted", any("manually_accepted"), got)
		}
	}
}

func wantRejectionMail(kinds ...control.EmailKind) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.must(http.MethodPatch, s.check(path)+"/accept", object{})
		s.must(http.MethodPatch, s.check(path)+"/reject", object{})
		var sent []control.EmailKind
		for _, email := range s.emails() {
			sent = append(sent, email.Kind)
		}
		wantEqual(t, "e-mails", kinds, sent)
	}
}
