// Package openapitest holds the OpenAPI documents of the sandbox against what it answers. It is a Go module of its own,
// so that no other module depends on a validator.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

type object = map[string]any

// A described is a sandbox whose documents describe every exchange with it.
type described struct {
	*control.Client
	t         *testing.T
	service   http.Handler
	documents map[string]validator.Validator // by the prefix of the paths

	mu     sync.Mutex
	served map[string]bool // method and path, as the documents have them
}

func newDescribed(t *testing.T) *described {
	t.Helper()
	service := sandbox.New(sandbox.Options{})
	s := &described{t: t, service: service, documents: map[string]validator.Validator{}, served: map[string]bool{}}
	for prefix, path := range map[string]string{"/api/v1": "/openapi.json", "/sandbox/v1": "/sandbox/v1/openapi.json"} {
		document, err := libopenapi.NewDocument(s.document(path))
		if err != nil {
			t.Fatal(err)
		}
		v, errs := validator.NewValidator(document)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if valid, errs := v.ValidateDocument(); !valid {
			t.Fatalf("%s is no document of OpenAPI 3.1: %v", path, errs)
		}
		s.documents[prefix] = v
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	s.Client = control.New(server.URL)
	return s
}

func (s *described) document(path string) []byte {
	s.t.Helper()
	recorder := httptest.NewRecorder()
	s.service.ServeHTTP(recorder, httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, path, http.NoBody))
	if recorder.Code != http.StatusOK {
		s.t.Fatalf("%s: %d", path, recorder.Code)
	}
	return recorder.Body.Bytes()
}

// ServeHTTP serves a request, and validates it and its response.
func (s *described) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	recorder := httptest.NewRecorder()
	s.service.ServeHTTP(recorder, r)
	for prefix, document := range s.documents {
		_, path, described := strings.Cut(r.Pattern, prefix)
		if !described {
			continue
		}
		s.validate(document, r, body, recorder)
		s.mu.Lock()
		s.served[r.Method+" "+prefix+path] = true
		s.mu.Unlock()
	}
	maps.Copy(w.Header(), recorder.Header())
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
}

func (s *described) validate(
	document validator.Validator, r *http.Request, body []byte, got *httptest.ResponseRecorder,
) {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	if valid, errs := document.ValidateHttpRequestSync(again); !valid && got.Code/100 == 2 {
		s.t.Errorf("%s %s succeeds and is not as described: %v", r.Method, r.URL.Path, errs)
	}
	again.Body = io.NopCloser(bytes.NewReader(body))
	if valid, errs := document.ValidateHttpResponse(again, got.Result()); !valid {
		s.t.Errorf("%s %s: %d %s is not as described: %v", r.Method, r.URL.Path, got.Code, got.Body, errs)
	}
}

// operations are those of a document.
func (s *described) operations(path, prefix string) []string {
	s.t.Helper()
	var document struct{ Paths map[string]object }
	if err := json.Unmarshal(s.document(path), &document); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for path, methods := range document.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+prefix+path)
		}
	}
	return all
}

// send sends a request of the interface, and returns the body of the response.
func (s *described) send(token, method, path, contentType, body string) object {
	s.t.Helper()
	request := httptest.NewRequestWithContext(s.t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	var answer object
	_ = json.Unmarshal(recorder.Body.Bytes(), &answer) // a report is none
	return answer
}

// TestDocumentsDescribeTheAnswers makes every request of the two documents, and holds the request and the response
// against the document.
func TestDocumentsDescribeTheAnswers(t *testing.T) {
	s := newDescribed(t)
	s.interfaceStory()
	s.controlStory()
	all := append(s.operations("/openapi.json", "/api/v1"), s.operations("/sandbox/v1/openapi.json", "/sandbox/v1")...)
	if len(all) < 16+25 {
		t.Fatalf("the documents have %d operations", len(all))
	}
	for _, operation := range all {
		if !s.served[operation] {
			t.Errorf("%s was not served; served were %q", operation, slices.Sorted(maps.Keys(s.served)))
		}
	}
	for operation := range s.served {
		if !slices.Contains(all, operation) && !strings.HasSuffix(operation, " /api/v1/") {
			t.Errorf("%s was served, and is in no document", operation)
		}
	}
}

func (s *described) interfaceStory() {
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	login := s.send("", "POST", "/ext/authentications/token", form,
		"grant_type=password&username=sandbox&password=sandbox-password")
	token := fmt.Sprint(login["access_token"])
	do := func(method, path, body string) object { return s.send(token, method, path, asJSON, body) }

	do("GET", "/ext/references", "")
	do("POST", "/ext/applications", `{"name": ""}`)
	for _, reference := range []string{"one", "two", "three"} {
		do("POST", "/ext/applications", `{"name": "Acme", "mandate_type": 17, "reference": "`+reference+`",
			"individuals": [{"email": "a@example.com", "reference": "`+reference+`-a"}]}`)
	}
	applications, err := s.Applications(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	path := func(i int) string { return fmt.Sprint("/ext/applications/", applications[i].ID) }
	person := fmt.Sprint("/ext/individuals/", applications[0].Individuals[0].ID)
	do("GET", path(0), "")
	do("GET", person+"/report", "")
	for i := range applications {
		play := control.Play{ApplicationID: applications[i].ID, Result: control.ResultReview}
		if _, err := s.Play(s.t.Context(), play); err != nil {
			s.t.Fatal(err)
		}
	}
	for i, decision := range []string{"accept", "reject", "accept"} {
		check := applications[0].Individuals[0].Checks[i].ID
		do("PATCH", fmt.Sprintf("/check/%d/%s", check, decision), `{"comment": "clear", "comment_for": "IndividualCheck"}`)
	}
	do("GET", path(0), "")
	do("GET", person, "")
	do("GET", person+"/report", "")
	do("PATCH", path(0)+"/complete", "{}")
	do("PATCH", path(1)+"/reject", "{}")
	do("PATCH", path(1)+"/archive", "{}")
	person = fmt.Sprint("/ext/individuals/", applications[2].Individuals[0].ID)
	do("POST", person+"/invites/resend", "{}")
	do("POST", person+"/reset", "{}")
	do("POST", "/ext/webhooks/subscribe", fmt.Sprintf(
		`{"url": "http://127.0.0.1:1/", "events": ["application.deleted"], "application_id": %d}`, applications[2].ID))
	do("GET", fmt.Sprint("/ext/webhooks/retrieve/", applications[2].ID), "")
	do("DELETE", path(2), "")
	do("GET", path(2), "")
	s.send("", "GET", path(0), asJSON, "")
}

func (s *described) controlStory() {
	ctx := s.t.Context()
	must := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Error(err)
		}
	}
	fault := control.Fault{Operation: control.Token, Kind: control.Close}
	for _, step := range []func() error{
		func() error { return s.Fault(ctx, fault) },
		func() error { return ignore(s.Faults(ctx)) },
		func() error { return ignore(s.Overview(ctx)) },
		func() error { return s.ClearFaults(ctx) },
		func() error { return ignore(s.Outbox(ctx)) },
		func() error { return ignore(s.Journal(ctx)) },
		func() error { return ignore(s.VerifyRequests(ctx, control.RequestQuery{Reference: "one"}, 1)) },
		func() error { return ignore(s.VerifyEmails(ctx, control.EmailQuery{Kind: control.Reset}, 1)) },
		func() error { return s.ClearJournal(ctx) },
		func() error {
			return ignore(s.SetState(ctx, control.StateChange{Reference: "one", State: "in review"}))
		},
		func() error { return ignore(s.Now(ctx)) },
		func() error { return s.SetClock(ctx, time.Now()) },
		func() error { return ignore(s.Advance(ctx, time.Hour)) },
		func() error { return ignore(s.Stats(ctx)) },
		func() error { return s.ResetStats(ctx) },
		func() error { return ignore(s.RevokeTokens(ctx)) },
		func() error { return ignore(s.Deliveries(ctx)) },
		func() error { return s.SetAutoplay(ctx, control.Autoplay{Enabled: true}) },
		func() error { return ignore(s.Autoplay(ctx)) },
		func() error { return s.SetDialect(ctx, "readLag", "1") },
		func() error { return ignore(s.Dialects(ctx)) },
		func() error { return s.ResetDialects(ctx) },
		func() error { return s.Reset(ctx) },
	} {
		must(step())
	}
	if _, err := s.Play(ctx, control.Play{Reference: "nobody"}); err == nil {
		s.t.Error("nobody was played")
	}
}

func ignore[T any](_ T, err error) error { return err }
