package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// lostResponses are the ways to lose the response for a subscription that the service has created.
var lostResponses = map[string]control.Fault{
	"connection closed":       {Operation: control.SubscribeWebhook, Kind: control.Close, AfterWork: true},
	"connection reset":        {Operation: control.SubscribeWebhook, Kind: control.ResetConnection, AfterWork: true},
	"500 after the work":      {Operation: control.SubscribeWebhook, Kind: control.Answer, Status: 500, AfterWork: true},
	"an HTML page of a proxy": {Operation: control.SubscribeWebhook, Kind: control.Garbage, Status: 502, AfterWork: true},
}

func TestSubscriptionWithLostResponseIsReadBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, fault := range lostResponses {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
				s.fault(t, fault)
				if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "by reading it back") {
					t.Errorf("want a warning that the response was lost, got %+v", r.warnings)
				}
				w.mustPlanNothing(t)
				if n := s.countSubscriptions(t, application); n != 1 {
					t.Errorf("want one subscription, got %d", n)
				}
			})
		}
	})
}

// A body that is cut off may be an error's. So the subscription is read back, or the error says that it may exist.
func TestSubscriptionWithTruncatedResponse(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for _, application := range []int64{0, s.createApplication(t)} {
			w := c.inProcess(t, s.providerBlock())
			w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
			s.resetStats(t)
			s.fault(t, control.Fault{Operation: control.SubscribeWebhook, Kind: control.Truncate, AfterWork: true})
			r := w.must(t, "apply", "-auto-approve")
			if application == 0 && !has(r.warnings, "may not exist", "state rm", "account/sha256:"+hookDigest) {
				t.Errorf("want a warning that says what to do, got %+v", r.warnings)
			}
			if strings.Contains(w.state(t), "tainted") {
				t.Error("the resource is tainted")
			}
			w.mustPlanNothing(t)
			if n := s.requests(t, control.SubscribeWebhook); n != 1 {
				t.Errorf("want one subscription sent, got %d", n)
			}
		}
	})
}

// What the service only accepts is in the state, with a warning, and is not sent again. This service never makes it.
func TestSubscriptionThatIsAccepted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "asyncWork", "never")
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(0, "https://hooks.example.com/idv", ""))
		s.resetStats(t)
		if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "later", "HTTP 202 Accepted", "not send it again") {
			t.Errorf("want a warning, got %+v", r.warnings)
		}
		w.mustPlanNothing(t)
		if n := s.requests(t, control.SubscribeWebhook); n != 1 {
			t.Errorf("want one subscription sent, got %d", n)
		}
	})
}

// What cannot be read back stays in the state, with a warning in every plan, and is not sent again.
func TestSubscriptionWithLostResponseIsKept(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		application bool
		fault       control.Fault
		confirmed   bool // by the first read that works
	}{
		"reading back fails":     {application: true, confirmed: true, fault: lostResponses["connection closed"]},
		"without an application": {fault: lostResponses["connection closed"]},
		"it was never created":   {fault: control.Fault{Operation: control.SubscribeWebhook, Kind: control.Close}},
	}
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				var application int64
				if test.application {
					application = s.createApplication(t)
				}
				p := newAnsweringProxyFor(t, s)
				p.breakReads(html(200))
				w := c.workspace(t, p.environment()...)
				w.configure(t, subscription(application, hookURL, abandonPolicy))
				s.resetStats(t)
				s.fault(t, test.fault)
				for range 3 {
					if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "may not exist", hookURL, "state rm") {
						t.Errorf("want a warning that says what may exist and what to do, got %+v", r.warnings)
					}
				}
				if strings.Contains(w.state(t), "tainted") || !strings.Contains(w.state(t), `"readable": false`) {
					t.Errorf("want it in the state, got %s", w.state(t))
				}
				p.answer.Store(nil)
				w.must(t, "apply", "-auto-approve")
				if r := w.mustPlanNothing(t); test.confirmed != (len(r.warnings) == 0) {
					t.Errorf("want warnings until a read shows it, got %+v", r.warnings)
				}
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("want one request to subscribe, got %d", n)
				}
				w.must(t, "state", "rm", ops)
				if test.application {
					return
				}
				w.must(t, "import", "-input=false", ops, "account/"+hookURL)
				w.must(t, "apply", "-auto-approve") // deletion_policy
				if r := w.mustPlanNothing(t); len(r.warnings) > 0 || s.requests(t, control.SubscribeWebhook) != 1 {
					t.Errorf("want an import to end the warnings, got %+v", r.warnings)
				}
			})
		}
	})
}

// A service that shows that nothing was created is asked again by the next apply.
func TestSubscriptionWithLostRequest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, hookURL, "timeouts {\n  create = \"3s\"\n}"))
		s.fault(t, control.Fault{Operation: control.SubscribeWebhook, Kind: control.Close})
		r := w.run(t, "apply", "-auto-approve")
		if len(r.errors) != 1 || !has(r.errors, "may exist", hookURL, "Apply again", "import {", "nothing is tainted") {
			t.Errorf("want one error that says what may exist and what to do, got %+v", r.errors)
		}
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		if n := s.countSubscriptions(t, application); n != 1 {
			t.Errorf("want one subscription, got %d", n)
		}
	})
}

// Several subscriptions of one application lose their responses in the same apply, and the service returns only the
// newest.
func TestSubscriptionsOfOneApplicationWithLostResponses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, fmt.Sprintf(`resource "idv_webhook_subscription" "many" {
		  count = 3
		  url = "https://hooks.example.com/${count.index}"
		  application_id = %d
		}`, application))
		fault := lostResponses["connection closed"]
		fault.Times = 3
		s.fault(t, fault)
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		if n := s.countSubscriptions(t, application); n != 3 {
			t.Errorf("want three subscriptions, got %d", n)
		}
	})
}

func TestSubscriptionReadBackErrorIsAWarning(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		p := newAnsweringProxyFor(t, s)
		p.breakReads(html(500))
		w := c.workspace(t, p.environment()...)
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		s.setDialect(t, "subscribeAnswer", "204")
		if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "could not be read back") {
			t.Errorf("want a warning, got %+v", r.warnings)
		}
		if strings.Contains(w.state(t), "tainted") {
			t.Error("the resource is tainted")
		}
		p.answer.Store(nil)
		w.mustPlanNothing(t)
		if n := s.countSubscriptions(t, application); n != 1 {
			t.Errorf("want one subscription, got %d", n)
		}
	})
}

// A service that has not shown the subscription may never show any. So it is kept, and the next apply sends nothing.
func TestSubscriptionWithLostResponseAtAServiceThatShowsNone(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, answer := range map[string]webhookAnswer{
			"404": jsonAnswer(404, `{"title":"none","status":"404"}`), "empty": jsonAnswer(204, ""),
		} {
			t.Run(name, func(t *testing.T) {
				p := newAnsweringProxy(t)
				p.respond(t, answer)
				application := p.service.createApplication(t)
				w := c.inProcess(t, p.providerBlock())
				w.configure(t, subscription(application, hookURL, "timeouts {\n  create = \"3s\"\n}"))
				p.service.fault(t, lostResponses["connection closed"])
				for range 2 {
					if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "may not exist", "state rm") {
						t.Errorf("want a warning that says what to do, got %+v", r.warnings)
					}
				}
				if n := p.posts.Load(); n != 1 || strings.Contains(w.state(t), "tainted") {
					t.Errorf("want one POST and nothing tainted, got %d, %s", n, w.state(t))
				}
			})
		}
	})
}
