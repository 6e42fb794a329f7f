package provider_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// service is a sandbox on loopback, with clients for its API and for its control API.
type service struct {
	url     string
	options sandbox.Options
	control *control.Client
	client  *client.Client
}

func newService(t *testing.T) *service {
	t.Helper()
	return newServiceWith(t, sandbox.Options{})
}

func newServiceWith(t testing.TB, options sandbox.Options) *service {
	t.Helper()
	options.Username = cmp.Or(options.Username, sandbox.DefaultUsername)
	options.Password = cmp.Or(options.Password, sandbox.DefaultPassword)
	handler := sandbox.New(options)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close) // runs first, because the server waits for its requests
	c, err := client.New(client.Config{BaseURL: server.URL, RequestsPerSecond: -1, Credentials: client.Credentials{
		Username: options.Username, Password: client.Hide(options.Password),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &service{url: server.URL, options: options, control: control.New(server.URL), client: c}
}

// environment returns the environment variables that configure the provider.
func (s *service) environment() []string {
	return []string{"IDV_BASE_URL=" + s.url, "IDV_USERNAME=" + s.options.Username, "IDV_PASSWORD=" + s.options.Password}
}

// providerBlock returns a block that configures the provider.
func (s *service) providerBlock() string {
	return fmt.Sprintf("provider \"idv\" {\n  base_url = %q\n  username = %q\n  password = %q\n}\n",
		s.url, s.options.Username, s.options.Password)
}

// createApplication creates an application and returns its ID.
func (s *service) createApplication(t testing.TB) int64 {
	t.Helper()
	references, err := s.client.RetrieveReferences(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	application, err := s.client.CreateApplication(t.Context(), client.NewApplication{
		Name: client.Hide("Acme"), MandateTypeID: references.MandateTypes[0].ID, SuppressEmailNotification: true,
		Individuals: []client.NewIndividual{{Email: client.Hide("jane@example.com")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return application.ID
}

// countSubscriptions counts the subscriptions of an application.
func (s *service) countSubscriptions(t *testing.T, application int64) int {
	t.Helper()
	before, err := s.control.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.setDialect(t, "retrieveWebhook", "list")
	webhooks, err := s.client.RetrieveWebhook(t.Context(), application)
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range before {
		if dialect.Name == "retrieveWebhook" {
			s.setDialect(t, dialect.Name, dialect.Value)
		}
	}
	return len(webhooks.Items)
}

// dialect returns the value of a dialect switch.
func (s *service) dialect(t *testing.T, name string) string {
	t.Helper()
	dialects, err := s.control.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range dialects {
		if dialect.Name == name {
			return dialect.Value
		}
	}
	t.Fatalf("there is no dialect %s", name)
	return ""
}

func (s *service) setDialect(t testing.TB, dialect, value string) {
	t.Helper()
	if err := s.control.SetDialect(t.Context(), dialect, value); err != nil {
		t.Fatal(err)
	}
}

func (s *service) fault(t *testing.T, fault control.Fault) {
	t.Helper()
	if err := s.control.Fault(t.Context(), fault); err != nil {
		t.Fatal(err)
	}
}

// requests counts the requests of an operation since resetStats.
func (s *service) requests(t testing.TB, operation control.Operation) int64 {
	t.Helper()
	statistics, err := s.control.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return statistics.Requests(operation)
}

func (s *service) resetStats(t testing.TB) {
	t.Helper()
	if err := s.control.ResetStats(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// newStubServer serves responses that the sandbox does not have. It serves tokens, and passes all other requests on.
func newStubServer(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/token") {
			fmt.Fprint(w, `{"access_token":"canary-access-token","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
