package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestWithEnvironment(t *testing.T) {
	unknown, null := types.StringUnknown(), types.StringNull()
	empty := types.StringValue("")
	cases := map[string]struct {
		configured  types.String
		environment string
		want        types.String
	}{
		"set":                                 {types.StringValue("block"), "env", types.StringValue("block")},
		"null":                                {null, "env", types.StringValue("env")},
		"unknown: it will have its own value": {unknown, "env", unknown},
		"empty is a mistake, not a gap":       {empty, "env", empty},
		"an empty variable is none":           {null, "", null},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{envBaseURL, envUsername, envPassword, envClientID, envClientSecret, envCAFile} {
				t.Setenv(variable, test.environment)
			}
			v := test.configured
			got := providerModel{BaseURL: v, Username: v, Password: v, ClientID: v, ClientSecret: v, CAFile: v}.withEnvironment()
			w := test.want
			want := providerModel{BaseURL: w, Username: w, Password: w, ClientID: w, ClientSecret: w, CAFile: w}
			if got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	t.Run("a CA in the block outranks a file in the environment", func(t *testing.T) {
		t.Setenv(envCAFile, "env")
		for _, pem := range []types.String{types.StringValue("pem"), unknown} {
			if got := (providerModel{CAPEM: pem}).withEnvironment(); !got.CAFile.IsNull() {
				t.Errorf("ca_pem %v: ca_file is %v", pem, got.CAFile)
			}
		}
	})
}

func TestUnknownArgument(t *testing.T) {
	known := providerModel{BaseURL: types.StringValue("https://idv.example.com")}
	if got := known.unknownArgument(); got != "" {
		t.Errorf("got %q, want none", got)
	}
	known.MaxRequestsPerSecond = types.Float64Unknown()
	if got := known.unknownArgument(); got != "max_requests_per_second" {
		t.Errorf("got %q", got)
	}
	known.BaseURL = types.StringUnknown()
	if got := known.unknownArgument(); got != "base_url" {
		t.Errorf("got %q", got)
	}
}
