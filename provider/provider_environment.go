package provider

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

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

// texts are the arguments that are strings.
func (m *providerModel) texts() map[string]*types.String {
	return map[string]*types.String{
		"base_url": &m.BaseURL, "username": &m.Username, "password": &m.Password, "client_id": &m.ClientID,
		"client_secret": &m.ClientSecret, "token_authorization": &m.TokenAuthorization, "grant_type": &m.GrantType,
		"ca_file": &m.CAFile, "ca_pem": &m.CAPEM, "proxy_url": &m.ProxyURL, "request_timeout": &m.RequestTimeout,
	}
}

// unknownArgument returns the name of an argument that Terraform does not know yet, or "".
func (m *providerModel) unknownArgument() string {
	texts := m.texts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name].IsUnknown() {
			return name
		}
	}
	switch {
	case m.MaxRequestsPerSecond.IsUnknown():
		return "max_requests_per_second"
	case !isKnown(m.WebhookFieldNames):
		return "webhook_field_names"
	default:
		return ""
	}
}

// The environment variables for arguments that the provider block does not set.
const (
	envBaseURL            = "IDV_BASE_URL"
	envUsername           = "IDV_USERNAME"
	envPassword           = "IDV_PASSWORD"
	envClientID           = "IDV_CLIENT_ID"
	envClientSecret       = "IDV_CLIENT_SECRET" //nolint:gosec // the name of a variable
	envGrantType          = "IDV_GRANT_TYPE"
	envTokenAuthorization = "IDV_TOKEN_AUTHORIZATION" //nolint:gosec // the name of a variable
	envCAFile             = "IDV_CA_FILE"
	envProxyURL           = "IDV_PROXY_URL"
	envRequestTimeout     = "IDV_REQUEST_TIMEOUT"
)

// environmentArgument is an argument that an environment variable can set.
type environmentArgument struct {
	attribute, variable string
	format              formatValidator // of the attribute; the zero value accepts any text
	credential          bool
}

var environmentArguments = []environmentArgument{
	{attribute: "base_url", variable: envBaseURL, format: baseURLValidator},
	{attribute: "username", variable: envUsername, credential: true},
	{attribute: "password", variable: envPassword, credential: true},
	{attribute: "client_id", variable: envClientID, credential: true},
	{attribute: "client_secret", variable: envClientSecret, credential: true},
	{attribute: "token_authorization", variable: envTokenAuthorization, format: tokenAuthorizationValidator},
	{attribute: "grant_type", variable: envGrantType, format: grantTypeValidator},
	{attribute: "ca_file", variable: envCAFile},
	{attribute: "proxy_url", variable: envProxyURL, format: proxyURLValidator},
	{attribute: "request_timeout", variable: envRequestTimeout, format: durationValidator},
}

// settings are the provider block, completed by the environment.
type settings struct {
	providerModel
	// variables has the environment variable of each argument that came from one.
	variables map[string]string
	// withheld are the variables with credentials that are for another service.
	withheld []string
}

// withEnvironment sets the arguments that are null. An unknown argument stays unknown: its own value will count.
//
// If the environment names a service, its credentials are for that service only: a module that sets another base_url
// must not get them.
func (m providerModel) withEnvironment() settings {
	s := settings{providerModel: m, variables: map[string]string{}}
	service := os.Getenv(envBaseURL)
	other := service != "" && !m.BaseURL.IsNull() && !m.BaseURL.IsUnknown() &&
		!client.SameBaseURL(m.BaseURL.ValueString(), service)
	texts := s.texts()
	for _, argument := range environmentArguments {
		value, environment := texts[argument.attribute], os.Getenv(argument.variable)
		switch {
		case !value.IsNull() || environment == "" || argument.attribute == "ca_file" && !m.CAPEM.IsNull():
		case argument.credential && other:
			s.withheld = append(s.withheld, argument.variable)
		default:
			*value = types.StringValue(environment)
			s.variables[argument.attribute] = argument.variable
		}
	}
	return s
}

// checkEnvironment validates the variables in use as the schema validates the arguments.
func (s settings) checkEnvironment() diag.Diagnostic {
	texts := s.texts()
	for _, argument := range environmentArguments {
		_, used := s.variables[argument.attribute]
		if used && argument.format.valid != nil && !argument.format.valid(texts[argument.attribute].ValueString()) {
			return diag.NewErrorDiagnostic("Invalid "+argument.variable, fmt.Sprintf(
				"The environment variable %s must %s.", argument.variable, argument.format.requirement))
		}
	}
	return nil
}

// argumentError is an error of an argument. It names the environment variable if the value came from one.
func (s settings) argumentError(attribute, summary, detail string) diag.Diagnostic {
	if variable, ok := s.variables[attribute]; ok {
		return diag.NewErrorDiagnostic(summary, fmt.Sprintf(
			"%s\n\nThe value comes from the environment variable %s.", detail, variable))
	}
	return diag.NewAttributeErrorDiagnostic(path.Root(attribute), summary, detail)
}

// withheldReason says why credentials of the environment are not in use; "" if none is withheld.
func (s settings) withheldReason() string {
	if len(s.withheld) == 0 {
		return ""
	}
	return fmt.Sprintf("The provider does not use %s, because the environment variable %s names another service than "+
		"`base_url`. Credentials of the environment go to the service of the environment only.\n\n",
		strings.Join(s.withheld, ", "), envBaseURL)
}
