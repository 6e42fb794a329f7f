package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure = (*accessTokenEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithRenew     = (*accessTokenEphemeral)(nil)
)

type accessTokenEphemeral struct{ connection *connection }

type accessTokenModel struct {
	Token   types.String `tfsdk:"token"`
	RenewAt types.String `tfsdk:"renew_at"`
}

func newAccessTokenEphemeral() ephemeral.EphemeralResource { return &accessTokenEphemeral{} }

func (e *accessTokenEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "idv_access_token"
}

func (e *accessTokenEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Gives the access token of this provider block to other providers and provisioners that call the service. It is in no " +
			"state and in no plan. It is the token that the provider itself uses: a user of it must not ask the service to revoke it.",
		Attributes: map[string]schema.Attribute{
			"token": schema.StringAttribute{
				Computed:            true,
				Sensitive:           true,
				MarkdownDescription: "The token, for the header `Authorization: Bearer TOKEN`.",
			},
			"renew_at": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "When to stop using it, as RFC 3339 time in UTC: four fifths of the lifetime that the service gave it, or of an " +
					"hour if it gave none.",
			},
		},
	}
}

func (e *accessTokenEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (e *accessTokenEphemeral) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	service := e.connection.service(&resp.Diagnostics)
	if service == nil {
		resp.Diagnostics.Append(resp.Result.Set(ctx, accessTokenModel{})...)
		return
	}
	token, err := service.AccessToken(ctx)
	if err != nil {
		addError(&resp.Diagnostics, "Cannot get an access token", err)
		return
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, accessTokenModel{
		Token:   types.StringValue(token.Value.Reveal()),
		RenewAt: types.StringValue(token.RenewAt.UTC().Format(time.RFC3339)),
	})...)
	resp.RenewAt = token.RenewAt
}

// Renew says what cannot be done: a token that was handed out cannot be exchanged, and the service has nothing to prolong
// it. A login would only make it end earlier, should new tokens revoke older ones. There is no Close for a like reason:
// the provider itself still uses the token.
func (e *accessTokenEphemeral) Renew(_ context.Context, _ ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	resp.Diagnostics.AddWarning("The access token expires while it is in use", "What uses the token of the ephemeral resource idv_access_token needed it "+
		"for more than four fifths of its lifetime, and it cannot be prolonged: the service may have refused the last calls with a 401. Then "+
		"do less in one run, so that the token is needed for a shorter time.")
}
