package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

type applicationEphemeral struct{ ephemeralResource }

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

func newApplicationEphemeral() ephemeral.EphemeralResource {
	return &applicationEphemeral{ephemeralResource{typeName: "idv_application", schema: schema.Schema{
		MarkdownDescription: "Reads an application (mandate) with its individuals and checks. The result contains " +
			"personal data, so Terraform stores it neither in the state nor in the plan. Every plan and every apply " +
			"that needs the application reads it again.",
		Attributes: map[string]schema.Attribute{
			"application_id": requiredID("ID of the application."),
			"name":           sensitiveString("Name of the application."),
			"reference":      sensitiveString("Reference of the application."),
			"state":          computedString("State of the application, as the service names it."),
			"mandate_type": schema.SingleNestedAttribute{
				Computed:            true,
				MarkdownDescription: "Mandate type of the application.",
				Attributes: map[string]schema.Attribute{
					"id":          computedInt64("ID of the mandate type; null if the service returns none."),
					"code":        computedString("Code of the mandate type; null if the service returns none."),
					"name":        computedString("Display name of the mandate type; null if the service returns none."),
					"description": computedString("Description of the mandate type; null if the service returns none."),
				},
			},
			"archived":          computedBool("Whether the application is archived."),
			"available_actions": actionsAttribute("Actions that the service offers for the application."),
			"individuals": computedList("Progress of the individuals, in the order of the response. For personal data, use "+
				"`json` or the ephemeral resource `idv_individual`.", individualAttributes()),
			"json": sensitiveString("Complete response of the service, as JSON with sorted keys."),
		},
	}}}
}

func (e *applicationEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model applicationModel
	service := e.open(ctx, req, resp, &model)
	if service == nil {
		return
	}
	application, err := service.RetrieveApplication(ctx, model.ApplicationID.ValueInt64())
	if err != nil {
		addRequestError(&resp.Diagnostics, "Cannot read the application", err)
		return
	}
	model.flatten(application)
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}

func (m *applicationModel) flatten(application *client.Application) {
	mandateType := flattenReference(application.MandateType)
	m.Name = stringOrNull(application.Name.Reveal())
	m.Reference = stringOrNull(application.Reference)
	m.State = stringOrNull(application.State.Name)
	m.MandateType = &mandateType
	m.Archived = types.BoolValue(application.Archived)
	m.Actions = flattenActions(application.Actions)
	m.Individuals = convertAll(application.Individuals, func(i client.Individual) individualModel {
		return flattenIndividual(&i)
	})
	m.JSON = normalizeJSON(application.Raw.Reveal())
}
