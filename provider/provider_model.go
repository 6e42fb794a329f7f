package provider

import "github.com/hashicorp/terraform-plugin-framework/types"

type providerModel struct {
	BaseURL              types.String  `tfsdk:"base_url"`
	Username             types.String  `tfsdk:"username"`
	Password             types.String  `tfsdk:"password"`
	ClientID             types.String  `tfsdk:"client_id"`
	ClientSecret         types.String  `tfsdk:"client_secret"`
	TokenAuthorization   types.String  `tfsdk:"token_authorization"`
	GrantType            types.String  `tfsdk:"grant_type"`
	CAFile               types.String  `tfsdk:"ca_file"`
	CAPEM                types.String  `tfsdk:"ca_pem"`
	ProxyURL             types.String  `tfsdk:"proxy_url"`
	RequestTimeout       types.String  `tfsdk:"request_timeout"`
	MaxRequestsPerSecond types.Float64 `tfsdk:"max_requests_per_second"`
	WebhookFieldNames    types.Map     `tfsdk:"webhook_field_names"`
}

// unknownArgument returns the name of the first argument that Terraform does not know yet, or "".
func (m providerModel) unknownArgument() string {
	for _, argument := range []struct {
		name    string
		unknown bool
	}{
		{"base_url", m.BaseURL.IsUnknown()},
		{"username", m.Username.IsUnknown()},
		{"password", m.Password.IsUnknown()},
		{"client_id", m.ClientID.IsUnknown()},
		{"client_secret", m.ClientSecret.IsUnknown()},
		{"token_authorization", m.TokenAuthorization.IsUnknown()},
		{"grant_type", m.GrantType.IsUnknown()},
		{"ca_file", m.CAFile.IsUnknown()},
		{"ca_pem", m.CAPEM.IsUnknown()},
		{"proxy_url", m.ProxyURL.IsUnknown()},
		{"request_timeout", m.RequestTimeout.IsUnknown()},
		{"max_requests_per_second", m.MaxRequestsPerSecond.IsUnknown()},
		{"webhook_field_names", !isKnown(m.WebhookFieldNames)},
	} {
		if argument.unknown {
			return argument.name
		}
	}
	return ""
}
