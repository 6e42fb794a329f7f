package provider_test

import (
	"fmt"
	"strings"
	"testing"

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
				w.configure(t, subscription(application, hookURL, ""))
				w.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/%s", application, hookURL))
				p.respond(t, answer)
				if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "cannot be read back", hookURL) {
					t.Errorf("want a warning, got %+v", r.warnings)
				}
				if r := w.must(t, "apply", "-auto-approve"); len(r.warnings) > 0 {
					t.Errorf("want no warning without a change of readable, got %+v", r.warnings)
				}
				if n := p.posts.Load(); n != 0 || !strings.Contains(w.state(t), hookURL) {
					t.Errorf("want the subscription in the state and no POST, got %d, %s", n, w.state(t))
				}
			})
		}
	})
}

// The plan of a create says what the apply will do about an existing subscription. It does not fail: see planLookup.
func TestSubscriptionPlanLooks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createSubscribedApplication(t)
		w := c.inProcess(t, s.providerBlock())
		s.resetStats(t)
		w.configure(t, subscription(application, hookURL, ""))
		r := w.must(t, "plan")
		if len(r.warnings) != 1 || !has(r.warnings, "already exists", "An apply would fail", "import {") {
			t.Errorf("want the plan to say that it exists, got %+v", r.warnings)
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
