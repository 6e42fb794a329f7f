package provider_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestWebhook(t *testing.T) {
	s := newService(t)
	application, unsubscribed := s.createApplication(t), s.createJane(t).ID
	for _, receiver := range []string{"https://hooks.example.com/old", "https://hooks.example.com/new"} {
		if _, err := s.client.SubscribeWebhook(t.Context(), client.Subscription{
			URL: client.Hide(receiver), ApplicationID: application,
			Events: []string{"application.updated", "application.completed"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	old, latest := "https://hooks.example.com/old", "https://hooks.example.com/new"
	for name, test := range map[string]struct {
		dialects    map[string]string
		application int64
		urls        []string
		complete    bool
	}{
		"the newest":          {map[string]string{"retrieveWebhook": "object"}, application, []string{latest}, false},
		"a list":              {map[string]string{"retrieveWebhook": "list"}, application, []string{old, latest}, true},
		"a list in an object": {map[string]string{"retrieveWebhook": "wrapped"}, application, []string{old, latest}, true},
		"all in data": {
			map[string]string{"retrieveWebhook": "list", "wrap": "data"}, application, []string{old, latest}, true,
		},
		"other letter case": {
			map[string]string{"retrieveWebhook": "list", "memberCase": "pascal"}, application, []string{old, latest}, true,
		},
		"none, said by a 404":  {map[string]string{"retrieveWebhook": "object"}, unsubscribed, nil, true},
		"none: an empty list":  {map[string]string{"retrieveWebhook": "list"}, unsubscribed, nil, true},
		"none: always 404":     {map[string]string{"retrieveWebhook": "list", "noWebhooks": "404"}, unsubscribed, nil, true},
		"none: no application": {nil, 4711, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.control.ResetDialects(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.control.SetDialects(t.Context(), test.dialects); err != nil {
				t.Fatal(err)
			}
			webhook, diagnostics := newPlugin(t, s.url).read(t, "idv_webhook", values{"application_id": test.application})
			if len(diagnostics) > 0 {
				t.Fatal(formatDiagnostics(diagnostics))
			}
			var urls []string
			for _, item := range webhook["webhooks"].([]any) {
				urls = append(urls, item.(values)["url"].(string))
				want := []any{"application.completed", "application.updated"}
				if diff := cmp.Diff(want, item.(values)["events"]); diff != "" || item.(values)["id"] == nil {
					t.Errorf("events (-want +got):\n%s\nid %v", diff, item.(values)["id"])
				}
			}
			if diff := cmp.Diff(test.urls, urls); diff != "" || webhook["complete"] != test.complete {
				t.Errorf("complete is %v, urls (-want +got):\n%s", webhook["complete"], diff)
			}
		})
	}
}

func TestWebhookReadError(t *testing.T) {
	s := newService(t)
	s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Garbage, Times: control.Always})
	_, diagnostics := newPlugin(t, s.url).read(t, "idv_webhook", values{"application_id": s.createApplication(t)})
	if len(diagnostics) != 1 || !hasError(diagnostics, "Cannot read the webhooks", "not JSON") {
		t.Errorf("want one error, got %s", formatDiagnostics(diagnostics))
	}
}

// A response about a webhook may contain what was delivered, and its secret. Neither may reach the state.
func TestWebhookIsRedacted(t *testing.T) {
	url := newStubServer(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"id":7,"url":"https://u:canary@hooks.example.com/idv?key=canary#canary",
			"events":["application.completed"],"status":"active","name":"canary",
			"secret":"canary-canary-0123456789","Signing-Key":"canary",
			"auth":{"accessToken":"canary"},
			"deliveries":[{"event":"x","body":{"id":12345678901234567890,"Individuals":[{"first_name":"canary"}]}}]},
			{"id":447700900123,"url":"canary","events":["all","canary"]}]`)
	})
	webhook, diagnostics := newPlugin(t, url).read(t, "idv_webhook", values{"application_id": int64(4711)})
	want := values{
		"application_id": int64(4711),
		"webhooks": []any{
			values{"id": int64(7), "url": "https://hooks.example.com/idv", "events": []any{"application.completed"}},
			values{"id": nil, "url": nil, "events": nil},
		},
		"complete": true,
	}
	if diff := cmp.Diff(want, webhook); diff != "" || len(diagnostics) > 0 {
		t.Errorf("%s (-want +got):\n%s", formatDiagnostics(diagnostics), diff)
	}
}
