package provider

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mandate-io/idv/internal/client"
)

// stringRule is a validator whose errors never repeat the value: it may hold a secret.
type stringRule struct {
	must string // completes "url must ..."
	// sensitive puts the error at the resource: at an attribute, Terraform prints the line with the value.
	sensitive bool
	holds     func(string) bool
}

var notEmpty = []validator.String{stringvalidator.LengthAtLeast(1)}

var (
	baseURLRule = stringRule{
		must:  "be the address of the service without /api/v1, such as https://idv.example.com; http only on a loopback host; no user, query or fragment",
		holds: func(s string) bool { return client.ValidateBaseURL(s) == nil },
	}
	receiverURLRule = stringRule{
		must:  "be a URL such as https://hooks.example.com/idv; http only on a loopback host, because what is delivered is about people",
		holds: isReceiverURL,
	}
	proxyURLRule = stringRule{
		must:      "be an http, https or socks5 URL with a host, such as http://proxy.example.com:3128",
		sensitive: true,
		holds:     func(s string) bool { return client.ValidateProxyURL(s) == nil },
	}
	durationRule = stringRule{
		must: "be a duration above zero with its unit, such as 45s or 2m",
		holds: func(s string) bool {
			d, err := time.ParseDuration(s)
			return err == nil && d > 0
		},
	}
	jsonObjectRule = stringRule{
		must:      `be a JSON object, best made with jsonencode({ ... })`,
		sensitive: true,
		holds: func(s string) bool {
			var object map[string]json.RawMessage
			return json.Unmarshal([]byte(s), &object) == nil && object != nil
		},
	}
)

func isReceiverURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && client.IsLoopback(u.Hostname())
}

// Description implements validator.Describer.
func (r stringRule) Description(context.Context) string { return "must " + r.must }

// MarkdownDescription implements validator.Describer.
func (r stringRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

// ValidateString implements validator.String.
func (r stringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || r.holds(req.ConfigValue.ValueString()) {
		return
	}
	summary, detail := "Invalid "+req.Path.String(), req.Path.String()+" must "+r.must+"."
	if r.sensitive {
		resp.Diagnostics.AddError(summary, detail)
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, summary, detail)
}
