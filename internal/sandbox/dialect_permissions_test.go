package sandbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

var decisions = []control.Operation{
	control.CompleteApplication, control.RejectApplication, control.AcceptCheck, control.RejectCheck,
}

var changes = append([]control.Operation{
	control.CreateApplication, control.DeleteApplication, control.ArchiveApplication, control.ResendInvites,
	control.ResetIndividual, control.SubscribeWebhook,
}, decisions...)

var permissionCases = func() cases {
	all := cases{
		"forbiddenOperation=none":      wantForbiddenOperations(),
		"forbiddenOperation=changes":   wantForbiddenOperations(changes...),
		"forbiddenOperation=decisions": wantForbiddenOperations(decisions...),

		"forbiddenObject=none":    wantForbiddenObjects(404, false),
		"forbiddenObject=unknown": wantForbiddenObjects(403, false),
		"forbiddenObject=odd":     wantForbiddenObjects(404, true),

		"forbiddenMandateType=none": wantMandateTypes(200, 200),
		"forbiddenMandateType=last": wantMandateTypes(200, 403),
		"forbiddenBody=none":        wantApostrophe(200),
		"forbiddenBody=apostrophe":  wantApostrophe(403),

		"forbiddenStatus=403":     wantForbidden(403, "application/problem+json", "{"),
		"forbiddenStatus=401":     wantForbidden(401, "application/problem+json", "{"),
		"forbiddenAnswer=problem": wantForbidden(403, "application/problem+json", "{"),
		"forbiddenAnswer=html":    wantForbidden(403, "text/html; charset=utf-8", "<!doctype html>"),
		"forbiddenAnswer=empty":   wantForbidden(403, "", ""),
		"forbiddenAnswer=message": wantForbidden(403, "application/json", `{"message":"Forbidden"}`),
	}
	for _, op := range control.Operations()[1:] {
		all["forbiddenOperation="+string(op)] = wantForbiddenOperations(op)
	}
	return all
}()

// A preparedCall is a request of one operation, which the service carries out in its documented dialect.
type preparedCall struct {
	op           control.Operation
	method, path string
	body         any
}

// calls prepares one call of each operation but the token's, in the documented dialect.
func (s *testService) calls() []preparedCall {
	s.t.Helper()
	path := map[string]string{}
	for _, name := range []string{"read", "deleted", "archived", "completed", "rejected"} {
		path[name] = s.create(mandate(name, "jane"))
		s.play(control.Play{Reference: name})
	}
	id := number(strings.TrimPrefix(path["read"], "/ext/applications/"))
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": hook, "application_id": id})
	person, check := s.person(path["read"]), s.check(path["read"])
	empty := object{}
	return []preparedCall{
		{control.CreateApplication, "POST", "/ext/applications", mandate("created", "jane")},
		{control.RetrieveApplication, "GET", path["read"], nil},
		{control.DeleteApplication, "DELETE", path["deleted"], nil},
		{control.ArchiveApplication, "PATCH", path["archived"] + "/archive", empty},
		{control.CompleteApplication, "PATCH", path["completed"] + "/complete", empty},
		{control.RejectApplication, "PATCH", path["rejected"] + "/reject", empty},
		{control.AcceptCheck, "PATCH", check + "/accept", empty},
		{control.RejectCheck, "PATCH", check + "/reject", empty},
		{control.RetrieveIndividual, "GET", person, nil},
		{control.IndividualReport, "GET", person + "/report", nil},
		{control.ResendInvites, "POST", person + "/invites/resend", empty},
		{control.ResetIndividual, "POST", person + "/reset", empty},
		{control.References, "GET", "/ext/references", nil},
		{control.SubscribeWebhook, "POST", "/ext/webhooks/subscribe", object{"url": hook, "application_id": id}},
		{control.RetrieveWebhook, "GET", fmt.Sprint("/ext/webhooks/retrieve/", id), nil},
	}
}

// preparedCalls prepares the calls in the documented dialect, and returns to that of the test.
func (s *testService) preparedCalls() []preparedCall {
	s.t.Helper()
	chosen := s.dialect()
	noError(s.t, s.ResetDialects(s.t.Context()))
	if s.token == "" {
		s.token = s.login()
	}
	prepared := s.calls()
	noError(s.t, s.SetDialects(s.t.Context(), chosen))
	return prepared
}

func (s *testService) dialect() map[string]string {
	s.t.Helper()
	switches, err := s.Dialects(s.t.Context())
	noError(s.t, err)
	chosen := map[string]string{}
	for _, one := range switches {
		chosen[one.Name] = one.Value
	}
	return chosen
}

// known is what the sandbox knows of its applications, and how many e-mails it sent.
func (s *testService) known() string {
	s.t.Helper()
	applications, err := s.Applications(s.t.Context())
	noError(s.t, err)
	return fmt.Sprintf("%+v, %d e-mails", applications, len(s.emails()))
}

func wantForbiddenOperations(forbidden ...control.Operation) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for _, one := range s.preparedCalls() {
			before := s.known()
			got := s.request(one.method, one.path, one.body)
			if !slices.Contains(forbidden, one.op) {
				wantEqual(t, string(one.op)+" succeeds", 2, got.status/100)
				continue
			}
			wantProblem(t, got, http.StatusForbidden)
			wantEqual(t, string(one.op)+" changes nothing", before, s.known())
		}
	}
}

func wantForbiddenObjects(unknown int, odd bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for _, path := range []string{
			"/ext/applications/1", "/ext/individuals/1", "/ext/individuals/1/report", "/ext/webhooks/retrieve/1",
		} {
			wantProblem(t, s.request("GET", path, nil), unknown)
		}
		deleted := s.create(mandate("deleted", "jane"))
		noError(t, s.ResetDialects(t.Context()))
		s.must(http.MethodDelete, deleted, nil)
		var paths []string
		for i := range 12 {
			path := s.create(mandate(fmt.Sprint(i), "jane"))
			paths = append(paths, path, s.person(path), s.check(path)+"/accept")
		}
		setForbidden := map[int]string{404: "none", 403: "unknown"}[unknown]
		if odd {
			setForbidden = "odd"
		}
		noError(t, s.SetDialect(t.Context(), "forbiddenObject", setForbidden))
		wantProblem(t, s.request("GET", deleted, nil), unknown)
		wantProblem(t, s.request("GET", "/ext/nothing", nil), http.StatusNotFound)
		for i := 0; i < len(paths); i += 3 {
			want := http.StatusOK
			if id := paths[i]; odd && strings.ContainsAny(id[len(id)-1:], "13579") {
				want = http.StatusForbidden
			}
			wantEqual(t, "an application", want, s.request("GET", paths[i], nil).status)
			wantEqual(t, "its individual", want, s.request("GET", paths[i+1], nil).status)
			wantEqual(t, "its check", want, s.request("PATCH", paths[i+2], object{}).status)
		}
	}
}

func wantMandateTypes(other, last int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for id, status := range map[int]int{kyc: other, 23: other, 42: last} {
			body := changed(object{"mandate_type": id, "reference": fmt.Sprint(id), "individuals": []object{{}}})
			wantEqual(t, fmt.Sprint("mandate type ", id), status, s.request(http.MethodPost, "/ext/applications", body).status)
		}
	}
}

func wantApostrophe(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		created(s)
		body := changed(object{"individuals": []object{{"last_name": "O'Brien"}}})
		wantEqual(t, "a name with an apostrophe", status, s.request(http.MethodPost, "/ext/applications", body).status)
		applications, err := s.Applications(t.Context())
		noError(t, err)
		wantEqual(t, "it exists", status == http.StatusOK, len(applications) == 2)
	}
}

func wantForbidden(status int, contentType, start string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "forbiddenOperation", "references"))
		got := s.request("GET", "/ext/references", nil)
		wantEqual(t, "status code", status, got.status)
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		wantEqual(t, "a challenge", status == 401, got.header.Get("WWW-Authenticate") != "")
		if !strings.HasPrefix(string(got.body), start) || (start == "") != (len(got.body) == 0) {
			t.Errorf("the body is %q", got.body)
		}
		wantProblem(t, s.request("GET", "/ext/applications/1", nil), http.StatusNotFound)
	}
}

// A 401 of a filter in front of the service has no challenge.
func TestForbiddenByOthers(t *testing.T) {
	s := withDialect(t, "forbiddenStatus", dialect.ForbiddenStatus401)
	noError(t, s.SetDialects(t.Context(), map[string]string{"forbiddenBody": "apostrophe", "forbiddenAnswer": "html"}))
	got := s.request(http.MethodPost, "/ext/applications", changed(object{"name": "O'Brien"}))
	wantEqual(t, "response", "401 ", fmt.Sprint(got.status, " ", got.header.Get("WWW-Authenticate")))
}
