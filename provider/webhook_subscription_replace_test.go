package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A replacement without a change of the request keeps the subscriptions, also several of one application at a service
// that returns only the newest.
func TestSubscriptionsAreKeptWithReplace(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "object")
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		configuration := func(more string) string {
			return many(application, 3) + "\n" + secretSubscription(application, more)
		}
		w.configure(t, configuration("one"))
		w.must(t, "apply", "-auto-approve")
		before := attributesIn(w.state(t), "subscription_id")
		s.resetStats(t)
		plan := []string{"plan", "-out=plan.bin", "-replace=idv_webhook_subscription.secret"}
		for n := range 3 {
			plan = append(plan, fmt.Sprintf("-replace=idv_webhook_subscription.many[%d]", n))
		}
		w.must(t, plan...)
		if r := w.must(t, "apply", "plan.bin"); !has(r.warnings, "was kept", "sent nothing") {
			t.Errorf("want a warning, got %+v", r.warnings)
		}
		w.mustPlanNothing(t)
		if n := s.requests(t, control.SubscribeWebhook); n != 0 {
			t.Errorf("want nothing sent, got %d requests", n)
		}
		if after := attributesIn(w.state(t), "subscription_id"); after != before || !strings.Contains(after, "id") {
			t.Errorf("want the response kept, got %s instead of %s", after, before)
		}

		w.configure(t, configuration("two"))
		w.must(t, append(plan[:2:2], plan[3:]...)...)
		w.must(t, "apply", "plan.bin")
		w.mustPlanNothing(t)
		if n := s.requests(t, control.SubscribeWebhook); n != 1 {
			t.Errorf("another secret: want one request, got %d", n)
		}
	})
}

func secretSubscription(application int64, secret string) string {
	return strings.Replace(subscription(application, "https://hooks.example.com/secret", fmt.Sprintf(
		"%s\n  payload_json_wo = jsonencode({ secret = %q })", abandonPolicy, secret)), `"ops"`, `"secret"`, 1)
}

// Without an application, the apply cannot see that it creates what it replaces, if it creates first. So the plan says
// that there is nothing to replace, and nothing is sent.
func TestSubscriptionOfTheAccountIsNotReplacedWithoutAChange(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, lifecycle := range map[string]string{
			"-replace": "", "create_before_destroy": createBeforeDestroy, "replace_triggered_by": replaceTriggeredBy,
		} {
			t.Run(name, func(t *testing.T) {
				w := c.inProcess(t, s.providerBlock())
				configuration := func(events string) string {
					return subscription(0, receiver, abandonPolicy+"\n  "+events+"\n  "+lifecycle) + trigger(name+events)
				}
				w.configure(t, configuration(""))
				w.must(t, "apply", "-auto-approve")
				s.resetStats(t)
				apply := []string{"apply", "-auto-approve", "-replace=" + ops}
				if lifecycle == replaceTriggeredBy {
					apply[2] = "-replace=terraform_data.trigger"
				}
				if r := w.run(t, apply...); !has(r.errors, "nothing to replace", receiver, "`-replace`") {
					t.Errorf("want an error, got %+v", r.errors)
				}
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 0 {
					t.Errorf("want nothing sent, got %d requests", n)
				}
				w.configure(t, configuration(`events = ["application.completed"]`))
				w.must(t, apply...)
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("a change: want one request, got %d", n)
				}
			})
		}
	})
}

// Of a tainted resource, a plan gets no state. The provider has read it before, so the plan says that there is nothing
// to replace: with create_before_destroy, the apply would send a second request.
func TestTaintedSubscriptionOfTheAccountIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, more := range map[string]string{
			"ABANDON": abandonPolicy, "PREVENT": createBeforeDestroy,
			"ABANDON, create_before_destroy": abandonPolicy + "\n  " + createBeforeDestroy,
			"payload_json_wo":                `payload_json_wo = jsonencode({ secret = "s" })` + "\n  " + createBeforeDestroy,
		} {
			t.Run(name, func(t *testing.T) {
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, subscription(0, receiver, more))
				w.must(t, "apply", "-auto-approve")
				s.resetStats(t)
				w.must(t, "taint", ops)
				if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "nothing to replace", receiver, "`untaint`") {
					t.Errorf("want an error, got %+v", r.errors)
				}
				w.must(t, "untaint", ops)
				w.mustPlanNothing(t)
				w.must(t, "taint", ops)
				w.configure(t, subscription(0, otherReceiver, strings.ReplaceAll(more, createBeforeDestroy, "")+"\n"))
				if r := w.run(t, "plan"); len(r.errors) != 0 {
					t.Errorf("a change: got %+v", r.errors)
				}
				if n := s.requests(t, control.SubscribeWebhook); n != 0 {
					t.Errorf("want nothing sent, got %d requests", n)
				}
			})
		}
	})
}

// attributesIn returns the lines of a state with an attribute.
func attributesIn(state, attribute string) string {
	var lines []string
	for line := range strings.Lines(state) {
		if strings.Contains(line, `"`+attribute+`"`) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// A payload_json_wo that is not known during the plan may be another one. The apply finds out.
func TestSubscriptionWithUnknownSecret(t *testing.T) {
	t.Parallel()
	s := newService(t)
	cases := map[string]struct {
		before, after string
		sent          int64
	}{
		"another one": {`input = "one"`, `input = "two"`, 1},
		"the same": {
			"input = \"one\"\n  triggers_replace = 1", "input = \"one\"\n  triggers_replace = 2", 0,
		},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				w := c.inProcess(t, s.providerBlock())
				configure := func(secret string) {
					secret = "resource \"terraform_data\" \"secret\" {\n  " + secret + "\n}\n"
					w.configure(t, secret+subscription(application, receiver,
						abandonPolicy+"\n  payload_json_wo = jsonencode({ secret = terraform_data.secret.output })"))
				}
				configure(test.before)
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				s.resetStats(t)
				configure(test.after)
				if r := w.must(t, "plan", "-out=plan.bin"); !has(r.warnings, "payload_json_wo_version") {
					t.Errorf("want a warning that a replacement may be needed, got %+v", r.warnings)
				}
				w.must(t, "apply", "plan.bin")
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != test.sent {
					t.Errorf("want %d requests, got %d", test.sent, n)
				}
			})
		}
	})
}

// Of a tainted subscription, the apply gets no digest of payload_json_wo. So the plan says that it is the same one.
func TestTaintedSubscriptionWithASecretIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, secretSubscription(application, "one"))
		w.must(t, "apply", "-auto-approve")
		s.resetStats(t)
		w.must(t, "taint", "idv_webhook_subscription.secret")
		if r := w.run(t, "apply", "-auto-approve"); !has(r.errors, "nothing to replace", "`untaint`") {
			t.Errorf("want an error, got %+v", r.errors)
		}
		if n := s.requests(t, control.SubscribeWebhook); n != 0 {
			t.Errorf("want nothing sent, got %d requests", n)
		}
		w.configure(t, secretSubscription(application, "two"))
		w.must(t, "apply", "-auto-approve")
		if n := s.requests(t, control.SubscribeWebhook); n != 1 {
			t.Errorf("another secret: want one request, got %d", n)
		}
	})
}
