package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A subscription whose application exists is absent in two responses is created again.
func TestSubscriptionRemovedAtTheService(t *testing.T) {
	t.Parallel()
	p := newAnsweringProxy(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := p.service.createSubscribedApplication(t)
		w := c.inProcess(t, p.providerBlock())
		w.configure(t, subscription(application, hookURL, ""))
		w.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/%s", application, hookURL))
		p.respond(t, jsonAnswer(200, `[]`))
		r := w.run(t, "plan", "-detailed-exitcode")
		p.answer.Store(nil)
		if r.exit != 2 || !has(r.warnings, "no longer exists", hookURL) {
			t.Errorf("want a plan to create it and a warning, got exit %d, %+v", r.exit, r.warnings)
		}
	})
}

// The service deletes an application after eight weeks. A nightly apply then creates nothing, and says how to remove
// the resource.
func TestSubscriptionOfAnApplicationThatIsGone(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"object", "list", "404"} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			onEachCLI(t, func(t *testing.T, c cli) {
				s.setDialect(t, "retrieveWebhook", "list")
				application := s.createApplication(t)
				w := c.inProcess(t, s.providerBlock())
				config := func(url string) string { return subscription(application, url, "") }
				w.configure(t, config(hookURL))
				w.must(t, "apply", "-auto-approve")
				s.resetStats(t)
				s.setDialect(t, "retrieveWebhook", shape)
				if _, err := s.client.DeleteApplication(t.Context(), application); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					r := w.must(t, "apply", "-auto-approve")
					if len(r.warnings) != 1 || !has(r.warnings, "no longer exists", "delete the resource from the configuration") {
						t.Errorf("want one warning that says what to do, got %+v", r.warnings)
					}
					w.mustPlanNothing(t)
					if !strings.Contains(w.state(t), `"readable": false`) {
						t.Errorf("want readable = false, got %s", w.state(t))
					}
				}
				w.configure(t, config("https://hooks.example.com/other"))
				if r := w.run(t, "plan"); !has(r.errors, "no longer exists", "Nothing was sent") {
					t.Errorf("another URL: want an error, got %+v", r.errors)
				}
				w.configure(t, config(hookURL)+strings.ReplaceAll(config("https://hooks.example.com/other"), `"ops"`, `"new"`))
				if r := w.run(t, "apply", "-auto-approve"); !has(r.errors, "no longer exists", "Nothing was sent") {
					t.Errorf("a new subscription: want an error, got %+v", r.errors)
				}
				w.configure(t, "") // PREVENT does not hold for it
				if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "no longer exists", "only removes") {
					t.Errorf("want a note, got %+v", r.warnings)
				}
				if strings.Contains(w.state(t), hookURL) || s.requests(t, control.SubscribeWebhook) != 0 {
					t.Errorf("want an empty state and no POST, got %s", w.state(t))
				}
			})
		})
	}
}

// An unclear response must not remove the subscription from the state: the next apply would create a second one.
func TestSubscriptionStaysOnUnclearResponses(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*testing.T, *service){
		"not yet visible": func(t *testing.T, s *service) {
			s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 404, Times: 2})
		},
		"HTML": func(t *testing.T, s *service) {
			s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Garbage, Times: 2})
		},
		"only another, newer one": func(t *testing.T, s *service) { s.setDialect(t, "retrieveWebhook", "object") },
	}
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, breakService := range cases {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, fmt.Sprintf(`
					resource "idv_webhook_subscription" "ops" {
					  url            = "https://hooks.example.com/old"
					  application_id = %[1]d
					}
					resource "idv_webhook_subscription" "newer" {
					  url            = "https://hooks.example.com/new"
					  application_id = %[1]d
					  depends_on     = [idv_webhook_subscription.ops]
					}`, application))
				s.setDialect(t, "retrieveWebhook", "list")
				w.must(t, "apply", "-auto-approve")
				breakService(t, s)
				w.mustPlanNothing(t)
			})
		}
	})
}

// A service that has never returned the subscription may never return any.
func TestSubscriptionNeverReturned(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "404")
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "cannot be read back", "does not return it yet") {
			t.Errorf("want a warning with the reason, got %+v", r.warnings)
		}
		if r := w.mustPlanNothing(t); len(r.warnings) != 0 {
			t.Errorf("want no warning in each plan, got %+v", r.warnings)
		}
		if !strings.Contains(w.state(t), `"readable": false`) {
			t.Errorf("want readable = false: %s", w.state(t))
		}
	})
}

func TestSubscriptionReadOfAnUnreachableServiceIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		w.must(t, "apply", "-auto-approve")
		s.fault(t, control.Fault{
			Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 500, Times: control.Always,
		})
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "500") {
			t.Errorf("want one error, got %+v", r.errors)
		}
		if err := s.control.ClearFaults(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.mustPlanNothing(t)
	})
}

// Whatever the service returns as the webhooks of an application that is gone, nothing is created for it.
func TestSubscriptionOfAnApplicationThatIsGoneIsNotCreated(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a message": `{"message":"none"}`, "a part of a list": `{"next":"/?page=2","results":[` + otherWebhookJSON + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAnsweringProxy(t)
			application := p.service.createApplication(t)
			if _, err := p.service.client.DeleteApplication(t.Context(), application); err != nil {
				t.Fatal(err)
			}
			p.respond(t, jsonAnswer(200, body))
			s, config := newSession(t, p.url), values{"url": hookURL, "application_id": application}
			planned := s.plan(t, config)
			applied := newSession(t, p.url).apply(t, config, planned)
			if !hasWarning(planned.Diagnostics, "no longer exists") || !hasError(applied.Diagnostics, "no longer exists") {
				t.Errorf("want a warning and an error, got %s", formatDiagnostics(applied.Diagnostics))
			}
			if posts, reads := p.posts.Load(), p.reads.Load(); posts != 0 || reads != 0 {
				t.Errorf("want the application asked first, and no POST, got %d reads, %d POSTs", reads, posts)
			}
		})
	}
}
