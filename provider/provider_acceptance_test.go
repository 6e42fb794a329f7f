package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// sharedConfig is a configuration with several users of the service.
const sharedConfig = `
data "idv_references" "a" {}
data "idv_references" "b" {}
data "idv_mandate_type" "kyc" { code = "KYC" }
resource "idv_webhook_subscription" "a" {
  url             = "https://hooks.example.com/a"
  deletion_policy = "ABANDON"
}
resource "idv_webhook_subscription" "b" {
  url             = "https://hooks.example.com/b"
  deletion_policy = "ABANDON"
}
`

// providerBlocks are the ways to leave the configuration to the environment. Without a block, the CLI adds an error of
// its own to that of the provider: see ownErrors.
var providerBlocks = map[string]string{
	"no block":    "",
	"empty block": "provider \"idv\" {}\n",
	"block":       "provider \"idv\" {\n  request_timeout = \"20s\"\n}\n",
}

func TestProviderWithoutBaseURL(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, block := range providerBlocks {
			t.Run(name, func(t *testing.T) {
				w := c.workspace(t)
				w.configure(t, block+sharedConfig)
				r := w.run(t, "plan")
				if len(r.ownErrors()) != 1 || !has(r.ownErrors(), "base_url", "IDV_BASE_URL") {
					t.Errorf("want one error that names base_url and IDV_BASE_URL, got %+v", r.errors)
				}
			})
		}
	})
}

func TestProviderWithWrongPassword(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, block := range providerBlocks {
			t.Run(name, func(t *testing.T) {
				s.resetStats(t)
				w := c.workspace(t, append(s.environment(), "IDV_PASSWORD=canary-wrong-password")...)
				w.configure(t, block+sharedConfig)
				r := w.run(t, "apply", "-auto-approve")
				if len(r.ownErrors()) != 1 || !has(r.ownErrors(), "rejects the credentials", "password") {
					t.Errorf("want one error about the credentials, got %+v", r.errors)
				}
				if strings.Contains(r.output, "canary") {
					t.Errorf("the password is shown:\n%s", r.output)
				}
				if logins := s.requests(t, control.Token); logins > 3 {
					t.Errorf("want at most three logins, got %d", logins)
				}
			})
		}
	})
}

func TestProviderWithUnknownBaseURL(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, s.environment()...)
		configuration := fmt.Sprintf("resource \"terraform_data\" \"service\" { input = %q }\n"+
			"provider \"idv\" { base_url = terraform_data.service.output }\n", s.url)
		w.configure(t, configuration+`
			data "idv_references" "all" {}
			data "idv_references" "again" {}
			data "idv_mandate_type" "kyc" { code = "kyc" }`)
		r := w.run(t, "plan")
		if len(r.errors) != 3 || !has(r.errors, "base_url", "known only after apply") {
			t.Errorf("want one error for each of the three reads, which names base_url, got %+v", r.errors)
		}
		w.configure(t, configuration+`
			resource "idv_webhook_subscription" "ops" {
			  url             = "https://hooks.example.com/idv"
			  deletion_policy = "ABANDON"
			}`)
		w.must(t, "plan")
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
	})
}

func TestProviderValidates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ block, environment, wantError, wantWarning string }{
		"complete":               {block: `base_url = "https://idv.example.com"`},
		"two sources of CAs":     {block: "ca_file = \"a\"\nca_pem = \"b\"", wantError: "ca_pem"},
		"http beyond loopback":   {block: `base_url = "http://idv.example.com"`, wantError: "base_url"},
		"a timeout without unit": {block: `request_timeout = 30`, wantError: "such as 45s"},
		"an empty password":      {block: "username = \"u\"\npassword = \"\"", wantError: "password"},
		"half a pair, which the environment may complete where it runs": {
			block:       `username = "u"`,
			wantWarning: "IDV_PASSWORD",
		},
		"a pair from both places": {block: `username = "u"`, environment: "IDV_PASSWORD=p"},
		"Basic without a client":  {block: `token_authorization = "Basic"`, wantWarning: "IDV_CLIENT_ID"},
		"a proxy without a host":  {block: `proxy_url = "canary"`, wantError: "proxy_url"},
		"a rate that would hang":  {block: `max_requests_per_second = 0.5`, wantError: "max_requests_per_second"},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				w := c.workspace(t, test.environment)
				w.configure(t, "provider \"idv\" {\n"+test.block+"\n}\n"+`data "idv_references" "all" {}`)
				r := w.run(t, "validate")
				if ok := test.wantError == ""; ok != (r.exit == 0) || !ok && !has(r.errors, test.wantError) {
					t.Errorf("want an error with %q, got %+v", test.wantError, r.errors)
				}
				noWarning := test.wantWarning == ""
				if noWarning != (len(r.warnings) == 0) || !noWarning && !has(r.warnings, test.wantWarning) {
					t.Errorf("want a warning with %q, got %+v", test.wantWarning, r.warnings)
				}
			})
		}
	})
}

func TestProviderConfigErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		block string
		want  []string
	}{
		"half a pair":           {"base_url = \"https://idv.example.com\"\nusername = \"u\"", []string{"IDV_PASSWORD"}},
		"no credentials at all": {`base_url = "https://idv.example.com"`, []string{"IDV_USERNAME", "IDV_CLIENT_SECRET"}},
		"a CA file that is not there": {
			"base_url = \"https://idv.example.com\"\nusername = \"u\"\npassword = \"p\"\nca_file = \"no-such.pem\"",
			[]string{"ca_file", "no-such.pem"},
		},
		"a CA without certificates": {
			"base_url = \"https://idv.example.com\"\nusername = \"u\"\npassword = \"p\"\nca_pem = \"canary\"",
			[]string{"PEM"},
		},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				w := c.workspace(t)
				w.configure(t, "provider \"idv\" {\n"+test.block+"\n}\n"+sharedConfig)
				if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, test.want...) {
					t.Errorf("want one error with %q, got %+v", test.want, r.errors)
				}
			})
		}
	})
}

func TestPlanWithoutRequestsNeedsNoService(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, "IDV_BASE_URL=http://127.0.0.1:1",
			"IDV_USERNAME="+sandbox.DefaultUsername, "IDV_PASSWORD=canary-password")
		w.configure(t, `resource "idv_webhook_subscription" "ops" { url = "https://hooks.example.com/idv" }`)
		w.must(t, "plan")
		r := w.run(t, "apply", "-auto-approve")
		if len(r.errors) != 1 || !has(r.errors, "no connection could be made", "nothing was sent", "base_url") {
			t.Errorf("want one error about the connection, got %+v", r.errors)
		}
	})
}

// TestCredentialsGoToTheServiceOfTheEnvironment: a module that sets another base_url must not get the credentials that
// the environment has for IDV_BASE_URL.
func TestCredentialsGoToTheServiceOfTheEnvironment(t *testing.T) {
	t.Parallel()
	own := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		other := newService(t)
		otherBlock := func(more string) string {
			return fmt.Sprintf("provider \"idv\" {\n  base_url = %q\n%s}\n", other.url, more)
		}
		for name, test := range map[string]struct {
			block  string
			want   []string // of the one error; nil: none
			logins bool     // at the other service
		}{
			"no credentials": {otherBlock(""), []string{"IDV_USERNAME, IDV_PASSWORD", "IDV_BASE_URL"}, false},
			"half of a pair": {otherBlock("  username = \"u\"\n"), []string{"IDV_PASSWORD", "`password`"}, false},
			"its own":        {other.providerBlock(), nil, true},
		} {
			other.resetStats(t)
			w := c.workspace(t, own.environment()...)
			w.configure(t, test.block+readConfig)
			r := w.run(t, "plan")
			if failed := len(test.want) > 0; failed != (len(r.errors) == 1) || failed && !has(r.errors, test.want...) {
				t.Errorf("%s: want an error with %q, got %+v", name, test.want, r.errors)
			}
			if logins := other.requests(t, control.Token); (logins > 0) != test.logins {
				t.Errorf("%s: %d logins at the other service", name, logins)
			}
			mustNotContain(t, name, r.output, sandbox.DefaultPassword)
		}
	})
}
