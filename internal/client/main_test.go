package client

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const tokenPath = apiPrefix + "/ext/authentications/token"

// service stands in for the service: it gives tokens by itself and leaves the rest to a handler.
type service struct {
	*httptest.Server
	login http.HandlerFunc

	mu       sync.Mutex
	requests []request
}

// request is what arrived.
type request struct {
	method, path, body string
	header             http.Header
}

// newService starts a service over plain HTTP/1.1, or with secure over TLS, where it speaks HTTP/2.
func newService(t *testing.T, handler http.HandlerFunc, secure bool) *service {
	t.Helper()
	s := &service{login: answers(http.StatusOK, `{"access_token":"token","expires_in":3600,"token_type":"Bearer"}`)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, request{r.Method, r.URL.Path, string(body), r.Header.Clone()})
		s.mu.Unlock()
		if r.URL.Path == tokenPath {
			s.login(w, r)
			return
		}
		handler(w, r)
	}))
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// seen gives the requests so far, logins apart.
func (s *service) seen() (calls, logins []request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.path == tokenPath {
			logins = append(logins, r)
		} else {
			calls = append(calls, r)
		}
	}
	return calls, logins
}

func (s *service) expect(t *testing.T, calls, logins int) {
	t.Helper()
	gotCalls, gotLogins := s.seen()
	if len(gotCalls) != calls || len(gotLogins) != logins {
		t.Errorf("the service saw %d calls and %d logins, want %d and %d", len(gotCalls), len(gotLogins), calls, logins)
	}
}

func (s *service) config() Config {
	config := Config{BaseURL: s.URL, Credentials: Credentials{Username: "user", Password: Hide("password")}, RequestsPerSecond: -1}
	if s.TLS != nil {
		config.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	return config
}

func (s *service) client(t *testing.T, adjust ...func(*Config)) *Client {
	t.Helper()
	config := s.config()
	for _, a := range adjust {
		a(&config)
	}
	return newClient(t, config)
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// signIn gives the client a token, for servers that know no login.
func signIn(c *Client) {
	c.tokens.current = &token{value: Hide("token"), renew: time.Now().Add(time.Hour)}
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// inTurn answers one request after the other, and the last for ever.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handler := handlers[min(next, len(handlers)-1)]
		next++
		mu.Unlock()
		handler(w, r)
	}
}

// revealing compares what Sensitive values hold.
var revealing = cmp.Options{
	cmp.Transformer("Reveal", Secret.Reveal),
	cmp.Transformer("RevealJSON", func(s Sensitive[json.RawMessage]) string { return string(s.Reveal()) }),
}

// someCall is a call of every operation, with the values of someRequest.
type someCall struct {
	op           Operation
	method, path string
	body         string
	// answer is one that the operation is content with.
	answer string
	run    func(context.Context, *Client) error
}

const (
	someApplication = `{"id":4711,"name":"Acme","reference":"A-1","status":{"id":1,"status":"in review"}}`
	someIndividual  = `{"id":4711,"status":{"id":1,"status":"invited"}}`
)

func someCalls() []someCall {
	return []someCall{
		{OpToken, "POST", "/ext/authentications/token", "grant_type=password&password=password&username=user", `{"access_token":"token","token_type":"bearer"}`,
			func(ctx context.Context, c *Client) error { _, err := c.AccessToken(ctx); return err }},
		{OpCreateApplication, "POST", "/ext/applications",
			`{"name":"Acme","reference":"A-1","mandate_type":3,"suppress_email_notification":false,"individuals":[{"email":"jane@example.com","reference":"A-1.jane"}]}`, someApplication,
			func(ctx context.Context, c *Client) error {
				_, err := c.CreateApplication(ctx, someNewApplication())
				return err
			}},
		{OpRetrieveApplication, "GET", "/ext/applications/4711", "", someApplication,
			func(ctx context.Context, c *Client) error { _, err := c.RetrieveApplication(ctx, 4711); return err }},
		{OpDeleteApplication, "DELETE", "/ext/applications/4711", "", "",
			func(ctx context.Context, c *Client) error { return c.DeleteApplication(ctx, 4711) }},
		{OpArchiveApplication, "PATCH", "/ext/applications/4711/archive", "{}", someApplication,
			func(ctx context.Context, c *Client) error { _, err := c.ArchiveApplication(ctx, 4711); return err }},
		{OpCompleteApplication, "PATCH", "/ext/applications/4711/complete", "{}", "",
			func(ctx context.Context, c *Client) error { _, err := c.CompleteApplication(ctx, 4711); return err }},
		{OpRejectApplication, "PATCH", "/ext/applications/4711/reject", "{}", "",
			func(ctx context.Context, c *Client) error { _, err := c.RejectApplication(ctx, 4711); return err }},
		{OpAcceptCheck, "PATCH", "/check/4711/accept", `{"comment":"fine","comment_for":"IndividualCheck","reference":12}`, `{"message":"accepted"}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.AcceptCheck(ctx, 4711, someReview())
				return err
			}},
		{OpRejectCheck, "PATCH", "/check/4711/reject", `{"comment":"fine","comment_for":"IndividualCheck","reference":12}`, `{"message":"rejected"}`,
			func(ctx context.Context, c *Client) error {
				_, err := c.RejectCheck(ctx, 4711, someReview())
				return err
			}},
		{OpRetrieveIndividual, "GET", "/ext/individuals/4711", "", someIndividual,
			func(ctx context.Context, c *Client) error { _, err := c.RetrieveIndividual(ctx, 4711); return err }},
		{OpResendInvites, "POST", "/ext/individuals/4711/invites/resend", "{}", "",
			func(ctx context.Context, c *Client) error { return c.ResendInvites(ctx, 4711) }},
		{OpResetIndividual, "POST", "/ext/individuals/4711/reset", "{}", "",
			func(ctx context.Context, c *Client) error { return c.ResetIndividual(ctx, 4711) }},
		{OpIndividualReport, "GET", "/ext/individuals/4711/report", "", "%PDF",
			func(ctx context.Context, c *Client) error {
				_, err := c.IndividualReport(ctx, 4711, io.Discard, 1<<10)
				return err
			}},
		{OpRetrieveReferences, "GET", "/ext/references", "", `{}`,
			func(ctx context.Context, c *Client) error { _, err := c.RetrieveReferences(ctx); return err }},
		{OpSubscribeWebhook, "POST", "/ext/webhooks/subscribe", `{"application_id":4711,"events":["completed"],"url":"https://hooks.example.com"}`, "",
			func(ctx context.Context, c *Client) error {
				_, err := c.SubscribeWebhook(ctx, someSubscription())
				return err
			}},
		{OpRetrieveWebhook, "GET", "/ext/webhooks/retrieve/4711", "", "[]",
			func(ctx context.Context, c *Client) error { _, err := c.RetrieveWebhook(ctx, 4711); return err }},
	}
}

func someNewApplication() NewApplication {
	return NewApplication{Name: Hide("Acme"), Reference: "A-1", MandateTypeID: 3,
		Individuals: []NewIndividual{{Email: Hide("jane@example.com"), Reference: Hide("A-1.jane")}}}
}

func someReview() CheckReview {
	return CheckReview{Comment: Hide("fine"), CommentFor: "IndividualCheck", Reference: 12}
}

func someSubscription() Subscription {
	return Subscription{URL: Hide("https://hooks.example.com"), Events: []string{"completed"}, ApplicationID: 4711}
}

// callOf gives the call of one operation.
func callOf(t *testing.T, op Operation) someCall {
	t.Helper()
	for _, call := range someCalls() {
		if call.op == op {
			return call
		}
	}
	t.Fatalf("no call of %q; add it to someCalls", op)
	return someCall{}
}

// emailing are the operations that e-mail people, as the interface says, whatever the table says.
var emailing = map[Operation]bool{OpCreateApplication: true, OpResendInvites: true, OpResetIndividual: true}

// asError is the *Error of a failed call.
func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := err.(*Error) //nolint:errorlint // it must be one itself
	if !ok || e == nil {
		t.Fatalf("got %T %[1]v, want an *Error", err)
	}
	return e
}

func expectFailure(t *testing.T, err error, outcome Outcome, kind Kind) *Error {
	t.Helper()
	e := asError(t, err)
	if e.Outcome != outcome || e.Kind != kind {
		t.Errorf("got %v %v (%v), want %v %v", e.Outcome, e.Kind, e, outcome, kind)
	}
	return e
}
