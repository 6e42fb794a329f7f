package provider_test

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// service is a sandbox on loopback, with a client of its own to look into it.
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
	t.Cleanup(handler.Close) // first, because it ends what the server would wait for
	c, err := client.New(client.Config{BaseURL: server.URL, RequestsPerSecond: -1, Credentials: client.Credentials{
		Username: options.Username, Password: client.Hide(options.Password),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &service{url: server.URL, options: options, control: control.New(server.URL), client: c}
}

// environment configures the provider.
func (s *service) environment() []string {
	return []string{"IDV_BASE_URL=" + s.url, "IDV_USERNAME=" + s.options.Username, "IDV_PASSWORD=" + s.options.Password}
}

// providerBlock configures the provider.
func (s *service) providerBlock() string {
	return fmt.Sprintf("provider \"idv\" {\n  base_url = %q\n  username = %q\n  password = %q\n}\n",
		s.url, s.options.Username, s.options.Password)
}

// application makes an application and gives its id.
func (s *service) application(t testing.TB) int64 {
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

// subscribed counts the subscriptions of an application.
func (s *service) subscribed(t *testing.T, application int64) int {
	t.Helper()
	before, err := s.control.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.speak(t, "retrieveWebhook", "list")
	webhooks, err := s.client.RetrieveWebhook(t.Context(), application)
	if err != nil {
		t.Fatal(err)
	}
	for _, dialect := range before {
		if dialect.Name == "retrieveWebhook" {
			s.speak(t, dialect.Name, dialect.Value)
		}
	}
	return len(webhooks.Items)
}

// dialect gives the value of a switch.
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

func (s *service) speak(t testing.TB, dialect, value string) {
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

// requests counts the requests of an operation since forget.
func (s *service) requests(t testing.TB, operation control.Operation) int64 {
	t.Helper()
	statistics, err := s.control.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return statistics.Requests(operation)
}

// forget starts the counts of requests again.
func (s *service) forget(t testing.TB) {
	t.Helper()
	if err := s.control.ResetStats(t.Context()); err != nil {
		t.Fatal(err)
	}
}
