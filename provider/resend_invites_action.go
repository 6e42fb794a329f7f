package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ action.ActionWithConfigure = (*resendInvitesAction)(nil)

type resendInvitesAction struct{ connection *connection }

func newResendInvitesAction() action.Action { return &resendInvitesAction{} }

func (a *resendInvitesAction) Metadata(
	_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse,
) {
	resp.TypeName = "idv_resend_invites"
}

func (a *resendInvitesAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sends an individual a new invitation with a new code. **Every invocation e-mails a real " +
			"person.** The action sends one request and never repeats it. If the response is lost, the error says that " +
			"the e-mail may have been sent. Requires Terraform 1.14 or later; OpenTofu 1.12 does not support actions.",
		Attributes: map[string]schema.Attribute{
			"individual_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "ID of the individual.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
		},
	}
}

func (a *resendInvitesAction) Configure(
	_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse,
) {
	a.connection, _ = req.ProviderData.(*connection)
}

func (a *resendInvitesAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var individualID types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("individual_id"), &individualID)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := a.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	sent, err := service.ResendInvites(ctx, individualID.ValueInt64())
	switch {
	case err == nil && sent.Accepted:
		resp.SendProgress(action.InvokeProgressEvent{Message: "The service has accepted the request, and sends it later."})
	case err == nil:
		resp.SendProgress(action.InvokeProgressEvent{Message: "The service has sent a new invitation."})
	case !client.OutcomeOf(err).NothingDone():
		resp.Diagnostics.AddError("The invitation may have been sent", messageFilter{}.errorCause(err)+"\n\n"+
			"It is unknown whether the service sent the e-mail, and another invocation may send a second one. "+
			"Before you invoke the action again, ask the individual whether the e-mail arrived.")
	default:
		resp.Diagnostics.AddError("Cannot resend the invitation", errorDetail(err))
	}
}
