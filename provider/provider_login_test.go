package provider_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/provider"
)

// However a service refuses a login, the run has one error that says so, after at most three logins.
func TestRefusedLogins(t *testing.T) {
	t.Parallel()
	problem := func(status int, body string) webhookAnswer {
		return webhookAnswer{status: status, contentType: "application/problem+json", body: body}
	}
	for name, answer := range map[string]webhookAnswer{
		"401":                   problem(401, `{"title":"Unauthorized","status":401}`),
		"401 without a body":    jsonAnswer(401, ``),
		"400 of OAuth":          jsonAnswer(400, `{"error":"invalid_grant"}`),
		"400 problem":           problem(400, `{"title":"Bad credentials","status":400}`),
		"403":                   problem(403, `{"title":"Forbidden","status":403}`),
		"200 with an error":     jsonAnswer(200, `{"error":"invalid_client"}`),
		"422 about a field":     problem(422, `{"title":"Invalid","status":422,"exception":{"password":["wrong"]}}`),
		"200 that says failure": jsonAnswer(200, `{"success":false,"message":"wrong password"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logins atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				logins.Add(1)
				answer.write(w)
			}))
			t.Cleanup(server.Close)
			framework, err := providerserver.NewProtocol6WithError(provider.New("test")())()
			if err != nil {
				t.Fatal(err)
			}
			schemas, err := framework.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
			if err != nil {
				t.Fatal(err)
			}
			p := &plugin{server: framework, schemas: schemas}
			configured, err := framework.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
				Config: p.value(t, schemas.Provider, values{"base_url": server.URL, "username": "u", "password": "canary"}),
			})
			if err != nil || len(configured.Diagnostics) != 1 ||
				!hasError(configured.Diagnostics, "rejects the credentials", "`password`") || logins.Load() > 3 {
				t.Errorf("want one error after at most 3 logins, got %d, %v, %s",
					logins.Load(), err, formatDiagnostics(configured.Diagnostics))
			}
			mustNotContain(t, "the error", formatDiagnostics(configured.Diagnostics), "canary")
		})
	}
}
