package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestFormatValidators(t *testing.T) {
	cases := map[string]struct {
		validator formatValidator
		good, bad []string
	}{
		"receiver": {
			receiverURLValidator,
			[]string{"https://hooks.example.com/idv?token=t", "http://127.0.0.1:8481/", "http://localhost/x", "https://[::1]/"},
			[]string{
				"canary", "hooks.example.com", "http://hooks.example.com/canary", "ftp://canary.example.com",
				"https:///canary", "https://canary\x7f",
			},
		},
		"duration": {
			durationValidator,
			[]string{"30s", "1m30s", "500ms"},
			[]string{"30", "0s", "-5s", "canary"},
		},
		"JSON object": {
			jsonObjectValidator,
			[]string{`{}`, `{"a": [1, null]}`},
			[]string{`null`, `[]`, `"canary"`, `{"canary"`, `{} canary`},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			check := func(value types.String) validator.StringResponse {
				var resp validator.StringResponse
				test.validator.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("a"), ConfigValue: value}, &resp)
				return resp
			}
			for _, value := range []types.String{types.StringNull(), types.StringUnknown()} {
				if resp := check(value); resp.Diagnostics.HasError() {
					t.Errorf("%v: %v", value, resp.Diagnostics)
				}
			}
			for _, value := range test.good {
				if resp := check(types.StringValue(value)); resp.Diagnostics.HasError() {
					t.Errorf("%q: %v", value, resp.Diagnostics)
				}
			}
			for _, value := range test.bad {
				resp := check(types.StringValue(value))
				if !resp.Diagnostics.HasError() {
					t.Errorf("%q: want an error", value)
					continue
				}
				if d := resp.Diagnostics[0]; strings.Contains(d.Summary()+d.Detail(), "canary") {
					t.Errorf("%q: the error repeats the value: %v", value, d)
				}
			}
		})
	}
}
