package provider_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// hookDigest is the SHA-256 of hookURL.
const hookDigest = "4c8b2b78027533cf2063fa8072d894c4f3e01bdaeb5d441d669dc33a751511b8"

const unreachable = `
provider "idv" {
  base_url = "http://127.0.0.1:1"
  username = "u"
  password = "p"
}
`

// A state of a user must stay readable, with the private data in it. A change of the schema that breaks it needs a new
// version of the schema and an upgrade. Without an application, the provider sends no request.
func TestSubscriptionStateFile(t *testing.T) {
	t.Parallel()
	if version := newProtocol(t).schema.ResourceSchemas[subscriptionType].Version; version != 1 {
		t.Errorf("the schema has version %d: add a state of it, and keep the old ones", version)
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, unreachable)
		write(t, filepath.Join(w.dir, "terraform.tfstate"), read(t, "testdata/state_v1.json"))
		configure := func(secret string) {
			w.configure(t, subscription(0, hookURL, `payload_json_wo = jsonencode({ secret = "`+secret+`" })`+
				"\n  response_export_values = { id = \"/id\" }"))
		}
		configure("one")
		w.mustPlanNothing(t)
		if r := w.run(t, "plan", "-destroy"); !has(r.errors, "deletion_policy") {
			t.Errorf("want the policy of the state to count, got %+v", r.errors)
		}
		configure("two")
		if r := w.run(t, "plan"); !has(r.errors, "payload_json_wo", "deletion_policy") {
			t.Errorf("want a plan that would replace the subscription, got %+v", r.errors)
		}
	})
}

// What a development version wrote is an error that says how to continue, and it stays as it is.
func TestSubscriptionStateFileOfVersion0(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, unreachable)
		old := read(t, "testdata/state_v0.json")
		write(t, filepath.Join(w.dir, "terraform.tfstate"), old)
		w.configure(t, subscription(0, hookURL, ""))
		for _, command := range [][]string{{"plan"}, {"apply", "-auto-approve"}} {
			if r := w.run(t, command...); len(r.errors) == 0 || !has(r.errors, "response_json", "state rm", "import") {
				t.Errorf("%s: want an error that says what to do, got %+v", command, r.errors)
			}
		}
		if !strings.Contains(w.state(t), `"response_json"`) {
			t.Errorf("the state is gone: %s", w.state(t))
		}
	})
}
