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
	if version := p.schema.ResourceSchemas[subscriptionType].Version; version != 1 {
		t.Errorf("the schema has version %d: add a golden state of it, and keep the old ones", version)
	}
	upgraded, err := p.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: subscriptionType, Version: 0, RawState: &tfprotov6.RawState{JSON: []byte(read(t, goldenState))},
	})
	noErrors(t, err, upgraded.Diagnostics)
	want := map[string]any{
		"id":                      "4711/sha256:" + hookDigest,
		"url":                     "https://hooks.example.com/idv",
		"application_id":          `tftypes.Number<"4711">`,
		"events":                  []any{"application.completed", "application.rejected"},
		"payload_json":            `{"note":"kept"}`,
		"payload_json_wo_version": `tftypes.Number<"1">`,
		"deletion_policy":         "ABANDON",
		"output":                  map[string]any{"response_json": `{"id":7}`},
		"readable":                `tftypes.Bool<"true">`,
		"timeouts":                map[string]any{"create": "5m"},
	}
	if diff := cmp.Diff(want, p.attributesOfState(t, upgraded.UpgradedState)); diff != "" {
		t.Errorf("the state of version 0 (-want +got): %s", diff)
	}
}

// A state that nobody can read is an error that says how to continue.
func TestSubscriptionStateOfUnknownFormat(t *testing.T) {
	p := newProtocol(t)
	upgraded, err := p.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: subscriptionType, Version: 0, RawState: &tfprotov6.RawState{JSON: []byte(`{"url": 7}`)},
	})
	if err != nil || !hasError(upgraded.Diagnostics, "older version", "state rm", "import") {
		t.Errorf("want an error that says what to do, got %v, %s", err, formatDiagnostics(upgraded.Diagnostics))
	}
}

// hookDigest is the SHA-256 of hookURL.
const hookDigest = "4c8b2b78027533cf2063fa8072d894c4f3e01bdaeb5d441d669dc33a751511b8"

const unreachable = `
provider "idv" {
  base_url = "http://127.0.0.1:1"
  username = "u"
  password = "p"
}
`

// The same in a state file, read by the CLIs. Without an application, the provider sends no request.
func TestSubscriptionStateFileOfVersion0(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, unreachable)
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

// An older version of the provider stored the names of the fields of payload_json_wo, and a digest of each value. Its
// digest of the whole still counts. What it stored of a response stays, because it may hold a secret that the service
// returned only once.
func TestSubscriptionWriteOnlyDigestOfVersion0(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, unreachable)
		old := read(t, "testdata/state_v0_write_only.json")
		if private := privateStateOf(t, old); !containsAll(private, []string{`"leaves"`, `"fields":["secret"]`}) {
			t.Fatalf("the state is not one of version 0: %s", private)
		}
		write(t, filepath.Join(w.dir, "terraform.tfstate"), old)
		const unchanged = `payload_json_wo = jsonencode({ secret = "one" })`
		w.configure(t, subscription(0, "https://hooks.example.com/idv", unchanged))
		w.mustPlanNothing(t)
		w.configure(t, subscription(0, "https://hooks.example.com/idv", `payload_json_wo = jsonencode({ secret = "two" })`))
		if r := w.run(t, "plan"); !has(r.errors, "payload_json_wo", "deletion_policy") {
			t.Errorf("want a plan that would replace the subscription, got %+v", r.errors)
		}
		w.must(t, "apply", "-auto-approve", "-refresh-only")
		// The service is not there, and the policy forbids a replacement.
		w.configure(t, subscription(0, "https://hooks.example.com/idv", unchanged+"\ntimeouts {\n  read = \"5s\"\n}"))
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		state := w.state(t)
		if private := privateStateOf(t, state); strings.Contains(private, "leaves") || strings.Contains(private, "fields") {
			t.Errorf("the private state still has the digests of values: %s", private)
		}
		if !containsAll(state, []string{`"response_json"`, "stored by an older version"}) {
			t.Errorf("want the response as it was, got %s", state)
		}
	})
}
