package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/provider"
)

// readFromEnvironment reads the reference data with a provider that the block and the environment configure.
func readFromEnvironment(t *testing.T, block values) []*tfprotov6.Diagnostic {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p := &plugin{server: server, schemas: schemas}
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.14.0", Config: p.value(t, schemas.Provider, block),
	})
	if err != nil || len(configured.Diagnostics) > 0 {
		return configured.Diagnostics
	}
	_, diagnostics := p.read(t, "idv_references", nil)
	return diagnostics
}

// TestProviderEnvironment: the variables are validated as the arguments are, and errors name the variable.
func TestProviderEnvironment(t *testing.T) {
	s := newService(t)
	t.Setenv("IDV_BASE_URL", s.url)
	t.Setenv("IDV_USERNAME", sandbox.DefaultUsername)
	t.Setenv("IDV_PASSWORD", sandbox.DefaultPassword)
	for name, test := range map[string]struct {
		variable, value string
		block           values
		want            []string // of the one error; nil: none
	}{
		"nothing else":          {"IDV_CA_FILE", "", nil, nil},
		"a base URL":            {"IDV_BASE_URL", "ftp://canary", nil, []string{"IDV_BASE_URL must", "https://"}},
		"a number":              {"IDV_REQUEST_TIMEOUT", "30", nil, []string{"IDV_REQUEST_TIMEOUT must", "such as 45s"}},
		"a negative duration":   {"IDV_REQUEST_TIMEOUT", "-1s", nil, []string{"IDV_REQUEST_TIMEOUT must", "positive"}},
		"a duration":            {"IDV_REQUEST_TIMEOUT", "1ns", nil, []string{"the deadline passed"}},
		"an authorization":      {"IDV_TOKEN_AUTHORIZATION", "None", nil, nil},
		"no authorization":      {"IDV_TOKEN_AUTHORIZATION", "canary", nil, []string{"AUTHORIZATION must", "Basic"}},
		"one without a client":  {"IDV_TOKEN_AUTHORIZATION", "Basic", nil, []string{"client_id"}},
		"a proxy that is none":  {"IDV_PROXY_URL", "canary", nil, []string{"IDV_PROXY_URL must", "socks5"}},
		"a proxy that is gone":  {"IDV_PROXY_URL", "http://127.0.0.1:1", nil, []string{"no connection", "the proxy"}},
		"a file that is absent": {"IDV_CA_FILE", "no-such.pem", nil, []string{"IDV_CA_FILE", "no-such.pem"}},
		"outranked by the block": {
			"IDV_REQUEST_TIMEOUT", "canary", values{"request_timeout": "20s"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(test.variable, test.value)
			got := readFromEnvironment(t, test.block)
			if failed := len(test.want) > 0; failed != (len(got) == 1) || failed && !hasError(got, test.want...) {
				t.Errorf("want an error with %q, got %s", test.want, formatDiagnostics(got))
			}
			mustNotContain(t, test.variable, formatDiagnostics(got), "canary")
		})
	}
}
