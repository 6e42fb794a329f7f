package sandbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// open starts a sandbox from a configuration file.
func open(t *testing.T, file string) *testService {
	t.Helper()
	parsed, err := config.Parse([]byte(file))
	noError(t, err)
	service, err := sandbox.Open(parsed, sandbox.Process{})
	noError(t, err)
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	return &testService{Client: control.New(server.URL), t: t, url: server.URL}
}

// as is the user of another account of the same sandbox.
func (s *testService) as(account string) *testService {
	s.t.Helper()
	form := url.Values{"grant_type": {"password"}, "username": {account}, "password": {account}}
	token, _ := s.postForm(form, http.Header{}).at("access_token").(string)
	return &testService{Client: s.Account(account), t: s.t, url: s.url, token: token}
}

const twoAccounts = `
accounts:
- {name: a, username: a, password: a}
- name: b
  username: b
  password: b
  start_time: 2031-05-01T12:00:00Z
  dialect: {createStatus: 201, tokenRefusal: 403}
  mandate_types: [{id: 5, code: acme, name: Acme, checks: [pep_screening]}]
`

func TestAccountsShareNothing(t *testing.T) {
	s := open(t, twoAccounts)
	a, b := s.as("a"), s.as("b")
	inA := a.create(mandate("acme", "jane"))
	other := mandate("acme", "jane")
	other["mandate_type"] = 5
	got := b.must(http.MethodPost, "/ext/applications", other) // the references are those of a
	wantEqual(t, "status code in the dialect of b", http.StatusCreated, got.status)
	inB := fmt.Sprint("/ext/applications/", got.at("id"))

	person, check := a.person(inA), a.check(inA)
	for _, request := range []struct{ method, path string }{
		{"GET", inA}, {"DELETE", inA}, {"PATCH", inA + "/archive"}, {"PATCH", inA + "/complete"}, {"GET", person},
		{"POST", person + "/reset"}, {"POST", person + "/invites/resend"}, {"GET", person + "/report"},
		{"PATCH", check + "/accept"}, {"PATCH", check + "/reject"},
	} {
		wantProblem(t, b.request(request.method, request.path, object{}), http.StatusNotFound)
	}
	wantEqual(t, "of its own", any("acme"), b.must("GET", inB, nil).at("reference"))
	wantEqual(t, "check", any("Pep screening"), b.must("GET", inB, nil).at("individuals", 0, "checks", 0, "title"))
	wantEqual(t, "e-mails of a", 1, len(a.emails()))
	wantEqual(t, "e-mails of b", 1, len(b.emails()))
	wantProblem(t, a.request(http.MethodPost, "/ext/applications", other), http.StatusBadRequest)

	stats, err := b.Stats(t.Context())
	noError(t, err)
	wantEqual(t, "creates in b", int64(1), stats.Requests(control.CreateApplication))
	creates := control.RequestQuery{Operation: control.CreateApplication}
	for user, count := range map[*testService]int{a: 2, b: 1, s: 3} {
		_, err = user.VerifyRequests(t.Context(), creates, count)
		noError(t, err)
	}
	creates.Account = "a"
	_, err = b.VerifyRequests(t.Context(), creates, 2)
	noError(t, err)
	overview, err := s.Overview(t.Context())
	noError(t, err)
	wantEqual(t, "accounts", []string{"a", "b"}, overview.Accounts)
	wantEqual(t, "the first account", "a", overview.Account)
	var refused *control.Error
	if _, err = s.Account("c").Now(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("an unknown account: %v", err)
	}
}

func TestAccountsAreControlledOneByOne(t *testing.T) {
	s := open(t, twoAccounts)
	a, b := s.as("a"), s.as("b")
	ctx := t.Context()
	noError(t, b.Fault(ctx, control.Fault{Operation: control.AnyOperation, Kind: control.Answer, Status: 503}))
	noError(t, a.SetDialect(ctx, "rateLimit", "1"))
	wantEqual(t, "a", 200, a.request("GET", "/ext/references", nil).status)
	wantEqual(t, "a, too often", 429, a.request("GET", "/ext/references", nil).status)
	wantEqual(t, "b, with its fault", 503, b.request("GET", "/ext/references", nil).status)
	wantEqual(t, "b", 200, b.request("GET", "/ext/references", nil).status)
	noError(t, a.ResetDialects(ctx))

	now, err := b.Now(ctx)
	noError(t, err)
	wantEqual(t, "the year of b", 2031, now.Year())
	_, err = b.Advance(ctx, 2*time.Hour)
	noError(t, err)
	wantEqual(t, "a's token", 200, a.request("GET", "/ext/references", nil).status)
	// The token has expired on the clock of b, and still belongs to b, whose dialect says 403.
	wantEqual(t, "b's token", 403, b.request("GET", "/ext/references", nil).status)

	a.create(mandate("acme", "jane"))
	b.Client = s.Account("b")
	noError(t, b.Reset(ctx))
	wantEqual(t, "e-mails of a", 1, len(a.emails()))
	noError(t, s.Reset(ctx))
	wantEqual(t, "e-mails of a after the reset of all", 0, len(a.emails()))
}

func TestAClientLogsInToItsAccount(t *testing.T) {
	s := open(t, "accounts: [{}, {name: c, client_id: c, client_secret: c, dialect: {createStatus: 201}}]")
	for what, form := range map[string]url.Values{
		"a form":   {"grant_type": {"password"}, "client_id": {"c"}, "client_secret": {"c"}},
		"a header": {"grant_type": {"password"}, "client_id": {"c"}, "client_secret": {"c"}},
	} {
		header := http.Header{}
		if what == "a header" {
			r := http.Request{Header: header}
			r.SetBasicAuth("c", "c")
		}
		s.token, _ = s.postForm(form, header).at("access_token").(string)
		got := s.request(http.MethodPost, "/ext/applications", mandate(what, "jane"))
		wantEqual(t, what, http.StatusCreated, got.status)
	}
	for what, form := range map[string]url.Values{
		"no password of its own": {"grant_type": {"password"}, "username": {""}, "password": {""}},
		"credentials of another": {"grant_type": {"password"}, "client_id": {"c"}, "client_secret": {"sandbox-secret"}},
	} {
		wantEqual(t, what, http.StatusUnauthorized, s.postForm(form, http.Header{}).status)
	}
}

// What exists at the start has a state, and nobody was mailed. A reset restores it.
func TestApplicationsAtTheStart(t *testing.T) {
	const person = "individuals: [{email: jane@example.com, first_name: Jane}]"
	s := open(t, `
accounts:
- dialect: {readLag: 3, asyncWork: never, stateNames: declined}
  faults: [{operation: references, kind: answer, status: 503}]
  applications:
  - {id: 11, name: A, reference: new, mandate_type: kyc, `+person+`}
  - {id: 12, name: A, reference: started, mandate_type: kyc, state: in progress, `+person+`}
  - {id: 13, name: A, reference: reviewed, mandate_type: kyc, state: in review, result: review, `+person+`}
  - {id: 14, name: A, reference: done, mandate_type: address, state: completed, archived: true, `+person+`}
  - {id: 15, name: A, reference: lost, mandate_type: kyc, state: rejected, result: fail, `+person+`}
  - {id: 16, name: A, reference: odd, mandate_type: kyc, state: withdrawn, `+person+`}
`)
	for range 2 {
		s.token = s.login()
		wantEqual(t, "the fault", 503, s.request("GET", "/ext/references", nil).status)
		for id, want := range map[int]string{
			11: "created pending false", 12: "in progress pending false", 13: "in review in review false",
			14: "completed passed true", 15: "declined failed false", 16: "withdrawn passed false",
		} {
			got := s.must("GET", fmt.Sprint("/ext/applications/", id), nil)
			check := got.at("individuals", 0, "checks", 0, "status", "status")
			wantEqual(t, fmt.Sprint(id), want, fmt.Sprint(statusName(got), " ", check, " ", got.at("archived")))
		}
		wantEqual(t, "e-mails", 0, len(s.emails()))
		noError(t, s.ResetDialects(t.Context()))
		duplicate := s.request(http.MethodPost, "/ext/applications", mandate("odd", "jane"))
		wantProblem(t, duplicate, http.StatusBadRequest)
		noError(t, s.Reset(t.Context()))
	}
}

func TestApplicationsThatMakeNoSense(t *testing.T) {
	for individuals, want := range map[string]string{
		"[]":                                 "individuals: must be a list of at least one object",
		"[{}, {email: nobody}]":              "individuals[1].email: must be an e-mail address",
		"[{date_of_birth: 31.01.1990}]":      "individuals[0].date_of_birth: must be a date written YYYY-MM-DD",
		"[{email: a@example.com}], name: ''": "name: must have",
	} {
		want = "accounts[0].applications[1]: " + want
		file := "accounts: [{applications: [{name: A, mandate_type: kyc, individuals: [{}]}, {mandate_type: kyc, " +
			"individuals: " + individuals + "}]}]"
		if !strings.Contains(individuals, "name") {
			file = strings.ReplaceAll(file, "{mandate_type: kyc, individuals: [", "{name: B, mandate_type: kyc, individuals: [")
		}
		parsed, err := config.Parse([]byte(file))
		noError(t, err)
		if _, err := sandbox.Open(parsed, sandbox.Process{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", individuals, err, want)
		}
	}
}
