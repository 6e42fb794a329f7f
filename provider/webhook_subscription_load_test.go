package provider_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// many returns a configuration with many subscriptions, of one application or without one.
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

// Tokens that expire after a second are renewed during the run, with ten operations at a time.
func TestManySubscriptionsWithShortTokens(t *testing.T) {
	t.Parallel()
	const count = 100
	s := newServiceWith(t, sandbox.Options{TokenLifetime: time.Second})
	s.setDialect(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.workspace(t, s.environment()...)
		w.configure(t, many(application, count))
		s.resetStats(t)
		start := time.Now()
		w.must(t, "apply", "-auto-approve", "-parallelism=10")
		w.mustPlanNothing(t)
		// One login for each of the three processes, and one for every four fifths of a second.
		bound := 3 + int64(time.Since(start)/(800*time.Millisecond)) + 1
		if logins := s.requests(t, control.Token); logins > bound {
			t.Errorf("want at most %d logins in %s, got %d", bound, time.Since(start), logins)
		}
		statistics, err := s.control.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// A token may expire on its way. HTTP 401 proves that the service did nothing.
		if sent := statistics.Operations[control.SubscribeWebhook]; sent.Requests-sent.Answers["401"] != count {
			t.Errorf("want %d subscriptions sent, got %+v", count, sent)
		}
		if n := s.countSubscriptions(t, application); n != count {
			t.Errorf("want %d subscriptions at the service, got %d", count, n)
		}
	})
}

// A subscription needs one request to subscribe and at most one to read it back. The lookup of existing subscriptions
// needs one more request for each application.
func TestSubscriptionRequests(t *testing.T) {
	t.Parallel()
	const count = 20
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		cases := map[string]struct {
			application int64
			apply, plan int64 // maximum of GETs; a slow machine needs more than one for all
		}{
			"of one application": {s.createApplication(t), count * 3 / 2, count / 2},
			"of none":            {0, 0, 0},
		}
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				w := c.workspace(t, s.environment()...)
				w.configure(t, many(test.application, count))
				s.resetStats(t)
				w.must(t, "apply", "-auto-approve")
				posts, gets := s.requests(t, control.SubscribeWebhook), s.requests(t, control.RetrieveWebhook)
				if posts != count || gets > test.apply {
					t.Errorf("apply: want %d POSTs and at most %d GETs, got %d and %d", count, test.apply, posts, gets)
				}
				s.resetStats(t)
				w.mustPlanNothing(t)
				if gets := s.requests(t, control.RetrieveWebhook); gets > test.plan {
					t.Errorf("plan: want at most %d GETs, got %d", test.plan, gets)
				}
			})
		}
	})
}
