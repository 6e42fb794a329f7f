package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ datasource.DataSourceWithConfigure = (*webhookDataSource)(nil)

type webhookDataSource struct{ connection *connection }

type webhookDataModel struct {
	ApplicationID types.Int64    `tfsdk:"application_id"`
	Webhooks      []webhookModel `tfsdk:"webhooks"`
	Complete      types.Bool     `tfsdk:"complete"`
	JSON          types.String   `tfsdk:"json"`
}

type webhookModel struct {
	ID     types.Int64  `tfsdk:"id"`
	URL    types.String `tfsdk:"url"`
	Events types.Set    `tfsdk:"events"`
}

func newWebhookDataSource() datasource.DataSource { return &webhookDataSource{} }

func (d *webhookDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "idv_webhook"
}

func (d *webhookDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the webhooks of an application, for debugging and monitoring. The service does not document what it answers: one " +
			"webhook, a list, or an error where there is none. All of these become a list here, which is empty if there is none.",
		Attributes: map[string]schema.Attribute{
			"application_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "The application whose webhooks are wanted.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"webhooks": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "The webhooks, in the order of the answer. Empty if there are none, or if the answer is not understood: then look " +
					"at `complete` and `json`.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"id": schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
					"url": schema.StringAttribute{Computed: true, Sensitive: true,
						MarkdownDescription: "Where the service delivers to. Sensitive, because it may hold a token of the receiver."},
					"events": schema.SetAttribute{Computed: true, ElementType: types.StringType,
						MarkdownDescription: "The kinds of events that are delivered; null if the service shows none."},
				}},
			},
			"complete": schema.BoolAttribute{
				Computed: true,
				MarkdownDescription: "Whether a webhook that is not in `webhooks` does not exist. False if the service shows one webhook, of perhaps " +
					"several, or a page of a longer list, or if the answer is not understood.",
			},
			"json": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The answer of the service as JSON with sorted keys; null if there is none. As it is kept in the state, it lacks " +
					"what the interface knows as data about a person, such as `individuals` and `email`, and what is called a secret, a " +
					"token, a password, a key or a signature.",
			},
		},
	}
}

func (d *webhookDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (d *webhookDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model webhookDataModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := d.connection.service(&resp.Diagnostics)
	if service == nil {
		resp.State.Raw = req.Config.Raw
		return
	}
	answer, err := service.RetrieveWebhook(ctx, model.ApplicationID.ValueInt64())
	switch {
	case client.IsNotFound(err): // where there is none, a service may say so this way
		answer = &client.Webhooks{Complete: true}
	case err != nil:
		addError(&resp.Diagnostics, "Cannot read the webhooks", err)
		return
	}
	model.Webhooks = make([]webhookModel, 0, len(answer.Items))
	for _, webhook := range answer.Items {
		model.Webhooks = append(model.Webhooks, webhookModel{
			ID: idOrNull(webhook.ID), URL: types.StringValue(webhook.URL.Reveal()), Events: setOf(webhook.Events),
		})
	}
	model.Complete = types.BoolValue(answer.Complete)
	model.JSON = fitForState(answer.Raw.Reveal())
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
}
