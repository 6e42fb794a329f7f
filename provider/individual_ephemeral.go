package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*individualEphemeral)(nil)

type individualEphemeral struct{ ephemeralResource }

type individualEphemeralModel struct {
	IndividualID types.Int64 `tfsdk:"individual_id"`
	individualModel
	personModel
	JSON types.String `tfsdk:"json"`
}

func newIndividualEphemeral() ephemeral.EphemeralResource {
	return &individualEphemeral{ephemeralResource{typeName: "idv_individual"}}
}

func (e *individualEphemeral) Schema(
	_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse,
) {
	attributes := map[string]schema.Attribute{
		"individual_id": schema.Int64Attribute{
			Required:            true,
			MarkdownDescription: "ID of the individual.",
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"json": sensitiveString("Complete response of the service, as JSON with sorted keys."),
	}
	maps.Copy(attributes, individualAttributes())
	maps.Copy(attributes, personAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the personal data of an individual and the progress of the verification. Terraform " +
			"stores the result neither in the state nor in the plan. Every plan and every apply that needs the " +
			"individual reads it again. An attribute that the service does not return is null.",
		Attributes: attributes,
	}
}

func (e *individualEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model individualEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	service := e.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	individual, err := service.RetrieveIndividual(ctx, model.IndividualID.ValueInt64())
	if err != nil {
		addRequestError(&resp.Diagnostics, "Cannot read the individual", err)
		return
	}
	model.individualModel = flattenIndividual(individual)
	model.personModel = flattenPerson(individual.Details().Reveal())
	model.JSON = normalizeJSON(individual.Raw.Reveal())
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}
