package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ action.ActionWithConfigure = (*resendInvitesAction)(nil)

type resendInvitesAction struct{ connection *connection }

type resendInvitesModel struct {
	IndividualID types.Int64 `tfsdk:"individual_id"`
}

func newResendInvitesAction() action.Action { return &resendInvitesAction{} }

func (a *resendInvitesAction) Metadata(_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = "idv_resend_invites"
}

func (a *resendInvitesAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sends an individual a new invitation with a new code. **It e-mails a real person, every time that it is invoked.** It sends " +
			"one request and never repeats it: if the answer is lost, the error says that the e-mail may have gone out. Terraform has actions " +
			"since version 1.14; OpenTofu 1.12 has none.",
		Attributes: map[string]schema.Attribute{
			"individual_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "Id of the individual at the service.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
		},
	}
}

func (a *resendInvitesAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (a *resendInvitesAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config resendInvitesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := a.connection.service(&resp.Diagnostics)
	if service == nil {
		a.connection.refuse(&resp.Diagnostics) // an action that says nothing has happened
		return
	}
	err := service.ResendInvites(ctx, config.IndividualID.ValueInt64())
	switch {
	case err == nil:
		resp.SendProgress(action.InvokeProgressEvent{Message: "The invitation was sent again."})
	case client.OutcomeOf(err) == client.Unknown:
		resp.Diagnostics.AddError("The invitation may have been sent again", describe(err)+"\n\nWhether the e-mail went out is not known. "+
			"To invoke the action again may send another one: ask the individual first.")
	default:
		addError(&resp.Diagnostics, "Cannot send the invitation again", err)
	}
}
