package sandbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestJournal(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	noError(t, s.ClearJournal(t.Context()))
	s.token = s.login()
	const body = `{"name": "Canary", "reference": "acme", "mandate_type": 17,
		"individuals": [{"email": "canary@example.com"}]}`
	path := s.create(mandate("other", "jane"))
	s.must(http.MethodPost, "/ext/applications", body)
	s.request(http.MethodPost, "/ext/applications", body)
	s.must(http.MethodPatch, s.check(path)+"/accept", object{"reference": 4711})
	s.request("GET", "/ext/nothing", nil)

	journal, err := s.Journal(t.Context())
	noError(t, err)
	var got []string
	for _, one := range journal {
		got = append(got, fmt.Sprint(one.Operation, " ", one.Method, " ", one.Path, " ", one.Status, " ", one.Reference))
	}
	check := strings.TrimPrefix(s.check(path), "/check/")
	wantEqual(t, "journal", []string{
		"token POST /api/v1/ext/authentications/token 200 ",
		"create_application POST /api/v1/ext/applications 200 other",
		"create_application POST /api/v1/ext/applications 200 acme",
		"create_application POST /api/v1/ext/applications 400 acme",
		"retrieve_application GET /api/v1" + path + " 200 ",
		"accept_check PATCH /api/v1/check/" + check + "/accept 200 ",
		"unknown GET /api/v1/ext/nothing 404 ",
	}, got)
	sum := sha256.Sum256([]byte(body))
	wantEqual(t, "digest", hex.EncodeToString(sum[:]), journal[2].BodyDigest)
	wantEqual(t, "digest of credentials", "", journal[0].BodyDigest)
	text := fmt.Sprintf("%+v", journal)
	for _, secret := range []string{"anary", "jane", s.token, sandbox.DefaultPassword} {
		if strings.Contains(text, secret) {
			t.Errorf("the journal holds %q", secret)
		}
	}
	newer := s.control("GET", "/journal?after="+fmt.Sprint(journal[5].Sequence), "")
	wantEqual(t, "after the sixth", any("unknown"), newer.at(0, "operation"))
}

func TestVerify(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	ctx := t.Context()
	noError(t, s.Fault(ctx, control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true}))
	if _, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane", "joe")); err == nil {
		t.Fatal("the response was not lost")
	}
	s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane", "joe"))
	for query, count := range map[control.RequestQuery]int{
		{Operation: control.CreateApplication, Reference: "acme"}: 2,
		{Reference: "acme", Status: 400}:                          1,
		{Reference: "other"}:                                      0,
		{Method: "POST", Path: "/api/v1/ext/applications"}:        2,
		{Method: "POST", Account: "default"}:                      3,
	} {
		got, err := s.VerifyRequests(ctx, query, count)
		if err != nil || len(got) != count {
			t.Errorf("%+v: %d, %v", query, len(got), err)
		}
		_, err = s.VerifyRequests(ctx, query, count+1)
		want := fmt.Sprintf("%d requests match, want %d", count, count+1)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "409") {
			t.Errorf("%+v: %v, want %q", query, err, want)
		}
	}
	for query, count := range map[control.EmailQuery]int{
		{Reference: "acme"}: 2, {Address: "jane@example.com"}: 1, {Kind: control.Resend}: 0,
		{Kind: control.Invite, IndividualReference: "acme.joe"}: 1,
	} {
		if _, err := s.VerifyEmails(ctx, query, count); err != nil {
			t.Error(err)
		}
		if _, err := s.VerifyEmails(ctx, query, count+1); err == nil {
			t.Errorf("%+v: as many as wanted", query)
		}
	}
	refused := s.control("POST", "/verify/requests", `{"mandate": "acme", "count": 1}`)
	wantEqual(t, "a misspelled field", http.StatusBadRequest, refused.status)
}

// A request that is under way is in the journal.
func TestJournalHasWhatIsUnderWay(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	noError(t, s.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 60_000,
	}))
	done := make(chan error, 1)
	go func() {
		_, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		done <- err
	}()
	eventually(t, func() string {
		got, err := s.VerifyRequests(t.Context(), control.RequestQuery{Reference: "acme"}, 1)
		if err != nil || got[0].Status != 0 {
			return fmt.Sprint(got, err)
		}
		return ""
	})
	t.Cleanup(func() { <-done })
}

func TestJournalIsBounded(t *testing.T) {
	service := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	s := control.New(server.URL)
	for range 10_005 {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/ext/references", http.NoBody)
		service.ServeHTTP(httptest.NewRecorder(), request)
	}
	journal, err := s.Journal(t.Context())
	noError(t, err)
	wantEqual(t, "requests", 10_000, len(journal))
	wantEqual(t, "the newest", int64(10_005), journal[9_999].Sequence)
	_, err = s.VerifyRequests(t.Context(), control.RequestQuery{Reference: "acme"}, 0)
	if err == nil || !strings.Contains(err.Error(), "the journal has no room for all requests") {
		t.Errorf("a count that may be wrong: %v", err)
	}
	noError(t, s.ClearJournal(t.Context()))
	if _, err = s.VerifyRequests(t.Context(), control.RequestQuery{Reference: "acme"}, 0); err != nil {
		t.Error(err)
	}
}

func TestBodiesAreRecordedOnRequest(t *testing.T) {
	s := open(t, "{record_bodies: true, accounts: [{username: a, password: canary}]}")
	a := s.as("a") // a wrong password, too
	a.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	journal, err := s.Journal(t.Context())
	noError(t, err)
	wantEqual(t, "of the token request", "", journal[0].Body)
	wantEqual(t, "of the create", true, strings.Contains(journal[1].Body, "jane@example.com"))
}

// A login is in the journal without its body, also one that is not carried out.
func TestJournalHasNoCredentials(t *testing.T) {
	s := open(t, "record_bodies: true")
	requests := []struct{ path, contentType string }{
		{"/ext/authentications/token/", "application/x-www-form-urlencoded"},
		{"/ext/authentications/token/", "application/json"},
		{"/ext/authentication/token", "application/x-www-form-urlencoded"},
		{"/ext/authentication/token", ""},
	}
	for _, one := range requests {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1"+one.path,
			strings.NewReader(credentials().Encode()))
		noError(t, err)
		request.Header.Set("Content-Type", one.contentType)
		_, err = send(request)
		noError(t, err)
	}
	journal, err := s.Journal(t.Context())
	noError(t, err)
	wantEqual(t, "requests", len(requests), len(journal))
	for i, one := range journal {
		wantEqual(t, fmt.Sprint(requests[i]), "", one.BodyDigest+one.Body)
	}
}

func TestHealth(t *testing.T) {
	s := withDialect(t, "ingress404", "all")
	got := s.get("/healthz", "")
	wantEqual(t, "response", "200 ok\n", fmt.Sprint(got.status, " ", string(got.body)))
}
