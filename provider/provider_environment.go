package provider

import (
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

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
	value               func(*providerModel) *types.String
	format              formatValidator // of the attribute; the zero value accepts any text
	credential          bool
}

var environmentArguments = []environmentArgument{
	{
		attribute: "base_url", variable: envBaseURL, format: baseURLValidator,
		value: func(m *providerModel) *types.String { return &m.BaseURL },
	},
	{
		attribute: "username", variable: envUsername, credential: true,
		value: func(m *providerModel) *types.String { return &m.Username },
	},
	{
		attribute: "password", variable: envPassword, credential: true,
		value: func(m *providerModel) *types.String { return &m.Password },
	},
	{
		attribute: "client_id", variable: envClientID, credential: true,
		value: func(m *providerModel) *types.String { return &m.ClientID },
	},
	{
		attribute: "client_secret", variable: envClientSecret, credential: true,
		value: func(m *providerModel) *types.String { return &m.ClientSecret },
	},
	{
		attribute: "token_authorization", variable: envTokenAuthorization, format: tokenAuthorizationValidator,
		value: func(m *providerModel) *types.String { return &m.TokenAuthorization },
	},
	{
		attribute: "grant_type", variable: envGrantType, format: grantTypeValidator,
		value: func(m *providerModel) *types.String { return &m.GrantType },
	},
	{
		attribute: "ca_file", variable: envCAFile,
		value: func(m *providerModel) *types.String { return &m.CAFile },
	},
	{
		attribute: "proxy_url", variable: envProxyURL, format: proxyURLValidator,
		value: func(m *providerModel) *types.String { return &m.ProxyURL },
	},
	{
		attribute: "request_timeout", variable: envRequestTimeout, format: durationValidator,
		value: func(m *providerModel) *types.String { return &m.RequestTimeout },
	},
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
	for _, argument := range environmentArguments {
		value, environment := argument.value(&s.providerModel), os.Getenv(argument.variable)
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
	for _, argument := range environmentArguments {
		_, used := s.variables[argument.attribute]
		if used && argument.format.valid != nil && !argument.format.valid(argument.value(&s.providerModel).ValueString()) {
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
