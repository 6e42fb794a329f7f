package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const ops = "idv_webhook_subscription.ops"

// subscription returns a configuration of the resource "ops" with further arguments.
func subscription(application int64, url, more string) string {
	id := ""
	if application != 0 {
		id = fmt.Sprintf("  application_id = %d\n", application)
	}
	return fmt.Sprintf("resource \"idv_webhook_subscription\" \"ops\" {\n  url = %q\n%s  %s\n}\n", url, id, more)
}

func TestSubscriptionLifecycle(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		s.resetStats(t)
		const url, abandon = "https://hooks.example.com/idv", "\n  deletion_policy = \"ABANDON\"\n"
		config := func(more string) string { return s.providerBlock() + subscription(application, url, more) }
		id := fmt.Sprintf("%d/sha256:%s", application, hookDigest)
		value := func(attribute string, want knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue(ops, tfjsonpath.New(attribute), want)
		}
		c.testCase(t,
			resource.TestStep{
				Config: config(`events = ["application.completed", "application.rejected"]
				  payload_json = jsonencode({ note = "kept", n = 1 })
				  response_export_values = { note = "/note", number = "/n", all = "", none = "/none" }` + abandon),
				ConfigStateChecks: []statecheck.StateCheck{
					value("id", knownvalue.StringExact(id)),
					value("readable", knownvalue.Bool(true)),
					value("subscription_id", knownvalue.NotNull()),
					value("response_pointers", knownvalue.ListExact([]knownvalue.Check{
						knownvalue.StringExact("/application_id"), knownvalue.StringExact("/id"), knownvalue.StringExact("/n"),
						knownvalue.StringExact("/note"), knownvalue.StringExact("/url"), knownvalue.StringExact("/events/0"),
					})),
					value("output", knownvalue.MapExact(map[string]knownvalue.Check{
						"note": knownvalue.StringExact("kept"), "number": knownvalue.StringExact("1"), "none": knownvalue.Null(),
						"all": knownvalue.StringRegexp(regexp.MustCompile(`"application_id":`)),
					})),
				},
			},
			resource.TestStep{ // other order of the set, other format of the JSON
				Config: config(`events = ["application.rejected", "application.completed", "application.rejected"]
				  payload_json = jsonencode({ n = 1, note = "kept" })
				  response_export_values = { note = "/note", number = "/n", all = "", none = "/none" }` + abandon),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			resource.TestStep{ // a change that sends nothing
				Config: config(`events = ["application.rejected", "application.completed"]
				  payload_json = "{ \"note\": \"kept\", \"n\": 1 }"
				  response_export_values = { note = "/note", later = "/id" }` + abandon),
				ConfigStateChecks: []statecheck.StateCheck{value("output", knownvalue.MapExact(map[string]knownvalue.Check{
					"note": knownvalue.StringExact("kept"), "later": knownvalue.Null(),
				}))},
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(ops, plancheck.ResourceActionUpdate),
				}},
			},
			resource.TestStep{
				ResourceName: ops, ImportState: true, ImportStateId: id, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{
					"deletion_policy", "payload_json", "response_export_values", "response_pointers", "output",
				},
			},
		)
		if n := s.requests(t, control.SubscribeWebhook); n != 1 {
			t.Errorf("want one subscription sent, got %d", n)
		}
		if n := s.countSubscriptions(t, application); n != 1 {
			t.Errorf("want one subscription at the service, got %d", n)
		}
	})
}

// The plan after an import shows at most what only the provider knows, and its apply sends nothing.
func TestSubscriptionImport(t *testing.T) {
	t.Parallel()
	s := newService(t)
	cases := map[string]struct {
		more, changes string
	}{
		"defaults": {},
		"other choices": {
			"events = [\"b\", \"a\"]\n  deletion_policy = \"ABANDON\"\n  response_export_values = { id = \"/id\" }\n",
			"0 to add, 1 to change, 0 to destroy",
		},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				url := "https://hooks.example.com/idv"
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, subscription(application, url, test.more))
				w.must(t, "apply", "-auto-approve")
				w.must(t, "state", "rm", ops)
				w.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/%s", application, url))
				if test.changes == "" {
					w.mustPlanNothing(t)
				} else if r := w.must(t, "plan", "-out=plan.bin"); !strings.Contains(r.output, test.changes) {
					t.Errorf("want a plan with %q, got\n%s", test.changes, r.output)
				}
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				if n := s.countSubscriptions(t, application); n != 1 {
					t.Errorf("want one subscription at the service, got %d", n)
				}
			})
		}
	})
}

func TestSubscriptionImportBlocks(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		config := func(more string) string {
			return s.providerBlock() + subscription(application, "https://hooks.example.com/idv", "events = [\"a\"]\n"+more)
		}
		steps := []resource.TestStep{
			{Config: config("")},
			{ResourceName: ops, ImportState: true, ImportStateKind: resource.ImportBlockWithID},
		}
		if c.hasIdentity(t) {
			steps = append(steps, resource.TestStep{
				ResourceName: ops, ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity,
			})
		}
		c.testCase(t, append(steps, resource.TestStep{Config: config(abandonPolicy)})...)
	})
}

func TestSubscriptionImportErrors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		for id, want := range map[string]string{
			"https://hooks.example.com/idv":   "APPLICATION_ID/URL",
			"0/https://hooks.example.com/idv": "APPLICATION_ID/URL",
			"4711":                            "APPLICATION_ID/URL",
			"4711/sha256:4c8b":                "APPLICATION_ID/sha256:HEX",
			"account/ftp://hooks.example.com": "account/sha256:HEX",
			fmt.Sprintf("%d/https://hooks.example.com/idv", application): "non-existent",
		} {
			if r := w.run(t, "import", "-input=false", "-no-color", ops, id); r.exit == 0 || !strings.Contains(r.output, want) {
				t.Errorf("import of %q: want an error with %q, got exit %d\n%s", id, want, r.exit, r.output)
			}
		}
	})
}

// An import trusts the user where the response of the service is unclear: after a lost response, there may be no other
// way to manage the subscription.
func TestSubscriptionImportWithUnclearResponse(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "object") // only the newest
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		const url = "https://hooks.example.com/idv"
		for _, receiver := range []string{url, "https://hooks.example.com/newer"} {
			request := client.Subscription{URL: client.Hide(receiver), ApplicationID: application}
			if _, err := s.client.SubscribeWebhook(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, url, ""))
		id := fmt.Sprintf("%d/%s", application, url)
		output := w.must(t, "import", "-input=false", "-no-color", ops, id).output
		if !strings.Contains(output, "cannot be read back") {
			t.Errorf("want a warning, got\n%s", output)
		}
		w.mustPlanNothing(t)
		if state := w.state(t); !strings.Contains(state, `"readable": false`) {
			t.Errorf("want readable = false, got\n%s", state)
		}
	})
}

func TestSubscriptionPrevent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		config := subscription(application, "https://hooks.example.com/old", "")
		w.configure(t, config)
		w.must(t, "apply", "-auto-approve")
		s.resetStats(t)

		mustFail := func(name, configuration string, arguments ...string) {
			t.Helper()
			w.configure(t, configuration)
			r := w.run(t, arguments...)
			if len(r.errors) != 1 || !has(r.errors, "deletion_policy", "https://hooks.example.com/old", "ABANDON") {
				t.Errorf("%s: want one error that names deletion_policy and the URL, got %+v\n%s", name, r.errors, r.output)
			}
		}
		mustFail("destroy", config, "plan", "-destroy")
		mustFail("the block is removed", "", "plan")
		mustFail("another URL", subscription(application, "https://hooks.example.com/new", ""), "plan")
		mustFail("no application", subscription(0, "https://hooks.example.com/old", ""), "plan")
		mustFail("events", subscription(application, "https://hooks.example.com/old", `events = ["a"]`), "plan")
		mustFail("payload", subscription(application, "https://hooks.example.com/old", `payload_json = "{\"a\":1}"`), "plan")
		mustFail("-replace", config, "plan", "-replace="+ops)
		w.must(t, "taint", ops)
		mustFail("tainted, which ModifyPlan does not see", config, "apply", "-auto-approve")
		w.must(t, "untaint", ops)
		w.configure(t, config)
		w.mustPlanNothing(t)
		if n := s.requests(t, control.SubscribeWebhook); n != 0 {
			t.Errorf("want no further subscription, got %d", n)
		}
	})
}

func TestSubscriptionAbandon(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, "https://hooks.example.com/old", ""))
		w.must(t, "apply", "-auto-approve")

		mustWarn := func(url string, arguments ...string) {
			t.Helper()
			if r := w.must(t, arguments...); !has(r.warnings, "remains at the service", url) {
				t.Errorf("%v: want a warning with %s, got %+v", arguments, url, r.warnings)
			}
		}
		// The configured policy counts for a replacement, and the last applied one for a destroy.
		w.configure(t, subscription(application, "https://hooks.example.com/new", `deletion_policy = "ABANDON"`))
		mustWarn("https://hooks.example.com/old", "plan")
		mustWarn("https://hooks.example.com/old", "apply", "-auto-approve")
		w.mustPlanNothing(t)
		mustWarn("https://hooks.example.com/new", "plan", "-destroy")
		mustWarn("https://hooks.example.com/new", "destroy", "-auto-approve")
		if strings.Contains(w.state(t), "hooks.example.com") {
			t.Errorf("the state still has it:\n%s", w.state(t))
		}
		if n := s.countSubscriptions(t, application); n != 2 {
			t.Errorf("want both subscriptions left at the service, got %d", n)
		}
	})
}

// With create_before_destroy, Terraform destroys the old subscription after it has created the new one. An error would
// come too late, and every later plan would fail, whatever the configuration.
func TestSubscriptionCreateBeforeDestroy(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, application := range map[string]int64{"of an application": s.createApplication(t), "of none": 0} {
			t.Run(name, func(t *testing.T) {
				w := c.inProcess(t, s.providerBlock())
				configure := func(url, more string) {
					w.configure(t, subscription(application, url, more+"\n  lifecycle {\n    create_before_destroy = true\n  }"))
				}
				const old, abandon = "https://hooks.example.com/old", "deletion_policy = \"ABANDON\""
				configure(old, "")
				w.must(t, "apply", "-auto-approve")
				s.resetStats(t)

				mustFail := func(what string, arguments ...string) {
					t.Helper()
					if r := w.run(t, arguments...); len(r.errors) != 1 || !has(r.errors, "deletion_policy", old, "ABANDON") {
						t.Errorf("%s: want one error that names deletion_policy and the URL, got %+v", what, r.errors)
					}
				}
				mustFail("-replace", "plan", "-replace="+ops)
				mustFail("-replace", "apply", "-auto-approve", "-replace="+ops)
				if n := s.requests(t, control.SubscribeWebhook); n != 0 {
					t.Errorf("want nothing sent, got %d requests", n)
				}
				configure("https://hooks.example.com/new", abandon)
				if application != 0 { // a lookup that fails in the apply deposes nothing
					w.must(t, "plan", "-out=plan.bin")
					s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 403, Times: 2})
					r := w.run(t, "apply", "plan.bin")
					if len(r.errors) != 1 || !has(r.errors, "Cannot look up") || strings.Contains(w.state(t), "deposed") {
						t.Errorf("want one error and the state as it was, got %+v, %s", r.errors, w.state(t))
					}
				}
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("want one subscription sent, got %d requests", n)
				}
				if application != 0 {
					for range 2 {
						r := w.run(t, "apply", "-auto-approve", "-replace="+ops)
						if len(r.errors) != 1 || !has(r.errors, "already exists", "create_before_destroy") {
							t.Errorf("-replace: want an error that names create_before_destroy, got %+v", r.errors)
						}
						if strings.Contains(w.state(t), "deposed") {
							t.Error("-replace: the state has a deposed object")
						}
					}
					w.mustPlanNothing(t)
					w.must(t, "apply", "-auto-approve")
					if n := s.requests(t, control.SubscribeWebhook); n != 1 {
						t.Errorf("-replace: want nothing sent, got %d requests", n-1)
					}
				}
			})
		}
	})
}

// A create that finds an equal subscription prints the block that imports it.
func TestSubscriptionExists(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, shape := range []string{"object", "list", "wrapped"} {
		s.setDialect(t, "retrieveWebhook", shape)
		t.Run(shape, func(t *testing.T) {
			onEachCLI(t, func(t *testing.T, c cli) {
				application := s.createApplication(t)
				first, second := c.inProcess(t, s.providerBlock()), c.inProcess(t, s.providerBlock())
				first.configure(t, subscription(application, hookURL, ""))
				first.must(t, "apply", "-auto-approve")
				s.resetStats(t)

				config := subscription(application, hookURL, "")
				second.configure(t, config)
				r := second.run(t, "apply", "-auto-approve")
				if len(r.errors) != 1 || !has(r.errors, "already exists", "import {") {
					t.Fatalf("want one error with an import block, got %+v", r.errors)
				}
				_, block, _ := strings.Cut(r.errors[0].Detail, "import {")
				block, _, _ = strings.Cut(block, "}")
				second.configure(t, config+"import {"+strings.Replace(block, "idv_webhook_subscription.NAME", ops, 1)+"}\n")
				second.must(t, "apply", "-auto-approve")
				second.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 0 {
					t.Errorf("want nothing sent, got %d requests", n)
				}
			})
		})
	}
}

// Terraform creates duplicates in one configuration at the same time. Only one of them may succeed.
func TestSubscriptionDuplicatesInOneConfiguration(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, application := range map[string]string{
			"of an application": fmt.Sprint(s.createApplication(t)), "of none": "null",
		} {
			t.Run(name, func(t *testing.T) {
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, fmt.Sprintf(`resource "idv_webhook_subscription" "duplicate" {
				  count = 4
				  url = "https://hooks.example.com/idv"
				  application_id = %s
				}`, application))
				s.resetStats(t)
				if r := w.run(t, "apply", "-auto-approve"); len(r.errors) != 3 || !has(r.errors, "already exists") {
					t.Errorf("want three errors, got %+v", r.errors)
				}
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("want one subscription, got %d", n)
				}
			})
		}
	})
}
