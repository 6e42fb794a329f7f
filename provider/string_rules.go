package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mandate-io/idv/internal/client"
)

// formatValidator checks the format of a string. Its errors never repeat the value, which may be secret.
type formatValidator struct {
	requirement string // completes "ATTRIBUTE must ..."
	// sensitive moves the error to the resource: at an attribute, Terraform prints the line with the value.
	sensitive bool
	valid     func(string) bool
}

var notEmpty = stringvalidator.LengthAtLeast(1)

var (
	baseURLValidator = formatValidator{
		requirement: "be the address of the service without /api/v1, such as https://idv.example.com. " +
			"Use http only on a loopback host, and no user, query or fragment",
		valid: func(s string) bool { return client.ValidateBaseURL(s) == nil },
	}
	receiverURLValidator = formatValidator{
		requirement: "be a URL such as https://hooks.example.com/idv. " +
			"Use http only on a loopback host, because the service delivers personal data",
		valid: isReceiverURL,
	}
	receiverURLWriteOnlyValidator = formatValidator{
		requirement: receiverURLValidator.requirement, sensitive: true, valid: isReceiverURL,
	}
	jsonPointerValidator = formatValidator{
		requirement: "be a JSON pointer such as /signing/secret",
		valid:       func(s string) bool { return s == "" || strings.HasPrefix(s, "/") },
	}
	proxyURLValidator = formatValidator{
		requirement: "be an http, https or socks5 URL with a host, such as http://proxy.example.com:3128",
		sensitive:   true,
		valid:       func(s string) bool { return client.ValidateProxyURL(s) == nil },
	}
	tokenAuthorizationValidator = formatValidator{
		requirement: "be Auto, None, Basic or UserBasic",
		valid: isOneOf(client.TokenAuthorizationAuto, client.TokenAuthorizationNone,
			client.TokenAuthorizationBasic, client.TokenAuthorizationUserBasic),
	}
	grantTypeValidator = formatValidator{
		requirement: "be password or client_credentials",
		valid:       isOneOf(client.GrantPassword, client.GrantClientCredentials),
	}
	durationValidator = formatValidator{
		requirement: "be a positive duration with a unit, such as 45s or 2m",
		valid: func(s string) bool {
			d, err := time.ParseDuration(s)
			return err == nil && d > 0
		},
	}
	jsonObjectValidator = formatValidator{
		requirement: "be a JSON object. Use jsonencode({ ... })",
		sensitive:   true,
		valid: func(s string) bool {
			var object map[string]json.RawMessage
			return json.Unmarshal([]byte(s), &object) == nil && object != nil
		},
	}
)

func isOneOf[T ~string](values ...T) func(string) bool {
	return func(s string) bool { return slices.Contains(values, T(s)) }
}

func isReceiverURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && client.IsLoopback(u.Hostname())
}

func (v formatValidator) Description(context.Context) string { return "must " + v.requirement }

func (v formatValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v formatValidator) ValidateString(
	_ context.Context, req validator.StringRequest, resp *validator.StringResponse,
) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || v.valid(req.ConfigValue.ValueString()) {
		return
	}
	summary := "Invalid " + req.Path.String()
	detail := fmt.Sprintf("%#q must %s.", req.Path.String(), v.requirement)
	if v.sensitive {
		resp.Diagnostics.AddError(summary, detail)
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, summary, detail)
}
