package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/providervalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// missing is a credential that is not there and that others make necessary.
type missing struct{ attribute, variable, because string }

func (m missing) text() string {
	return fmt.Sprintf("%s Set %s in the provider block, or %s in the environment.", m.because, m.attribute, m.variable)
}

// missingCredential looks for the half of a pair. An unknown value counts as there.
func (m providerModel) missingCredential() (missing, bool) {
	user, password := !m.Username.IsNull(), !m.Password.IsNull()
	id, secret := !m.ClientID.IsNull(), !m.ClientSecret.IsNull()
	switch {
	case user && !password:
		return missing{"password", envPassword, "There is a username without a password."}, true
	case password && !user:
		return missing{"username", envUsername, "There is a password without a username."}, true
	case id && !secret:
		return missing{"client_secret", envClientSecret, "There is a client_id without a client_secret."}, true
	case secret && !id:
		return missing{"client_id", envClientID, "There is a client_secret without a client_id."}, true
	case !id && m.TokenAuthorization.Equal(types.StringValue(string(client.TokenAuthorizationBasic))):
		return missing{"client_id", envClientID, `token_authorization = "Basic" needs a client_id and a client_secret.`}, true
	}
	return missing{}, false
}

// ConfigValidators are what `terraform validate` checks across arguments.
func (p *idvProvider) ConfigValidators(context.Context) []provider.ConfigValidator {
	return []provider.ConfigValidator{
		providervalidator.Conflicting(path.MatchRoot("ca_file"), path.MatchRoot("ca_pem")),
		credentialsValidator{},
	}
}

// credentialsValidator only warns: where a configuration is validated, the environment often holds no secrets on
// purpose. Configure makes an error of it.
type credentialsValidator struct{}

func (credentialsValidator) Description(context.Context) string {
	return "username and password go together, and so do client_id and client_secret"
}

func (v credentialsValidator) MarkdownDescription(ctx context.Context) string {
	return v.Description(ctx)
}

func (credentialsValidator) ValidateProvider(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var model providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if missing, found := model.withEnvironment().missingCredential(); found {
		resp.Diagnostics.AddAttributeWarning(path.Root(missing.attribute), "Incomplete credentials",
			missing.text()+" Without it, plan and apply will fail.")
	}
}
