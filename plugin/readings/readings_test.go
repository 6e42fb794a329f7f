package readings_test

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
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

	url         string
	control     *control.Client
	application int64

	mu       sync.Mutex
	requests []string
}

var credentials = client.Credentials{
	Username: sandbox.DefaultUsername, Password: client.Hide(sandbox.DefaultPassword),
	ClientID: sandbox.DefaultClientID, ClientSecret: client.Hide(sandbox.DefaultClientSecret),
}

// email is personal data, and so is the reference of the individual.
const email, reference = "jane.doe@example.com", "jane-doe-1990"

// newService starts a sandbox with a dialect, an application in review, and a subscription.
func newService(t *testing.T, d dialect.Dialect) *service {
	t.Helper()
	stand := sandbox.New(sandbox.Options{Dialect: d})
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
	s.createApplication(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
	return s
}

// createApplication has the client create an application. Whatever the answer, the sandbox has it then.
func (s *service) createApplication(d dialect.Dialect) {
	s.Helper()
	authorization := client.TokenAuthorizationNone
	if d.TokenBasic == dialect.TokenBasicRequired {
		authorization = client.TokenAuthorizationBasic
	}
	c, err := client.New(client.Config{
		BaseURL: s.url, Credentials: credentials, TokenAuthorization: authorization, RequestsPerSecond: -1,
	})
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	_, _ = c.CreateApplication(s.Context(), client.NewApplication{
		Name: client.Hide("Jane Doe"), Reference: "acme", MandateTypeID: mandateType(s.T, c),
		Individuals: []client.NewIndividual{{
			Email: client.Hide(email), Title: client.Hide("Ms"), FirstName: client.Hide("Jane"), LastName: client.Hide("Doe"),
			MiddleName: client.Hide("X"), DateOfBirth: client.Hide("1990-02-28"), Gender: client.Hide("female"),
			Reference: client.Hide(reference),
		}},
	})
	applications, err := s.control.Applications(s.Context())
	if err != nil || len(applications) == 0 {
		return // the dialect refuses everything
	}
	s.application = applications[0].ID
	names := map[string]string{}
	if d.SubscribeFields == dialect.SubscribeRenamed {
		names = map[string]string{"url": "target_url", "events": "event_types", "application_id": "mandate_id"}
	}
	_, _ = c.SubscribeWebhook(s.Context(), client.Subscription{
		URL: client.Hide("https://hooks.example.com/token-of-the-receiver"), Events: []string{"application.completed"},
		ApplicationID: s.application, FieldNames: names,
	})
	if _, err := s.control.Play(s.Context(), control.Play{
		ApplicationID: s.application, Result: control.ResultReview,
	}); err != nil {
		s.Fatal(err)
	}
}

func mandateType(t *testing.T, c *client.Client) int64 {
	t.Helper()
	references, err := c.RetrieveReferences(t.Context())
	if err != nil || len(references.MandateTypes) == 0 {
		return 1
	}
	return references.MandateTypes[0].ID
}

func (s *service) options() readings.Options {
	options := readings.Options{
		Settings: v1alpha1.ServiceSettings{BaseURL: s.url}, Credentials: credentials, UserAgent: "test",
	}
	if s.application != 0 {
		options.Applications = []readings.Application{{ID: s.application}}
	}
	return options
}

func (s *service) check(options readings.Options) *readings.Result {
	s.Helper()
	result, err := readings.Check(context.Background(), options)
	if err != nil {
		s.Fatal(err)
	}
	return result
}

// An expectation says how the reads show the value of a switch: at which point, and with which words.
type expectation struct {
	point string
	// words are the readings by the value of the switch; by itself if it is not here.
	words map[string]string
	// hidden are values that reads cannot tell from the default, with the reason.
	hidden map[string]string
	// problem is part of Result.Problem, where the service cannot be used.
	problem map[string]string
}

var shown = map[string]expectation{
	"expiresIn":   {point: "expiresIn"},
	"tokenBasic":  {point: "tokenAuthorization", words: map[string]string{"refused_401": "refused"}},
	"credentials": {point: "credentials"},
	"tokenType":   {point: "tokenType"},
	"olderTokens": {point: "olderTokens"},
	"ids":         {point: "ids"},
	"idSize":      {point: "idSize"},
	"statusShape": {point: "statusShape"},
	"statusCase":  {point: "statusCase"},
	"wrap":        {point: "wrap"},
	// The application has no absent value that is null by its type.
	"absentValues":       {point: "absentValues", words: map[string]string{"by_type": "empty"}},
	"extraMembers":       {point: "extraMembers"},
	"memberCase":         {point: "memberCase"},
	"contentType":        {point: "contentType"},
	"errorBody":          {point: "errorBody"},
	"errorShape":         {point: "errorShape"},
	"completeMethod":     {point: "completeMethod"},
	"rejectMethod":       {point: "rejectMethod"},
	"retrieveIndividual": {point: "retrieveIndividual"},
	"references":         {point: "references", words: map[string]string{"string_ids": "lists"}},
	"subscribeFields":    {point: "subscribeFields"},
	"subscribeApplication": {
		point: "subscribeFields", words: map[string]string{"optional": "standard", "required": "standard"},
		hidden: map[string]string{"refused": "no subscription of an application exists then"},
	},
	"retrieveWebhook": {
		point: "retrieveWebhook", hidden: map[string]string{"404": "as if there was no subscription"},
	},
	"apiPermission": {
		point: "apiPermission",
		problem: map[string]string{
			"401": "no API permission", "403": "no API permission", "login_400": "the user lacks the API permission",
			"login_401": "the user lacks the API permission", "login_403": "may lack the API permission",
		},
		hidden: map[string]string{
			"login_400": "it looks like wrong credentials", "login_401": "it looks like wrong credentials",
			"login_403": "it looks like wrong credentials",
		},
	},
	"wrongMethod": {
		point: "completeMethod", words: map[string]string{"405": "PATCH"},
		hidden: map[string]string{"405_without_allow": "the service does not say", "404": "the service does not say"},
	},
	"stateNames": {
		point: "stateNames", words: map[string]string{
			"documented": "known", "declined": "known", "rejected_by_reviewer": "known",
		},
		hidden: map[string]string{"other": "somebody has to say what the state means: TestStateNames"},
	},
}

// unshown are switches that no read shows, each with what does.
var unshown = map[string]string{
	"tokenLifetime":   "it is what expires_in says",
	"titleGenderCase": "the values of a person are not looked at",
	"successStatus":   "a delete, an archive or a decision", "successBody": "a delete, an archive or a decision",
	"requiredFields": "a create", "duplicateAnswer": "a create", "invalidStatus": "a create",
	"rateLimit": "many requests: TestRateLimit", "rateLimitAnswer": "many requests: TestRateLimit",
	"createStatus": "a create", "createBody": "a create", "firstState": "a create", "readLag": "a create",
	"suppress": "a create", "deletedReferences": "creates and a deletion", "archivedReferences": "creates",
	"referenceCase": "two creates", "individualReferences": "two creates", "uniquenessGap": "two creates",
	"retentionStart": "eight weeks", "archivedRetention": "eight weeks",
	"transitionBody": "a decision", "transitionAnswer": "a decision", "transitionRefusal": "a decision",
	"undecidedChecks": "a decision", "repeatedTransition": "two decisions", "archivedTransition": "a decision",
	"repeatedArchive": "two archives", "completion": "a decision",
	"resendResetBody": "a resend", "resendResetAnswer": "a resend", "resetCheckIDs": "a reset",
	"decidableChecks": "a decision on a check", "repeatedDecision": "two decisions on a check",
	"checkReference": "a decision on a check", "manualCounters": "a decision on a check",
	"reportFormat": "the report: TestReport", "reportNotReady": "the report: TestReport",
	"subscribeEvents": "a subscription", "subscribeAnswer": "a subscription", "subscribeTwice": "two subscriptions",
	"noWebhooks": "an application without a subscription: TestNoWebhooks",
	"deliveries": "a delivery", "deliveryShape": "a delivery",
}

// TestEveryDialect looks at the sandbox in each value of each switch.
func TestEveryDialect(t *testing.T) {
	for _, s := range (dialect.Dialect{}).Switches() {
		expected, isShown := shown[s.Name]
		if _, isUnshown := unshown[s.Name]; isShown == isUnshown {
			t.Errorf("%s: say either how reads show it, or what does", s.Name)
		}
		for _, value := range s.Values {
			if !isShown {
				continue
			}
			t.Run(s.Name+"="+value, func(t *testing.T) {
				t.Parallel()
				var d dialect.Dialect
				if err := d.Set(s.Name, value); err != nil {
					t.Fatal(err)
				}
				stand := newService(t, d)
				expected.compare(t, stand.check(stand.options()), value)
				stand.onlyReads()
			})
		}
	}
}

func (e *expectation) compare(t *testing.T, result *readings.Result, value string) {
	t.Helper()
	want := value
	if word, ok := e.words[value]; ok {
		want = word
	}
	if _, isHidden := e.hidden[value]; isHidden {
		want = ""
	}
	if got := result.Find(e.point); got.Reading != want {
		t.Errorf("%s is %q (%s), want %q\n%+v", e.point, got.Reading, got.Text, want, result)
	}
	if problem := e.problem[value]; !strings.Contains(result.Problem, problem) || problem == "" && result.Problem != "" {
		t.Errorf("problem %q, want %q", result.Problem, problem)
	}
	for _, f := range result.Findings {
		for _, personal := range []string{email, reference, "Jane", "token-of-the-receiver", sandbox.DefaultPassword} {
			if strings.Contains(f.Text, personal) {
				t.Errorf("personal data or a secret: %s", f.Text)
			}
		}
	}
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
	s := newService(t, dialect.Dialect{})
	options := s.options()
	options.Credentials.Password = client.Hide("wrong-password")
	result := s.check(options)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(result.Problem, "the credentials are wrong") || len(s.requests) != 2 {
		t.Errorf("%q, %q", result.Problem, s.requests)
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
		_, _ = connection.Write([]byte("HTTP/1.1 " + email + "\r\n\r\n"))
		_ = connection.Close()
	}))
	defer server.Close()
	s := &service{T: t, url: server.URL}
	if got := s.check(s.options()).Problem; got == "" || strings.Contains(got, email) {
		t.Errorf("%q", got)
	}
}

func TestReport(t *testing.T) {
	for value, want := range map[string]string{"pdf": "pdf", "json_base64": "json_base64", "json_url": "json_url"} {
		s := newService(t, dialect.Dialect{ReportFormat: strings.TrimPrefix(value, "pdf")})
		options := s.options()
		if got := s.check(options).Find("reportFormat").Reading; got != "" {
			t.Errorf("a report was read without a request for it: %s", got)
		}
		options.Report = true
		if got := s.check(options).Find("reportFormat"); got.Reading != want {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

func TestRateLimit(t *testing.T) {
	for answer, want := range map[string]string{"": "with Retry-After", dialect.RateLimitAbsent: "without Retry-After"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newService(t, dialect.Dialect{})
			values := map[string]string{"rateLimit": "4", "rateLimitAnswer": cmp.Or(answer, "seconds")}
			if err := s.control.SetDialects(t.Context(), values); err != nil {
				t.Fatal(err)
			}
			result := s.check(s.options())
			if got := result.Find("rateLimit"); got.Reading != want || result.Suggestion.Settings.RequestsPerSecond != 1 {
				t.Errorf("%+v, %+v", got, result.Suggestion)
			}
		})
	}
}

func TestNoWebhooks(t *testing.T) {
	for value, want := range map[string]string{"404": "404", "empty_list": "empty_list"} {
		s := newService(t, dialect.Dialect{NoWebhooks: value, SubscribeApplication: "refused"})
		if got := s.check(s.options()).Find("noWebhooks"); got.Reading != want {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

// A person says what the states of applications mean, and the spec gets their names.
func TestStateNames(t *testing.T) {
	s := newService(t, dialect.Dialect{StateNames: dialect.StateNamesOther})
	options := s.options()
	options.Applications[0].Meaning = readings.InReview
	result := s.check(options)
	if got := result.Suggestion.Settings.States.InReview; !slices.Equal(got, []string{"under review"}) {
		t.Errorf("%q, %+v", got, result.Find("stateNames"))
	}
}
