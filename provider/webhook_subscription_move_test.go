package provider_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The states have the format of the other providers, which the tests do not run.
func TestSubscriptionMoveState(t *testing.T) {
	const restful, restapi = "registry.terraform.io/magodo/restful", "registry.terraform.io/Mastercard/restapi"
	const builtin = "terraform.io/builtin/terraform"
	const url, application = "https://hooks.example.com/idv", `tftypes.Number<"4711">`
	cases := map[string]struct {
		provider, resourceType, state string
		want                          map[string]any // nil: an error
	}{
		"restful_operation": {
			restful, "restful_operation",
			`{"id": "/ext/webhooks/subscribe", "path": "/ext/webhooks/subscribe", "method": "POST",
			  "output": {"value": {"id": 7}, "type": ["object", {"id": "number"}]},
			  "body": {"value": {"url": "` + url + `", "application_id": 4711, "events": ["b", "a"]},
			           "type": ["object", {"url": "string"}]}}`,
			map[string]any{"url": url, "application_id": application, "events": []any{"a", "b"}},
		},
		"restful_operation, of a mirror": {
			"registry.opentofu.org/magodo/restful", "restful_operation",
			`{"body": "{\"targetUrl\": \"` + url + `\", \"applicationId\": \"4711\"}"}`,
			map[string]any{"url": url, "application_id": application},
		},
		"restapi_object": {
			restapi, "restapi_object",
			`{"id": "7", "path": "/ext/webhooks/subscribe",
			  "data": "{\"url\":\"` + url + `\",\"event_types\":[\"a\"]}"}`,
			map[string]any{"url": url, "events": []any{"a"}},
		},
		"terraform_data with an object": {
			builtin, "terraform_data",
			`{"id": "x", "input": {"value": {"url": "` + url + `", "application_id": 4711},
			                       "type": ["object", {"url": "string", "application_id": "number"}]}}`,
			map[string]any{"url": url, "application_id": application},
		},
		"terraform_data with a string": {
			builtin, "terraform_data", `{"id": "x", "input": {"value": "` + url + `", "type": "string"}}`,
			map[string]any{"url": url},
		},
		"a state without a URL": {
			builtin, "terraform_data", `{"id": "x", "input": {"value": "canary", "type": "string"}}`, nil,
		},
		"a URL with another scheme": {restapi, "restapi_object", `{"data": "{\"url\":\"ftp://canary\"}"}`, nil},
		"no state":                  {restapi, "restapi_object", `null`, nil},
		"another resource":          {restful, "restful_resource", `{"body": {"url": "` + url + `"}}`, nil},
		"another provider": {
			"registry.terraform.io/canary/restapi", "restapi_object", `{"data": "{\"url\":\"` + url + `\"}"}`, nil,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			p := newProtocol(t)
			moved, err := p.MoveResourceState(t.Context(), &tfprotov6.MoveResourceStateRequest{
				SourceProviderAddress: test.provider, SourceTypeName: test.resourceType, TargetTypeName: subscriptionType,
				SourceState: &tfprotov6.RawState{JSON: []byte(test.state)},
			})
			if test.want == nil {
				if err != nil || len(moved.Diagnostics) != 1 || moved.TargetState != nil {
					t.Fatalf("want one error and no state, got %v, %+v", err, moved.Diagnostics)
				}
				if d := moved.Diagnostics[0]; d.Severity != tfprotov6.DiagnosticSeverityError || strings.Contains(d.Detail, "ftp") {
					t.Errorf("want an error without the value, got %+v", d)
				}
				return
			}
			noErrors(t, err, moved.Diagnostics)
			got := p.attributesOfState(t, moved.TargetState)
			maps.Copy(test.want, map[string]any{
				"deletion_policy": "PREVENT", "on_existing": "fail", "drift_detection": "unavailable", "id": got["id"],
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("state: %s", diff)
			}
		})
	}
}

func TestSubscriptionMovedBlock(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		w := c.inProcess(t, s.providerBlock())
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		w.must(t, "apply", "-auto-approve") // creates it at the service
		w.must(t, "state", "rm", ops)
		w.configure(t, fmt.Sprintf(`resource "terraform_data" "hook" {
		  input = { url = "https://hooks.example.com/idv", application_id = %d }
		}`, application))
		w.must(t, "apply", "-auto-approve")
		s.resetStats(t)
		arguments := "events = [\"a\"]\n  payload_json_wo = jsonencode({ secret = \"s3cret\" })"
		w.configure(t, subscription(application, "https://hooks.example.com/idv", arguments)+`
			moved {
			  from = terraform_data.hook
			  to   = idv_webhook_subscription.ops
			}`)
		r := w.must(t, "apply", "-auto-approve")
		if !has(r.warnings, "without sending it") {
			t.Errorf("want a warning that nothing is sent, got %+v", r.warnings)
		}
		w.mustPlanNothing(t)
		if n := s.requests(t, control.SubscribeWebhook); n != 0 {
			t.Errorf("want nothing sent, got %d requests", n)
		}
		if state := w.state(t); !strings.Contains(state, `"drift_detection": "available"`) {
			t.Errorf("want it found, got %s", state)
		}
	})
}
