package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// checkedConfig has a user of the service whose errors are only warnings, before all others.
const checkedConfig = `
check "reference_data" {
  data "idv_mandate_type" "checked" { code = "KYC" }
  assert {
    condition     = data.idv_mandate_type.checked.name != ""
    error_message = "There is no KYC."
  }
}
resource "terraform_data" "type" { input = data.idv_mandate_type.kyc.id }
` + sharedConfig

// In a check block, Terraform makes an error a warning. Whatever else lacks the service must fail.
func TestProviderErrorBehindACheck(t *testing.T) {
	t.Parallel()
	s := newService(t)
	wrong := append(s.environment(), "IDV_PASSWORD=canary-wrong-password")
	cases := map[string]struct {
		environment []string
		words       []string
	}{
		"missing password": {[]string{"IDV_BASE_URL=" + s.url, "IDV_USERNAME=u"}, []string{"Incomplete", "IDV_PASSWORD"}},
		"wrong password":   {wrong, []string{"rejects the credentials", "password"}},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			for block, configuration := range providerBlocks {
				t.Run(name+", "+block, func(t *testing.T) {
					s.resetStats(t)
					w := c.workspace(t, test.environment...)
					w.configure(t, configuration+checkedConfig)
					r := w.run(t, "apply", "-auto-approve")
					if r.exit == 0 || len(r.ownErrors()) != 1 || !has(r.ownErrors(), test.words...) {
						t.Errorf("want one error with %q, got exit %d, %+v", test.words, r.exit, r.errors)
					}
					if state := w.state(t); strings.Contains(state, "terraform_data") || strings.Contains(state, "idv_") {
						t.Errorf("want nothing in the state, got %s", state)
					}
					if strings.Contains(r.output, "canary") {
						t.Errorf("the password is shown:\n%s", r.output)
					}
					logins, sent := s.requests(t, control.Token), s.requests(t, control.SubscribeWebhook)
					if logins > 3 || sent > 0 {
						t.Errorf("want at most three logins and nothing sent, got %d and %d", logins, sent)
					}
				})
			}
		}
	})
}

// ownErrors leaves out what the CLI adds to an error of a provider that has no block.
func (r result) ownErrors() []diagnostic {
	return slices.DeleteFunc(slices.Clone(r.errors), func(d diagnostic) bool {
		return d.Summary == "Invalid provider configuration" && strings.Contains(d.Detail, "requires explicit configuration")
	})
}

// A plan without the provider's arguments fails wherever it needs the service, and not only where it needs it first.
func TestEveryUserFailsWithoutTheService(t *testing.T) {
	t.Parallel()
	p := newPluginWith(t, values{"base_url": tftypes.UnknownValue, "username": "u", "password": "p"})
	arguments := values{"application_id": int64(4711), "individual_id": int64(4712), "code": "KYC"}
	configOf := func(schema *tfprotov6.Schema) values {
		config := values{}
		for _, attribute := range schema.Block.Attributes {
			if value, ok := arguments[attribute.Name]; ok && (attribute.Required || attribute.Optional) {
				config[attribute.Name] = value
			}
		}
		return config
	}
	results := map[string][]*tfprotov6.Diagnostic{}
	for name, schema := range p.schemas.DataSourceSchemas {
		_, results["data "+name] = p.read(t, name, configOf(schema))
	}
	for name, schema := range p.schemas.EphemeralResourceSchemas {
		_, opened := p.open(t, name, configOf(schema))
		results["ephemeral "+name] = opened.Diagnostics
	}
	for name, diagnostics := range results {
		if len(diagnostics) != 1 || !hasError(diagnostics, "base_url", "known only after apply") {
			t.Errorf("%s: want one error that names base_url, got %s", name, formatDiagnostics(diagnostics))
		}
	}
	if len(results) < 9 {
		t.Errorf("want at least nine kinds of users, got %d", len(results))
	}
}
