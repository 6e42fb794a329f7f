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

type individualEphemeral struct{ connection *connection }

type individualEphemeralModel struct {
	IndividualID types.Int64 `tfsdk:"individual_id"`
	individualModel
	personModel
	JSON types.String `tfsdk:"json"`
}

func newIndividualEphemeral() ephemeral.EphemeralResource { return &individualEphemeral{} }

func (e *individualEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "idv_individual"
}

func (e *individualEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"individual_id": schema.Int64Attribute{
			Required:            true,
			MarkdownDescription: "Id of the individual at the service.",
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"json": sensitiveText("The whole answer of the service as JSON with sorted keys."),
	}
	maps.Copy(attributes, individualAttributes())
	maps.Copy(attributes, personAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an individual: who it is, and how far the verification is. It is a person's data, so it is ephemeral: it is in no " +
			"state and in no plan. It is read anew in every plan and every apply that needs it. What the service did not say is null.",
		Attributes: attributes,
	}
}

func (e *individualEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (e *individualEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model individualEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if service := e.connection.service(&resp.Diagnostics); service != nil {
		individual, err := service.RetrieveIndividual(ctx, model.IndividualID.ValueInt64())
		if err != nil {
			addError(&resp.Diagnostics, "Cannot read the individual", err)
			return
		}
		model.individualModel, model.personModel = individualModelOf(individual), personModelOf(individual.Person().Reveal())
		model.JSON = normalized(individual.Raw.Reveal())
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, model)...)
}
