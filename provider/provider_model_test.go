package provider

import (
	"fmt"
	"os"
	"strings"
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
			for _, argument := range environmentArguments {
				if argument.attribute == "base_url" {
					continue // see TestCredentialsOfTheEnvironment
				}
				t.Setenv(variableOf(argument.attribute), test.environment)
				var model providerModel
				*model.texts()[argument.attribute] = test.configured
				got := model.withEnvironment()
				if value := *got.texts()[argument.attribute]; value != test.want {
					t.Errorf("%s: got %v, want %v", argument.attribute, value, test.want)
				}
			}
		})
	}
	t.Run("a CA in the block outranks a file in the environment", func(t *testing.T) {
		t.Setenv("IDV_CA_FILE", "env")
		for _, pem := range []types.String{types.StringValue("pem"), unknown} {
			if got := (providerModel{CAPEM: pem}).withEnvironment(); !got.CAFile.IsNull() {
				t.Errorf("ca_pem %v: ca_file is %v", pem, got.CAFile)
			}
		}
	})
}

// With a service in the environment, its credentials go nowhere else.
func TestCredentialsOfTheEnvironment(t *testing.T) {
	t.Setenv("IDV_USERNAME", "terraform")
	t.Setenv("IDV_PASSWORD", "canary")
	for name, test := range map[string]struct {
		environment string
		block       types.String
		withheld    bool
	}{
		"no service in the environment": {"", types.StringValue("https://other.example.com"), false},
		"no service in the block":       {"https://idv.example.com", types.StringNull(), false},
		"not known yet":                 {"https://idv.example.com", types.StringUnknown(), false},
		"the same":                      {"https://idv.example.com", types.StringValue("https://idv.example.com"), false},
		"the same in another form":      {"https://idv.example.com:443", types.StringValue("HTTPS://IDV.example.com"), false},
		"another host":                  {"https://idv.example.com", types.StringValue("https://other.example.com"), true},
		"another port":                  {"https://idv.example.com", types.StringValue("https://idv.example.com:8443"), true},
		"another path":                  {"https://idv.example.com/a", types.StringValue("https://idv.example.com/b"), true},
		"another scheme":                {"https://localhost", types.StringValue("http://localhost"), true},
		"not a URL":                     {"idv.example.com", types.StringValue("idv.example.com"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("IDV_BASE_URL", test.environment)
			got := providerModel{BaseURL: test.block}.withEnvironment()
			if got.Password.IsNull() != test.withheld || got.Username.IsNull() != test.withheld {
				t.Errorf("want withheld %v, got %v, %v", test.withheld, got.Username, got.Password)
			}
			if want := map[bool]int{true: 2}[test.withheld]; len(got.withheld) != want {
				t.Errorf("withheld: %v", got.withheld)
			}
		})
	}
}

func TestIndexListsTheEnvironment(t *testing.T) {
	page, err := os.ReadFile("../docs/templates/index.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range environmentArguments {
		line := fmt.Sprintf("| %#q | %#q | ", variableOf(argument.attribute), argument.attribute)
		if !strings.Contains(string(page), line) {
			t.Errorf("the table of environment variables lacks %s", line)
		}
	}
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
