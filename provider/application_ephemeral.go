package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*applicationEphemeral)(nil)

type applicationEphemeral struct{ connection *connection }

type applicationModel struct {
	ApplicationID types.Int64       `tfsdk:"application_id"`
	Name          types.String      `tfsdk:"name"`
	Reference     types.String      `tfsdk:"reference"`
	State         types.String      `tfsdk:"state"`
	MandateType   *referenceModel   `tfsdk:"mandate_type"`
	Archived      types.Bool        `tfsdk:"archived"`
	Actions       []actionModel     `tfsdk:"available_actions"`
	Individuals   []individualModel `tfsdk:"individuals"`
	JSON          types.String      `tfsdk:"json"`
}

func newApplicationEphemeral() ephemeral.EphemeralResource { return &applicationEphemeral{} }

func (e *applicationEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "idv_application"
}

func (e *applicationEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an application (mandate) with its individuals and checks. What it gives is about people, so it is ephemeral: it is in " +
			"no state and in no plan. It is read anew in every plan and every apply that needs it.",
		Attributes: map[string]schema.Attribute{
			"application_id": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "Id of the application at the service.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"name":      sensitiveText("Name of the application."),
			"reference": sensitiveText("Reference of the application."),
			"state":     schema.StringAttribute{Computed: true, MarkdownDescription: "State, in the service's own words."},
			"mandate_type": schema.SingleNestedAttribute{Computed: true, MarkdownDescription: "Type of the application.",
				Attributes: map[string]schema.Attribute{
					"id":          schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
					"code":        schema.StringAttribute{Computed: true, MarkdownDescription: "Code; null if the service gives none."},
					"name":        schema.StringAttribute{Computed: true, MarkdownDescription: "Name for people; null if the service gives none."},
					"description": schema.StringAttribute{Computed: true, MarkdownDescription: "Description; null if the service gives none."},
				}},
			"archived":          schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it is archived."},
			"available_actions": actionsAttribute("What can be done with it next, as the service says it."),
			"individuals": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "The individuals, in the service's order: how far they are. Who they are is in `json`, and what the ephemeral resource " +
					"`idv_individual` gives.",
				NestedObject: schema.NestedAttributeObject{Attributes: individualAttributes()},
			},
			"json": sensitiveText("The whole answer of the service as JSON with sorted keys."),
		},
	}
}

func (e *applicationEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (e *applicationEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model applicationModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if service := e.connection.service(&resp.Diagnostics); service != nil {
		application, err := service.RetrieveApplication(ctx, model.ApplicationID.ValueInt64())
		if err != nil {
			addError(&resp.Diagnostics, "Cannot read the application", err)
			return
		}
		model.fill(application)
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func (m *applicationModel) fill(application *client.Application) {
	kind := referenceModelOf(client.Reference(application.MandateType))
	m.Name, m.Reference = textOrNull(application.Name.Reveal()), textOrNull(application.Reference)
	m.State, m.MandateType, m.Archived = textOrNull(application.State.Name), &kind, types.BoolValue(application.Archived)
	m.Actions = actionModelsOf(application.Actions)
	m.Individuals = make([]individualModel, 0, len(application.Individuals))
	for i := range application.Individuals {
		m.Individuals = append(m.Individuals, individualModelOf(&application.Individuals[i]))
	}
	m.JSON = normalized(application.Raw.Reveal())
}
