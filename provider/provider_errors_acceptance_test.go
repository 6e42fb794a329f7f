package provider_test

import (
	"slices"
	"strings"
	"testing"

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
