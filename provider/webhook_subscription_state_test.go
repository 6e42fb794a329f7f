package provider_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// goldenState is a state of a user, which must stay readable. A change of the schema that breaks it needs a new version
// of the schema and an upgrade.
const goldenState = "testdata/subscription_v0.json"

func TestSubscriptionStateOfVersion0(t *testing.T) {
	p := newProtocol(t)
	if version := p.schema.ResourceSchemas[subscriptionType].Version; version != 0 {
		t.Errorf("the schema has version %d: add a golden state of it, and keep the old ones", version)
	}
	upgraded, err := p.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: subscriptionType, Version: 0, RawState: &tfprotov6.RawState{JSON: []byte(read(t, goldenState))},
	})
	noErrors(t, err, upgraded.Diagnostics)
	want := map[string]any{
		"id":                      "4711/https://hooks.example.com/idv",
		"url":                     "https://hooks.example.com/idv",
		"application_id":          `tftypes.Number<"4711">`,
		"events":                  []any{"application.completed", "application.rejected"},
		"payload_json":            `{"note":"kept"}`,
		"payload_json_wo_version": `tftypes.Number<"1">`,
		"field_names":             map[string]any{"url": "target_url"},
		"deletion_policy":         "ABANDON",
		"on_existing":             "adopt",
		"response_json":           `{"id":7}`,
		"webhook_json":            `{"id":7,"target_url":"https://hooks.example.com/idv"}`,
		"drift_detection":         "available",
		"timeouts":                map[string]any{"create": "5m"},
	}
	if diff := cmp.Diff(want, p.attributesOfState(t, upgraded.UpgradedState)); diff != "" {
		t.Errorf("the state of version 0 (-want +got): %s", diff)
	}
}

// The same in a state file, read by the CLIs. Without an application, the provider sends no request.
func TestSubscriptionStateFileOfVersion0(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, "IDV_BASE_URL=http://127.0.0.1:1", "IDV_USERNAME=u", "IDV_PASSWORD=p")
		write(t, filepath.Join(w.dir, "terraform.tfstate"), read(t, "testdata/state_v0.json"))
		w.configure(t, subscription(0, "https://hooks.example.com/idv", `events = ["application.completed"]`))
		w.mustPlanNothing(t)
		if r := w.run(t, "plan", "-destroy"); !has(r.errors, "deletion_policy") {
			t.Errorf("want the policy of the state to count, got %+v", r.errors)
		}
		if !strings.Contains(w.state(t), "https://hooks.example.com/idv") {
			t.Error("the state is gone")
		}
	})
}
