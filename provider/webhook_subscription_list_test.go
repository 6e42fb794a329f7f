package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// list lists subscriptions as `terraform query` does, which needs Terraform 1.14.
func (p *plugin) list(
	t *testing.T, config values, includeResource bool, limit int64,
) (results []tfprotov6.ListResourceResult, diagnostics []*tfprotov6.Diagnostic) {
	t.Helper()
	server := p.server.(tfprotov6.ListResourceServer)
	encoded := p.value(t, p.schemas.ListResourceSchemas[subscriptionType], config)
	validated, err := server.ValidateListResourceConfig(t.Context(), &tfprotov6.ValidateListResourceConfigRequest{
		TypeName: subscriptionType, Config: encoded,
	})
	if err != nil || len(validated.Diagnostics) > 0 {
		return nil, validated.Diagnostics
	}
	stream, err := server.ListResource(t.Context(), &tfprotov6.ListResourceRequest{
		TypeName: subscriptionType, Config: encoded, IncludeResource: includeResource, Limit: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	for result := range stream.Results {
		diagnostics = append(diagnostics, result.Diagnostics...)
		if result.Identity != nil {
			results = append(results, result)
		}
	}
	return results, diagnostics
}

func TestListSubscriptions(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	token := strings.Repeat("t", 32)
	urls := []string{
		"https://hooks.example.com/a", "https://u:p@hooks.example.com/b?key=k", "https://hooks.example.com/" + token,
	}
	application, empty := s.createApplication(t), s.createApplication(t)
	for _, url := range append(urls, urls[0]) { // one of them twice
		subscription := client.Subscription{
			URL: client.Hide(url), ApplicationID: application, Events: []string{"application.completed"},
		}
		if _, err := s.client.SubscribeWebhook(t.Context(), subscription); err != nil {
			t.Fatal(err)
		}
	}
	of := func(id int64) values { return values{"application_id": id} }
	for name, test := range map[string]struct {
		retrieve string
		config   values
		limit    int64
		want     int
		warning  string
	}{
		"a list":            {"list", of(application), 0, 3, ""},
		"a wrapped list":    {"wrapped", of(application), 0, 3, ""},
		"a limit":           {"list", of(application), 2, 2, ""},
		"the newest":        {"object", of(application), 0, 1, "may be incomplete"},
		"none":              {"list", of(empty), 0, 0, ""},
		"none, said by 404": {"object", of(empty), 0, 0, ""},
	} {
		s.setDialect(t, "retrieveWebhook", test.retrieve)
		for _, include := range []bool{false, true} {
			results, diagnostics := p.list(t, test.config, include, test.limit)
			if len(results) != test.want || (test.warning == "") != (len(diagnostics) == 0) ||
				test.warning != "" && !hasWarning(diagnostics, test.warning) {
				t.Errorf("%s: want %d, %q, got %d, %s", name, test.want, test.warning, len(results), formatDiagnostics(diagnostics))
			}
			for _, result := range results {
				if (result.Resource != nil) != include || !strings.Contains(result.DisplayName, "/hooks.example.com") {
					t.Errorf("%s: %q, with resource %v", name, result.DisplayName, result.Resource != nil)
				}
				for _, secret := range []string{token, "u:p", "key"} {
					mustNotContain(t, "the display name", result.DisplayName, secret)
				}
			}
		}
	}
}

// TestListedSubscriptionCanBeImported: the identity of a result imports the subscription, in the state of the result.
func TestListedSubscriptionCanBeImported(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	application := s.createSubscribedApplication(t)
	results, _ := p.list(t, values{"application_id": application}, true, 0)
	if len(results) != 1 {
		t.Fatal(results)
	}
	imported, err := p.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: subscriptionType, Identity: results[0].Identity,
	})
	if err != nil || len(imported.Diagnostics) > 0 {
		t.Fatal(err, formatDiagnostics(imported.Diagnostics))
	}
	schema := p.schemas.ResourceSchemas[subscriptionType]
	listed := goValues(t, schema, results[0].Resource)
	for name, value := range goValues(t, schema, imported.ImportedResources[0].State) {
		if value != nil && name != "timeouts" && listed[name] != value {
			t.Errorf("%s: imported %v, listed %v", name, value, listed[name])
		}
	}
}

func TestListSubscriptionsErrors(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	if _, diagnostics := p.list(t, values{"application_id": int64(0)}, false, 0); !hasError(diagnostics, "at least 1") {
		t.Error(formatDiagnostics(diagnostics))
	}
	s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 403})
	results, diagnostics := p.list(t, values{"application_id": int64(4711)}, false, 0)
	if len(results) > 0 || !hasError(diagnostics, "Cannot list the webhook subscriptions", "API permissions") {
		t.Error(results, formatDiagnostics(diagnostics))
	}
}

// TestListKeepsOut: a proxy's page is no empty list, and only what can be imported is listed.
func TestListKeepsOut(t *testing.T) {
	proxy := newAnsweringProxy(t)
	p := newPlugin(t, proxy.url)
	of := values{"application_id": int64(4711)}
	proxy.answer.Store(&webhookAnswer{status: 404, contentType: "text/html", body: "<html>not here"})
	if results, diagnostics := p.list(t, of, true, 0); len(results) > 0 || !hasError(diagnostics, "Cannot list") {
		t.Error(results, formatDiagnostics(diagnostics))
	}
	proxy.answer.Store(&webhookAnswer{status: 200, contentType: "application/json", body: `[
		{"id": 1, "url": "mailto:jane@example.com", "events": ["all"]},
		{"id": 2, "url": "https://hooks.example.com/idv", "events": ["jane@example.com"]},
		{"id": 3, "url": "https://HOOKS.example.com:443/idv", "events": ["jane@example.com"]}]`})
	results, _ := p.list(t, of, true, 0)
	if len(results) != 1 {
		t.Fatalf("want the last of the one URL, got %d", len(results))
	}
	for name, value := range goValues(t, p.schemas.ResourceSchemas[subscriptionType], results[0].Resource) {
		if name == "events" && value != nil {
			t.Errorf("events are listed that no import would store: %v", value)
		}
	}
}
