package provider

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// block is a provider block with one argument.
func block(argument string, value types.String) settings {
	return settings{
		texts: map[string]types.String{argument: value}, webhookFieldNames: types.MapNull(types.StringType),
	}
}

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
			for _, argument := range arguments {
				if argument.name == "base_url" || argument.onlyInBlock {
					continue // see TestCredentialsOfTheEnvironment
				}
				t.Setenv(variableOf(argument.name), test.environment)
				got := block(argument.name, test.configured).withEnvironment()
				if value := got.texts[argument.name]; value != test.want {
					t.Errorf("%s: got %v, want %v", argument.name, value, test.want)
				}
			}
		})
	}
	t.Run("a CA in the block outranks a file in the environment", func(t *testing.T) {
		t.Setenv("IDV_CA_FILE", "env")
		for _, pem := range []types.String{types.StringValue("pem"), unknown} {
			if got := block("ca_pem", pem).withEnvironment(); got.isSet("ca_file") {
				t.Errorf("ca_pem %v: ca_file is %v", pem, got.texts["ca_file"])
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
			got := block("base_url", test.block).withEnvironment()
			if got.isSet("password") == test.withheld || got.isSet("username") == test.withheld {
				t.Errorf("want withheld %v, got %v", test.withheld, got.texts)
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
	for _, argument := range arguments {
		line := fmt.Sprintf("| %#q | %#q | ", variableOf(argument.name), argument.name)
		if strings.Contains(string(page), line) == argument.onlyInBlock {
			t.Errorf("the table of environment variables: %s, %v", line, argument.onlyInBlock)
		}
	}
}

func TestUnknownArgument(t *testing.T) {
	known := block("base_url", types.StringValue("https://idv.example.com"))
	if got := known.unknownArgument(); got != "" {
		t.Errorf("got %q, want none", got)
	}
	known.maxRequestsPerSecond = types.Float64Unknown()
	if got := known.unknownArgument(); got != "max_requests_per_second" {
		t.Errorf("got %q", got)
	}
	known.texts["base_url"] = types.StringUnknown()
	if got := known.unknownArgument(); got != "base_url" {
		t.Errorf("got %q", got)
	}
}
