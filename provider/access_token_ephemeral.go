package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ ephemeral.EphemeralResourceWithRenew = (*accessTokenEphemeral)(nil)

type accessTokenEphemeral struct{ ephemeralResource }

type accessTokenModel struct {
	Token   types.String `tfsdk:"token"`
	RenewAt types.String `tfsdk:"renew_at"`
}

func newAccessTokenEphemeral() ephemeral.EphemeralResource {
	return &accessTokenEphemeral{ephemeralResource{typeName: "idv_access_token", schema: schema.Schema{
		MarkdownDescription: "Provides the access token of the provider configuration to other providers and to " +
			"provisioners that send requests to the service. Terraform stores the token neither in the state nor in " +
			"the plan. The provider itself uses the same token, so do not revoke it.",
		Attributes: map[string]schema.Attribute{
			"token": sensitiveString("Access token, for the header `Authorization: Bearer TOKEN`."),
			"renew_at": computedString("Time until which the token can be used safely, in RFC 3339 format and UTC: four " +
				"fifths of the lifetime that the service reports, or of one hour if it reports none."),
		},
	}}}
}

func (e *accessTokenEphemeral) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	service := e.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	token, err := service.AccessToken(ctx)
	if err != nil {
		addRequestError(&resp.Diagnostics, "Cannot get an access token", err)
		return
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, accessTokenModel{
		Token:   types.StringValue(token.Value.Reveal()),
		RenewAt: types.StringValue(token.RenewAt.UTC().Format(time.RFC3339)),
	})...)
	resp.RenewAt = token.RenewAt
}

// Renew only warns. The service cannot extend a token, and Terraform has no way to replace one that it handed out. A
// login here would do harm if the service revokes older tokens. For the same reason there is no Close: the provider
// still uses the token.
func (e *accessTokenEphemeral) Renew(_ context.Context, _ ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	resp.Diagnostics.AddWarning("The access token expires while it is in use",
		"The token of the ephemeral resource idv_access_token has been in use for four fifths of its lifetime, and the "+
			"service cannot extend it. The service may reject later requests with this token (HTTP 401).\n\n"+
			"Apply fewer changes in one run, so that the token is needed for a shorter time.")
}
