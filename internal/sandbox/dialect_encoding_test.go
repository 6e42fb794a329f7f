package sandbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var encodingCases = cases{
	"ids=number": wantIDs(isA[number]),
	"ids=string": wantIDs(isA[string]),
	"ids=float":  wantIDs(func(id any) bool { return strings.HasSuffix(fmt.Sprint(id), ".0") && isA[number](id) }),

	"statusShape=object":  wantStatus(object{"id": number("21"), "status": "in review"}, "manually_accepted"),
	"statusShape=string":  wantStatus("in review", "manually_accepted"),
	"statusShape=integer": wantStatus(number("21"), number("221")),
	"statusCase=plain":    wantStatus(object{"id": number("21"), "status": "in review"}, "manually_accepted"),
	"statusCase=snake":    wantStatus(object{"id": number("21"), "status": "in_review"}, "manually_accepted"),
	"statusCase=kebab":    wantStatus(object{"id": number("21"), "status": "in-review"}, "manually-accepted"),
	"statusCase=upper":    wantStatus(object{"id": number("21"), "status": "IN REVIEW"}, "MANUALLY_ACCEPTED"),
	"statusCase=title":    wantStatus(object{"id": number("21"), "status": "In Review"}, "Manually Accepted"),

	"wrap=none": wantWrapped(),
	"wrap=data": wantWrapped("data"),

	"absentValues=by_type": wantAbsent(nil, "", []any{}),
	"absentValues=null":    wantAbsent(nil, nil, nil),
	"absentValues=empty":   wantAbsent("", "", []any{}),
	"absentValues=missing": wantAbsent(missing, missing, missing),

	"extraMembers=none":    wantExtraMembers(false),
	"extraMembers=present": wantExtraMembers(true),

	"memberCase=snake":  wantMembers("mandate_type", "first_name", "individual_checkfield_result"),
	"memberCase=camel":  wantMembers("mandateType", "firstName", "individualCheckfieldResult"),
	"memberCase=pascal": wantMembers("MandateType", "FirstName", "IndividualCheckfieldResult"),
	"memberCase=upper":  wantMembers("MANDATE_TYPE", "FIRST_NAME", "INDIVIDUAL_CHECKFIELD_RESULT"),
}

func isA[T any](value any) bool {
	_, ok := value.(T)
	return ok
}

func wantIDs(valid func(any) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		id := created(s).at("id")
		s.play(control.Play{Reference: "acme"})
		path := "/ext/applications/" + strings.TrimSuffix(fmt.Sprint(id), ".0")
		app := s.must("GET", path, nil).tree()
		person := at(app, "individuals", 0)
		for what, found := range map[string]any{
			"created":      id,
			"retrieved":    at(app, "id"),
			"mandate type": at(app, "mandate_type", "id"),
			"status":       at(app, "status", "id"),
			"individual":   at(person, "id"),
			"address":      at(person, "address", "individual"),
			"check":        at(person, "checks", 0, "id"),
			"field":        at(person, "checks", 0, "individual_checkfield_result", 0, "check_field"),
		} {
			if !valid(found) {
				t.Errorf("%s: %#v", what, found)
			}
		}
		if _, isNumber := at(person, "checks_passed").(number); !isNumber {
			t.Error("a count is no number")
		}
	}
}

// wantStatus wants the status of an application in review, and of a check that was accepted.
func wantStatus(application, check any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		s.must(http.MethodPatch, s.check(path)+"/accept", object{})
		got := s.must("GET", path, nil)
		wantEqual(t, "status", application, got.at("status"))
		status := got.at("individuals", 0, "checks", 0, "status")
		if whole, isObject := status.(object); isObject {
			status = whole["status"]
		}
		wantEqual(t, "check", check, status)
	}
}

func wantWrapped(wrapper ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := created(s)
		wrapped := func(path ...any) []any { return append(slices.Clone(wrapper), path...) }
		wantEqual(t, "name", any("Acme"), got.at(wrapped("name")...))
		read := s.must("GET", fmt.Sprintf("/ext/applications/%v", got.at(wrapped("id")...)), nil)
		wantEqual(t, "first name", any("jane"), read.at(wrapped("individuals", 0, "first_name")...))
		wantProblem(t, s.request("GET", "/ext/applications/1", nil), http.StatusNotFound)
		wantEqual(t, "a token", true, s.login() != "")
	}
}

const missing = "not there"

// wantAbsent wants how an absent object, string and list are written.
func wantAbsent(null, text, list any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(object{"name": "Acme", "mandate_type": kyc, "individuals": []object{{"first_name": "Jane"}}})
		app := s.must("GET", path, nil)
		got := func(path ...any) any {
			last := len(path) - 1
			value, present := members(app.at(path[:last]...))[path[last].(string)]
			if !present {
				return missing
			}
			return value
		}
		wantEqual(t, "an absent reference", null, got("reference"))
		wantEqual(t, "an absent address", null, got("individuals", 0, "address"))
		wantEqual(t, "an absent name", text, got("individuals", 0, "middle_name"))
		wantEqual(t, "no actions", list, got("individuals", 0, "completed_actions"))
		wantEqual(t, "a present name", any("Jane"), got("individuals", 0, "first_name"))
		wantEqual(t, "a dictionary", any(object{}), got("individuals", 0, "checks", 0, "instance"))
	}
}

func wantExtraMembers(present bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		app := s.must("GET", path, nil)
		for what, tree := range map[string]any{
			"application": app.tree(), "individual": app.at("individuals", 0), "check": app.at("individuals", 0, "checks", 0),
			"status": app.at("status"), "error": s.request("GET", "/ext/applications/1", nil).tree(),
			"token": s.postForm(credentials(), http.Header{}).tree(), "references": s.must("GET", "/ext/references", nil).tree(),
		} {
			_, extra := members(tree)["x_extra"]
			wantEqual(t, what, present, extra)
		}
		wantEqual(t, "id", path, fmt.Sprint("/ext/applications/", app.at("id")))
		instance := members(app.at("individuals", 0, "checks", 0, "instance"))
		wantEqual(t, "a dictionary", 2, len(instance))
	}
}

func wantMembers(mandateType, firstName, results string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		names := map[string]bool{}
		collectNames(created(s).tree(), names)
		wantEqual(t, mandateType+" in a create", true, names[mandateType])
		id := s.play(control.Play{Reference: "acme"}).ID
		collectNames(s.must("GET", fmt.Sprint("/ext/applications/", id), nil).tree(), names)
		for _, name := range []string{firstName, results, "document_type"} { // the last one is data
			wantEqual(t, name, true, names[name])
		}
		wantProblem(t, s.request("GET", "/ext/applications/1", nil), http.StatusNotFound)
		wantEqual(t, "a token", true, s.login() != "")
	}
}

func collectNames(tree any, names map[string]bool) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			collectNames(child, names)
		}
	case object:
		for name, child := range node {
			names[name] = true
			collectNames(child, names)
		}
	}
}
