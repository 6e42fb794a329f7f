package readings_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/plugin/readings"
)

// A service is a sandbox that records which requests it gets.
type service struct {
	*testing.T

	url          string
	control      *control.Client
	applications []readings.Application

	mu       sync.Mutex
	requests []string
}

var credentials = client.Credentials{
	Username: sandbox.DefaultUsername, Password: client.Hide(sandbox.DefaultPassword),
	ClientID: sandbox.DefaultClientID, ClientSecret: client.Hide(sandbox.DefaultClientSecret),
}

// The e-mail addresses and references of individuals are personal data.
var personal = []string{"jane.doe@example.com", "zoe.roe@example.com", "jane-doe-1990", "zoe-roe-1990", "Jane", "Zoe"}

// newService starts a sandbox with an application in review and a subscription, and then sets a dialect.
func newService(t *testing.T, d dialect.Dialect) *service {
	t.Helper()
	atCreate := dialect.Dialect{
		IDSize: d.IDSize, IndividualIDs: d.IndividualIDs, SubscribeFields: d.SubscribeFields,
		SubscribeApplication: d.SubscribeApplication,
	}
	stand := sandbox.New(sandbox.Options{Dialect: atCreate, Seed: 2}) // the ids are odd and even
	s := &service{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		stand.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		stand.Close()
		server.Close()
	})
	s.url, s.control = server.URL, control.New(server.URL)
	c, err := client.New(client.Config{BaseURL: s.url, Credentials: credentials, RequestsPerSecond: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	separator := "."
	if d.ReferenceFormat == dialect.ReferenceFormatStrict {
		separator = "-"
	}
	s.createApplication(c, "team"+separator+"acme", d)
	s.createApplication(c, "team"+separator+"other", d)
	values := map[string]string{}
	for _, one := range d.Switches() {
		values[one.Name] = one.Value
	}
	s.check(s.control.SetDialects(t.Context(), values))
	return s
}

func (s *service) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// createApplication creates an application for two people, the second of whom has the first name.
func (s *service) createApplication(c *client.Client, reference string, d dialect.Dialect) {
	s.Helper()
	references, err := c.RetrieveReferences(s.Context())
	s.check(err)
	created, err := c.CreateApplication(s.Context(), client.NewApplication{
		Name: client.Hide("Zoe Roe"), Reference: reference, MandateTypeID: references.MandateTypes[0].ID,
		Individuals: []client.NewIndividual{
			{Email: client.Hide(personal[1]), FirstName: client.Hide("Zoe"), Reference: client.Hide(reference + personal[3])},
			{Email: client.Hide(personal[0]), FirstName: client.Hide("Jane"), Reference: client.Hide(reference + personal[2])},
		},
	})
	s.check(err)
	names := map[string]string{}
	if d.SubscribeFields == dialect.SubscribeRenamed {
		names = map[string]string{"url": "target_url", "events": "event_types", "application_id": "mandate_id"}
	}
	_, err = c.SubscribeWebhook(s.Context(), client.Subscription{
		URL: client.Hide("https://hooks.example.com/token-of-the-receiver"), Events: []string{"application.completed"},
		ApplicationID: created.ID, FieldNames: names,
	})
	if d.SubscribeApplication != dialect.SubscribeApplicationRefused {
		s.check(err)
	}
	_, err = s.control.Play(s.Context(), control.Play{ApplicationID: created.ID, Result: control.ResultReview})
	s.check(err)
	application, err := c.RetrieveApplication(s.Context(), created.ID)
	s.check(err)
	of := readings.Application{ID: created.ID, Reference: reference}
	for i := range application.Individuals {
		of.Individuals = append(of.Individuals, application.Individuals[i].ID)
	}
	s.applications = append(s.applications, of)
}

func (s *service) options() readings.Options {
	return readings.Options{
		Settings: v1alpha1.ServiceSettings{BaseURL: s.url}, Credentials: credentials, UserAgent: "test",
		Applications: slices.Clone(s.applications),
	}
}

func (s *service) run(options readings.Options) *readings.Result {
	s.Helper()
	s.mu.Lock()
	s.requests = nil
	s.mu.Unlock()
	result, err := readings.Check(context.Background(), options)
	s.check(err)
	for _, f := range result.Findings {
		for _, one := range append(personal, "token-of-the-receiver", sandbox.DefaultPassword, sandbox.DefaultClientSecret) {
			if strings.Contains(f.Text+f.Reading, one) {
				s.Errorf("personal data or a secret: %s", f.Text)
			}
		}
	}
	s.onlyReads()
	return result
}

// onlyReads checks that nothing but logins, GETs and OPTIONS came, and few of them.
func (s *service) onlyReads() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	logins := 0
	for _, request := range s.requests {
		switch {
		case request == "POST /api/v1/ext/authentications/token":
			logins++
		case !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "OPTIONS "):
			s.Errorf("sent %s", request)
		}
	}
	if logins > 6 || len(s.requests) > 24 {
		s.Errorf("%d logins of %d requests: %q", logins, len(s.requests), s.requests)
	}
}

// Two logins that are refused are enough: more could lock the account.
func TestWrongCredentials(t *testing.T) {
	for _, d := range []dialect.Dialect{{}, {LoginRefusal: dialect.LoginRefusal200Error}} {
		s := newService(t, d)
		options := s.options()
		options.Credentials.Password = client.Hide("wrong-password")
		result := s.run(options)
		if !strings.Contains(result.Problem, "the credentials are wrong") || len(s.requests) != 2 ||
			!strings.Contains(result.Problem, "--grant-type client_credentials --token-authorization Basic") {
			t.Errorf("%q, %q", result.Problem, s.requests)
		}
	}
}

// Each form of a login is found with two refusals at most, if need be as the first one.
func TestForms(t *testing.T) {
	user := client.Credentials{Username: credentials.Username, Password: credentials.Password}
	clientPair := client.Credentials{ClientID: credentials.ClientID, ClientSecret: credentials.ClientSecret}
	settings := func(authorization v1alpha1.TokenAuthorization, grant v1alpha1.GrantType) v1alpha1.ServiceSettings {
		return v1alpha1.ServiceSettings{
			TokenAuthorization: authorization, TokenRequest: v1alpha1.TokenRequest{GrantType: grant},
		}
	}
	for name, c := range map[string]struct {
		dialect     dialect.Dialect
		credentials client.Credentials
		first, want v1alpha1.ServiceSettings
		keys        string
	}{
		"the user": {dialect.Dialect{}, user, settings("", ""), settings("", ""), "username, password"},
		"the user in the header": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicUser}, user, settings("", ""), settings("UserBasic", ""),
			"username, password",
		},
		"a grant of the client's own": {
			dialect.Dialect{GrantType: dialect.GrantTypeClientCredentials}, clientPair, settings("", ""),
			settings("", "client_credentials"), "client_id, client_secret",
		},
		"a grant that the refusal names": {
			dialect.Dialect{GrantType: dialect.GrantTypeClientCredentials}, credentials, settings("", ""),
			settings("", "client_credentials"), "client_id, client_secret",
		},
		"no header": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicRefused}, credentials, settings("", ""), settings("None", ""),
			"username, password, or client_id, client_secret, or all four",
		},
		"a form that is tried first": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicUser}, credentials, settings("UserBasic", ""),
			settings("UserBasic", ""), "username, password",
		},
		"a form that is wrong": {
			dialect.Dialect{}, credentials, settings("Auto", "client_credentials"), settings("Auto", "password"),
			"username, password, or client_id, client_secret, or all four",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.dialect)
			options := s.options()
			options.Credentials = c.credentials
			c.first.BaseURL, c.want.BaseURL = s.url, s.url
			options.Settings = c.first
			result := s.run(options)
			got := result.Suggestion.Settings
			if result.Problem != "" || got.TokenAuthorization != c.want.TokenAuthorization ||
				got.TokenRequest != c.want.TokenRequest || result.Suggestion.Keys() != c.keys {
				t.Errorf("%q, %+v, keys %s", result.Problem, got, result.Suggestion.Keys())
			}
		})
	}
}

// The text of a response that is not HTTP may be personal data, and net/http's errors quote it.
func TestErrorsQuoteNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = connection.Write([]byte("HTTP/1.1 " + personal[0] + "\r\n\r\n"))
		_ = connection.Close()
	}))
	defer server.Close()
	s := &service{T: t, url: server.URL}
	if got := s.run(s.options()).Problem; got == "" {
		t.Error("no problem")
	} else if strings.Contains(got, personal[0]) {
		t.Errorf("%q", got)
	}
}

// What fails does not keep the rest from being seen.
func TestSomethingFails(t *testing.T) {
	for operation, want := range map[control.Operation]string{
		control.References: "references", control.RetrieveIndividual: "retrieveIndividual",
		control.RetrieveWebhook: "retrieveWebhook",
	} {
		t.Run(string(operation), func(t *testing.T) {
			t.Parallel()
			s := newService(t, dialect.Dialect{})
			s.check(s.control.Fault(t.Context(), control.Fault{
				Operation: operation, Kind: control.Answer, Status: http.StatusForbidden, Times: 9,
			}))
			result := s.run(s.options())
			if got := result.Find(want); got.Reading != "" || !strings.Contains(got.Text, "403") {
				t.Errorf("%+v", got)
			}
			for _, point := range []string{"apiPermission", "ids", "errorBody", "completeMethod", "identity"} {
				if result.Find(point).Reading == "" {
					t.Errorf("%s is not known: %+v", point, result.Findings)
				}
			}
			if result.Problem != "" {
				t.Error(result.Problem)
			}
		})
	}
}

func TestRateLimit(t *testing.T) {
	for answer, want := range map[string]string{"seconds": "seconds", "absent": "absent", "date": "date"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newService(t, dialect.Dialect{})
			s.check(s.control.SetDialects(t.Context(), map[string]string{"rateLimit": "4", "rateLimitAnswer": answer}))
			result := s.run(s.options())
			if got := result.Find("rateLimitAnswer"); got.Reading != want || result.Problem != "" ||
				result.Suggestion.Settings.RequestsPerSecond != 1 {
				t.Errorf("%+v, %+v", got, result)
			}
		})
	}
}

// Nothing is fixed that Auto finds, whatever OPTIONS says.
func TestNoMethodIsFixed(t *testing.T) {
	for _, d := range []dialect.Dialect{
		{}, {CompleteMethod: "POST", RejectMethod: "PUT"}, {WrongMethod: dialect.WrongMethodAll, CompleteMethod: "PUT"},
	} {
		s := newService(t, d)
		if got := s.run(s.options()).Suggestion.Settings.Transitions; got != (v1alpha1.Transitions{}) {
			t.Errorf("%+v", got)
		}
	}
}

// A service that takes no id of that size, or shows no application of the Mandate.
func TestWhatTheApplicationIs(t *testing.T) {
	s := newService(t, dialect.Dialect{})
	options := s.options()
	options.Applications[0].Reference = "another"
	if got := s.run(options).Find("reference"); !strings.Contains(got.Text, "does not show the reference of the Mandate") {
		t.Errorf("%+v", got)
	}
	s.check(s.control.Fault(t.Context(), control.Fault{
		Operation: control.RetrieveApplication, Kind: control.Answer, Status: http.StatusBadRequest, Times: 9,
	}))
	if got := s.run(options).Find("notFound"); !strings.Contains(got.Text, "it may be too large for the service") {
		t.Errorf("%+v", got)
	}
}

// A person says what the states of applications mean, and the spec gets their names.
func TestStateNames(t *testing.T) {
	s := newService(t, dialect.Dialect{StateNames: dialect.StateNamesOther})
	options := s.options()
	if got := s.run(options).Find("stateNames"); got.Reading != "" {
		t.Errorf("%+v", got)
	}
	options.Applications[0].Meaning = readings.InReview
	options.Applications[1].Meaning = readings.Closed
	result := s.run(options)
	states := result.Suggestion.Settings.States
	if !slices.Equal(states.InReview, []string{"under review"}) || !slices.Equal(states.Closed, states.InReview) {
		t.Errorf("%+v", states)
	}
	options.Applications[0].Meaning = readings.Completed
	s.check(s.control.SetDialect(t.Context(), "stateNames", "documented"))
	if got := s.run(options).Find("stateNames"); !strings.Contains(got.Text, "something else to the client") {
		t.Errorf("%+v", got)
	}
}

// Texts of the service can be about a person, and are not shown then.
func TestTextsOfTheService(t *testing.T) {
	s := newService(t, dialect.Dialect{})
	id := strconv.FormatInt(s.applications[0].ID, 10)
	answers := map[string]string{
		"token":      `{"access_token": "token", "token_type": "Bearer"}`,
		"references": `{"mandate_types": [{"id": 1, "code": "k\u001b[31myc"}]}`,
		"applications": `{"id": ` + id + `, "reference": "acme", "status": "x", "available_actions": [
			{"name": "reject"}, {"name": "ask ` + personal[0] + `"}, {"name": "` + strings.Repeat("Jane ", 11) + `"}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("RateLimit-Limit", "100")
		w.Header().Set("X-Operator", personal[0])
		for name, answer := range answers {
			if strings.Contains(r.URL.Path, "/"+name) {
				_, _ = w.Write([]byte(answer))
			}
		}
	}))
	defer server.Close()
	s.url = server.URL
	result := s.run(s.options())
	for point, want := range map[string]string{
		"availableActions": "the application offers this user: reject", "mandateTypes": "mandate types: k\ufffd[31myc",
		"headers": "Content-Type: application/json; Ratelimit-Limit: 100",
	} {
		if got := result.Find(point); got.Text != want {
			t.Errorf("%s: %q, want %q", point, got.Text, want)
		}
	}
}

// The error of OAuth 2.0 about the grant decides what is tried next.
func TestUnsupportedGrant(t *testing.T) {
	var grants []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("grant_type") != "" {
			grants = append(grants, r.FormValue("grant_type"))
		}
		if r.FormValue("grant_type") == "password" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error": "unsupported_grant_type"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token": "token", "mandate_types": [{"id": 1, "code": "kyc"}]}`))
	}))
	defer server.Close()
	s := &service{T: t, url: server.URL}
	result := s.run(s.options())
	if !slices.Equal(grants, []string{"password", "client_credentials", "client_credentials"}) || result.Problem != "" ||
		result.Suggestion.Settings.TokenRequest.GrantType != v1alpha1.GrantTypeClientCredentials {
		t.Errorf("%q, %q, %+v", grants, result.Problem, result.Suggestion)
	}
}

// Without an application, a 403 does not tell whether every application is forbidden.
func TestForbiddenOrUnknown(t *testing.T) {
	s := newService(t, dialect.Dialect{ForbiddenOperation: string(control.RetrieveApplication)})
	options := s.options()
	if got := s.run(options).Find("forbiddenOperation"); got.Reading != string(control.RetrieveApplication) {
		t.Errorf("%+v", got)
	}
	options.Applications = nil
	result := s.run(options)
	if got := result.Find("forbiddenObject"); !strings.Contains(got.Text, "or every application") || result.Problem != "" {
		t.Errorf("%+v, %q", got, result.Problem)
	}
}
