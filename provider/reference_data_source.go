package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mandate-io/idv/internal/client"
)

var (
	_ datasource.DataSourceWithConfigure        = (*referenceDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*referenceDataSource)(nil)
)

// referenceDataSource finds one entry in one of the lists of the reference data.
type referenceDataSource struct {
	typeName, noun, plural     string
	aboutID, aboutCode, sample string
	list                       func(*client.References) []client.Reference

	connection *connection
}

func newMandateTypeDataSource() datasource.DataSource {
	return &referenceDataSource{
		typeName: "idv_mandate_type", noun: "mandate type", plural: "mandate types",
		aboutID: "Id at the service, which is what a new application names its type by.", aboutCode: "Code", sample: "kyc",
		list: func(r *client.References) []client.Reference { return r.MandateTypes },
	}
}

func newCountryDataSource() datasource.DataSource {
	return &referenceDataSource{
		typeName: "idv_country", noun: "country", plural: "countries",
		aboutID: "Id at the service; null if it gives countries none.", aboutCode: "Country code", sample: "GB",
		list: func(r *client.References) []client.Reference { return r.Countries },
	}
}

func newDocumentTypeDataSource() datasource.DataSource {
	return &referenceDataSource{
		typeName: "idv_document_type", noun: "document type", plural: "document types",
		aboutID: "Id at the service; null if it gives document types none.", aboutCode: "Code", sample: "passport",
		list: func(r *client.References) []client.Reference { return r.DocumentTypes },
	}
}

func (d *referenceDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.typeName
}

func (d *referenceDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: fmt.Sprintf("Finds one %s in the reference data by exactly one of `id`, `code` and `name`. If there is none, or more "+
			"than one, the error lists those that exist.", d.noun),
		Attributes: map[string]schema.Attribute{
			"id": schema.Int64Attribute{
				Optional: true, Computed: true,
				MarkdownDescription: d.aboutID,
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"code": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: d.aboutCode + ", such as `" + d.sample + "`; letter case does not matter.",
				Validators:          notEmpty,
			},
			"name": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Name for people; letter case does not matter.",
				Validators:          notEmpty,
			},
			"description": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Description; null if the service gives none.",
			},
		},
	}
}

func (d *referenceDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{
		datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("code"), path.MatchRoot("name")),
	}
}

func (d *referenceDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (d *referenceDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config referenceModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	references := d.connection.retrieveReferences(ctx, &resp.Diagnostics)
	if references == nil {
		resp.State.Raw = req.Config.Raw
		return
	}
	existing := d.list(references)
	want := client.Reference{ID: config.ID.ValueInt64(), Code: config.Code.ValueString(), Name: config.Name.ValueString()}
	attribute, shown := selector(want)
	switch matches := client.MatchReferences(existing, want); len(matches) {
	case 1:
		resp.Diagnostics.Append(resp.State.Set(ctx, referenceModelOf(matches[0]))...)
	case 0:
		resp.Diagnostics.AddAttributeError(path.Root(attribute), fmt.Sprintf("There is no such %s", d.noun),
			fmt.Sprintf("The reference data has no %s with %s %s. %s", d.noun, attribute, shown, d.offer(existing)))
	default:
		resp.Diagnostics.AddAttributeError(path.Root(attribute), fmt.Sprintf("There are several such %s", d.plural),
			fmt.Sprintf("The reference data has %d %s with %s %s. Select one by what only it has. %s",
				len(matches), d.plural, attribute, shown, d.offer(matches)))
	}
}

// selector tells by which attribute an entry is looked for, and for what.
func selector(want client.Reference) (attribute, value string) {
	switch {
	case want.ID != 0:
		return "id", fmt.Sprint(want.ID)
	case want.Code != "":
		return "code", fmt.Sprintf("%q", want.Code)
	default:
		return "name", fmt.Sprintf("%q", want.Name)
	}
}

const maxOffered = 300 // more than there are countries

// offer lists what there is, so that nobody has to look it up.
func (d *referenceDataSource) offer(references []client.Reference) string {
	if len(references) == 0 {
		return fmt.Sprintf("It has no %s at all, or lists them in a way that is not understood; see the attribute json of the data source "+
			"idv_references.", d.plural)
	}
	var lines []string
	for _, reference := range references[:min(len(references), maxOffered)] {
		lines = append(lines, "  "+offered(reference))
	}
	if more := len(references) - maxOffered; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return "These exist:\n\n" + strings.Join(lines, "\n") + "\n\n"
}

// offered names an entry by what it can be found by.
func offered(reference client.Reference) string {
	var parts []string
	if reference.ID != 0 {
		parts = append(parts, fmt.Sprintf("id %d", reference.ID))
	}
	if reference.Code != "" {
		parts = append(parts, fmt.Sprintf("code %q", reference.Code))
	}
	if reference.Name != "" {
		parts = append(parts, fmt.Sprintf("name %q", reference.Name))
	}
	if len(parts) == 0 {
		return "one that has neither id nor code nor name"
	}
	return strings.Join(parts, ", ")
}
