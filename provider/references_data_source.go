package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var _ datasource.DataSourceWithConfigure = (*referencesDataSource)(nil)

type referencesDataSource struct{ connection *connection }

type referencesModel struct {
	MandateTypes  []referenceModel `tfsdk:"mandate_types"`
	Countries     []referenceModel `tfsdk:"countries"`
	DocumentTypes []referenceModel `tfsdk:"document_types"`
	JSON          types.String     `tfsdk:"json"`
}

func newReferencesDataSource() datasource.DataSource { return &referencesDataSource{} }

func (d *referencesDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "idv_references"
}

func (d *referencesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the reference data of the service: mandate types, countries and document types. It is fetched once per run, " +
			"however many data sources ask for it.",
		Attributes: map[string]schema.Attribute{
			"mandate_types":  referenceListAttribute("The types that an application (mandate) can have."),
			"countries":      referenceListAttribute("The countries that the service knows."),
			"document_types": referenceListAttribute("The identity documents that the service accepts."),
			"json": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The whole answer of the service as JSON with sorted keys, for `jsondecode`. The service does not document its " +
					"shape, so what the lists lack may be here.",
			},
		},
	}
}

func (d *referencesDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (d *referencesDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	references := d.connection.retrieveReferences(ctx, &resp.Diagnostics)
	if references == nil {
		references = &client.References{} // what uses the lists is not to add errors of its own
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, referencesModel{
		MandateTypes:  referenceModelsOf(references.MandateTypes),
		Countries:     referenceModelsOf(references.Countries),
		DocumentTypes: referenceModelsOf(references.DocumentTypes),
		JSON:          normalized(references.Raw),
	})...)
}
