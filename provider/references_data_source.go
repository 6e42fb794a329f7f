package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ datasource.DataSourceWithConfigure = (*referencesDataSource)(nil)

type referencesDataSource struct{ dataSource }

type referencesModel struct {
	MandateTypes  []referenceModel `tfsdk:"mandate_types"`
	Countries     []referenceModel `tfsdk:"countries"`
	DocumentTypes []referenceModel `tfsdk:"document_types"`
	JSON          types.String     `tfsdk:"json"`
}

func newReferencesDataSource() datasource.DataSource {
	return &referencesDataSource{dataSource{typeName: "idv_references"}}
}

func (d *referencesDataSource) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the reference data of the service: mandate types, countries and document types. All " +
			"data sources of a run share one request.",
		Attributes: map[string]schema.Attribute{
			"mandate_types":  referenceListAttribute("Types of an application (mandate)."),
			"countries":      referenceListAttribute("Countries that the service knows."),
			"document_types": referenceListAttribute("Identity documents that the service accepts."),
			"json": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The three lists as one JSON object with sorted keys. It has nothing else of the " +
					"response: the service does not document its format, so other fields may hold personal data.",
			},
		},
	}
}

func (d *referencesDataSource) Read(
	ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	references := d.connection.fetchReferences(ctx, &resp.Diagnostics)
	if references == nil {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, referencesModel{
		MandateTypes:  flattenReferences(references.MandateTypes),
		Countries:     flattenReferences(references.Countries),
		DocumentTypes: flattenReferences(references.DocumentTypes),
		JSON: encodeJSON(map[string]any{
			"mandate_types":  encodeReferences(references.MandateTypes),
			"countries":      encodeReferences(references.Countries),
			"document_types": encodeReferences(references.DocumentTypes),
		}),
	})...)
}
