package provider_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A proxy that responds in the place of the service neither takes a subscription out of the state nor leads to a second
// one.
func TestSubscriptionBehindAProxy(t *testing.T) {
	t.Parallel()
	answers := map[string]webhookAnswer{
		"404 in HTML": html(404), "empty 200": jsonAnswer(200, ""), "captive portal": html(200),
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, answer := range answers {
			t.Run(name, func(t *testing.T) {
				p := newAnsweringProxy(t)
				application := p.service.createSubscribedApplication(t)
				w := c.inProcess(t, p.providerBlock())
				w.configure(t, subscription(application, hookURL, `on_existing = "adopt"`))
				w.must(t, "apply", "-auto-approve")
				p.respond(t, answer)
				if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "cannot be read back", hookURL) {
					t.Errorf("want a warning, got %+v", r.warnings)
				}
				if r := w.must(t, "apply", "-auto-approve"); len(r.warnings) > 0 {
					t.Errorf("want no warning without a change of drift_detection, got %+v", r.warnings)
				}
				if n := p.posts.Load(); n != 0 || !strings.Contains(w.state(t), hookURL) {
					t.Errorf("want the subscription in the state and no POST, got %d, %s", n, w.state(t))
				}
			})
		}
	})
}

// The plan of a create says what the apply will do about an existing subscription.
func TestSubscriptionPlanLooks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createSubscribedApplication(t)
		w := c.inProcess(t, s.providerBlock())
		s.resetStats(t)
		w.configure(t, subscription(application, hookURL, ""))
		r := w.run(t, "plan")
		if len(r.errors) != 1 || !has(r.errors, "already exists", "on_existing") {
			t.Errorf("want the plan to say that it exists, got %+v", r.errors)
		}
		w.configure(t, subscription(application, "https://hooks.example.com/second", ""))
		r = w.must(t, "plan", "-out=plan")
		if len(r.warnings) != 1 || !has(r.warnings, "Cannot check", "possibly not all") {
			t.Errorf("want the plan to say that it cannot check, got %+v", r.warnings)
		}
		posts, gets := s.requests(t, control.SubscribeWebhook), s.requests(t, control.RetrieveWebhook)
		if posts != 0 || gets != 2 {
			t.Errorf("want one GET for each plan, got %d, and %d POSTs", gets, posts)
		}
		w.must(t, "apply", "plan")
		if n := s.requests(t, control.SubscribeWebhook); n != 1 {
			t.Errorf("want one POST, got %d", n)
		}
	})
}

// Two subscriptions of one application, of which the service returns the newest, are no reason for a warning in each
// plan.
func TestSubscriptionsOfOneApplicationDoNotWarnInEachPlan(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, many(application, 2))
		s.resetStats(t)
		w.must(t, "apply", "-auto-approve")
		for range 2 {
			if r := w.mustPlanNothing(t); len(r.warnings) > 0 {
				t.Errorf("want no warning, got %+v", r.warnings)
			}
		}
		if n := s.requests(t, control.SubscribeWebhook); n != 2 {
			t.Errorf("want two POSTs, got %d", n)
		}
	})
}

func TestSubscriptionAdoptionComparesSettings(t *testing.T) {
	t.Parallel()
	payload := func(body string) string { return fmt.Sprintf("payload_json = %q", body) }
	cases := map[string]struct {
		more  string
		words []string // of the error; none for an adoption
	}{
		"the same events":      {more: `events = ["b", "a"]`},
		"events in other case": {more: `events = ["A", "B"]`},
		"no events":            {},
		"other events": {
			`events = ["a", "c"]`, []string{`the service has "a", "b"`, `the configuration has "a", "c"`},
		},
		"other events by payload":    {payload(`{"events":["c"]}`), []string{`the service has "a", "b"`}},
		"the same field":             {more: payload(`{"format":{"kind":"json"},"retries":3}`)},
		"a number as a string":       {more: payload(`{"retries":"3"}`)},
		"a field that is not shown":  {more: payload(`{"unknown":1}`)},
		"a removed field":            {more: payload(`{"format":null}`)},
		"a secret, which may differ": {more: payload(`{"secret":"canary"}`)},
		"another field":              {payload(`{"note":"canary"}`), []string{"field note of `payload_json`"}},
		"another nested field":       {payload(`{"format":{"kind":"canary"}}`), []string{"field format of `payload_json`"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAnsweringProxy(t)
			application := p.service.createApplication(t)
			if _, err := p.service.client.SubscribeWebhook(t.Context(), client.Subscription{
				URL: client.Hide(hookURL), ApplicationID: application, Events: []string{"a", "b"},
				Payload: client.Hide(json.RawMessage(`{"note":"n","retries":3,"secret":"s","format":{"kind":"json","more":1}}`)),
			}); err != nil {
				t.Fatal(err)
			}
			w := cli{"tofu", tofu(t)}.inProcess(t, p.providerBlock())
			w.configure(t, subscription(application, hookURL, "on_existing = \"adopt\"\n"+test.more))
			r := w.run(t, "apply", "-auto-approve")
			if test.words == nil && r.exit != 0 ||
				test.words != nil && (len(r.errors) != 1 || !has(r.errors, append(test.words, "differs")...)) {
				t.Errorf("want an error with %q, got %+v", test.words, r.errors)
			}
			if strings.Contains(r.output, "canary") {
				t.Errorf("a value is shown:\n%s", r.output)
			}
			if n := p.posts.Load(); n != 0 {
				t.Errorf("want no POST, got %d", n)
			}
		})
	}
}
