package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/providervalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// missingCredential is a credential that another one requires.
type missingCredential struct{ attribute, variable, reason string }

func (m missingCredential) detail(s settings) string {
	action := fmt.Sprintf("%s\n\nSet %#q in the provider block", m.reason, m.attribute)
	if slices.Contains(s.withheld, m.variable) {
		return s.withheldReason() + action + "."
	}
	return fmt.Sprintf("%s, or the environment variable %s.", action, m.variable)
}

// missingCredential looks for an incomplete pair. An unknown value counts as set.
func (m providerModel) missingCredential() (missingCredential, bool) {
	hasUsername, hasPassword := !m.Username.IsNull(), !m.Password.IsNull()
	hasID, hasSecret := !m.ClientID.IsNull(), !m.ClientSecret.IsNull()
	basic := types.StringValue(string(client.TokenAuthorizationBasic))
	userBasic := types.StringValue(string(client.TokenAuthorizationUserBasic))
	clientCredentials := types.StringValue(string(client.GrantClientCredentials))
	switch {
	case hasUsername && !hasPassword:
		return missingCredential{"password", envPassword, "`username` is set without `password`."}, true
	case hasPassword && !hasUsername:
		return missingCredential{"username", envUsername, "`password` is set without `username`."}, true
	case hasID && !hasSecret:
		return missingCredential{"client_secret", envClientSecret, "`client_id` is set without `client_secret`."}, true
	case hasSecret && !hasID:
		return missingCredential{"client_id", envClientID, "`client_secret` is set without `client_id`."}, true
	case !hasID && m.TokenAuthorization.Equal(basic):
		return missingCredential{
			"client_id", envClientID, "`token_authorization = \"Basic\"` requires `client_id` and `client_secret`.",
		}, true
	case !hasUsername && m.TokenAuthorization.Equal(userBasic):
		return missingCredential{
			"username", envUsername, "`token_authorization = \"UserBasic\"` requires `username` and `password`.",
		}, true
	case !hasID && m.GrantType.Equal(clientCredentials):
		return missingCredential{
			"client_id", envClientID, "`grant_type = \"client_credentials\"` requires `client_id` and `client_secret`.",
		}, true
	}
	return missingCredential{}, false
}

// ConfigValidators implements provider.ProviderWithConfigValidators.
func (p *idvProvider) ConfigValidators(context.Context) []provider.ConfigValidator {
	return []provider.ConfigValidator{
		providervalidator.Conflicting(path.MatchRoot("ca_file"), path.MatchRoot("ca_pem")),
		credentialsValidator{},
	}
}

// credentialsValidator only warns: the environment of `terraform validate` often has no secrets on purpose. Configure
// reports the error.
type credentialsValidator struct{}

func (credentialsValidator) Description(context.Context) string {
	return "username requires password and client_id requires client_secret, and the other way round"
}

func (v credentialsValidator) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (credentialsValidator) ValidateProvider(
	ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse,
) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	settings := model.withEnvironment()
	if missing, found := settings.missingCredential(); found {
		resp.Diagnostics.AddAttributeWarning(path.Root(missing.attribute), "Incomplete credentials",
			missing.detail(settings)+" Otherwise plan and apply fail.")
	}
}
