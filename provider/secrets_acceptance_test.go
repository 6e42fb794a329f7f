package provider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mandate-io/idv/internal/sandbox"
)

// The echo provider writes an ephemeral value into the state, where a test can read it.
func TestAccessToken(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		c.testCase(t, resource.TestStep{
			Config: s.providerBlock() + `
				ephemeral "idv_access_token" "t" {}
				provider "echo" { data = ephemeral.idv_access_token.t }
				resource "echo" "t" {}`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.t", tfjsonpath.New("data").AtMapKey("token"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue("echo.t", tfjsonpath.New("data").AtMapKey("renew_at"), knownvalue.NotNull()),
			},
		})
	})
}

// A run stores, prints and logs no credential and no token, even at level TRACE.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	s := newService(t)
	token, err := s.client.AccessToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// This token represents those of the run.
	secrets := []string{
		sandbox.DefaultPassword,
		sandbox.DefaultClientSecret,
		token.Value.Reveal(),
		"canary-payload-secret",
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		log := filepath.Join(t.TempDir(), "trace.log")
		w := c.workspace(t, append(s.environment(),
			"IDV_CLIENT_ID="+sandbox.DefaultClientID, "IDV_CLIENT_SECRET="+sandbox.DefaultClientSecret,
			"TF_LOG_PROVIDER=TRACE", "TF_LOG_PATH="+log)...)
		w.configure(t, sharedConfig+`
			ephemeral "idv_access_token" "t" {}
			resource "idv_webhook_subscription" "secret" {
			  url             = "https://hooks.example.com/secret"
			  payload_json    = jsonencode({ secret = "canary-payload-secret" })
			  deletion_policy = "ABANDON"
			}`)
		applied := w.must(t, "apply", "-auto-approve")
		destroyed := w.must(t, "destroy", "-auto-approve")
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(trace), "Request to the identity verification service") {
			t.Error("the trace has no entries of the provider, so the test proves nothing")
		}
		for where, text := range map[string]string{
			"apply": applied.output, "destroy": destroyed.output, "trace": string(trace), "state": w.state(t),
		} {
			for _, secret := range secrets {
				if _, after, found := strings.Cut(text, secret); found {
					t.Errorf("%s contains the secret %q, before %.300q", where, secret, after)
				}
			}
		}
	})
}
