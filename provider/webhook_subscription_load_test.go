package provider_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// many is a configuration with subscriptions of one application, or of none.
func many(application int64, count int) string {
	id := ""
	if application != 0 {
		id = fmt.Sprintf("application_id = %d", application)
	}
	return fmt.Sprintf(`resource "idv_webhook_subscription" "many" {
	  count           = %d
	  url             = "https://hooks.example.com/${count.index}"
	  deletion_policy = "ABANDON"
	  %s
	}`, count, id)
}

// Tokens that live for a second are renewed in the middle of everything, by ten at a time.
func TestManySubscriptionsWithShortTokens(t *testing.T) {
	t.Parallel()
	const count = 100
	s := newServiceWith(t, sandbox.Options{TokenLifetime: time.Second})
	s.speak(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.application(t)
		w := c.workspace(t, s.environment()...)
		w.configure(t, many(application, count))
		s.forget(t)
		begin := time.Now()
		w.must(t, "apply", "-auto-approve", "-parallelism=10")
		w.mustPlanNothing(t)
		// One login by each of the three processes at once, and one for every four fifths of a second.
		bound := 3 + int64(time.Since(begin)/(800*time.Millisecond)) + 1
		if logins := s.requests(t, control.Token); logins > bound {
			t.Errorf("want at most %d logins in %s, got %d", bound, time.Since(begin), logins)
		}
		statistics, err := s.control.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// A token may die on its way; the 401 says that nothing was done.
		if sent := statistics.Operations[control.SubscribeWebhook]; sent.Requests-sent.Answers["401"] != count {
			t.Errorf("want %d subscriptions sent, got %+v", count, sent)
		}
		if n := s.subscribed(t, application); n != count {
			t.Errorf("want %d subscriptions at the service, got %d", count, n)
		}
	})
}

// What a subscription costs: one request to subscribe and at most one to read it back. Looking for equal ones first costs
// one request more for each application.
func TestSubscriptionRequests(t *testing.T) {
	t.Parallel()
	const count = 20
	s := newService(t)
	s.speak(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		cases := map[string]struct {
			application int64
			apply, plan int64 // GETs at most; a slow machine needs some more than one for all
		}{
			"of one application": {s.application(t), count * 3 / 2, count / 2},
			"of none":            {0, 0, 0},
		}
		for situation, test := range cases {
			t.Run(situation, func(t *testing.T) {
				w := c.workspace(t, s.environment()...)
				w.configure(t, many(test.application, count))
				s.forget(t)
				w.must(t, "apply", "-auto-approve")
				if posts, gets := s.requests(t, control.SubscribeWebhook), s.requests(t, control.RetrieveWebhook); posts != count || gets > test.apply {
					t.Errorf("apply: want %d POSTs and at most %d GETs, got %d and %d", count, test.apply, posts, gets)
				}
				s.forget(t)
				w.mustPlanNothing(t)
				if gets := s.requests(t, control.RetrieveWebhook); gets > test.plan {
					t.Errorf("plan: want at most %d GETs, got %d", test.plan, gets)
				}
			})
		}
	})
}
