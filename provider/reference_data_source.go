package provider

import (
	"context"
	"fmt"
	"slices"
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
	_ datasource.DataSourceWithConfigure        = (*mandateTypeDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*mandateTypeDataSource)(nil)
)

type mandateTypeDataSource struct{ connection *connection }

func newMandateTypeDataSource() datasource.DataSource { return &mandateTypeDataSource{} }

func (d *mandateTypeDataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "idv_mandate_type"
}

func (d *mandateTypeDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Finds one mandate type in the reference data by exactly one of `id`, `code` and `name`. If there is none, the error " +
			"lists those that exist.",
		Attributes: map[string]schema.Attribute{
			"id": schema.Int64Attribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Id at the service, which is what a new application names its type by.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"code": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Code, such as `kyc`; letter case does not matter.",
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

func (d *mandateTypeDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{
		datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("code"), path.MatchRoot("name")),
	}
}

func (d *mandateTypeDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

func (d *mandateTypeDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
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
	want := client.Reference{ID: config.ID.ValueInt64(), Code: config.Code.ValueString(), Name: config.Name.ValueString()}
	attribute, shown := selector(want)
	found, ok := references.MandateType(want)
	if !ok {
		resp.Diagnostics.AddAttributeError(path.Root(attribute), "There is no such mandate type",
			fmt.Sprintf("The reference data has no mandate type with %s %s. %s", attribute, shown, offer(references.MandateTypes)))
		return
	}
	after := references.MandateTypes[slices.Index(references.MandateTypes, found)+1:]
	if _, twice := client.Find(after, want); twice {
		resp.Diagnostics.AddAttributeError(path.Root(attribute), "There are several such mandate types",
			fmt.Sprintf("More than one mandate type has %s %s. %s Name it by id.", attribute, shown, offer(references.MandateTypes)))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, referenceModelOf(found))...)
}

// selector tells by which attribute a type is looked for, and for what.
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

const maxOffered = 50

// offer lists what there is, so that nobody has to look it up.
func offer(references []client.Reference) string {
	if len(references) == 0 {
		return "It has no mandate types at all, or lists them in a way that is not understood; see the attribute json of the data source idv_references."
	}
	var lines []string
	for _, reference := range references[:min(len(references), maxOffered)] {
		lines = append(lines, fmt.Sprintf("  id %d, code %q, name %q", reference.ID, reference.Code, reference.Name))
	}
	if more := len(references) - maxOffered; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return "These exist:\n\n" + strings.Join(lines, "\n") + "\n\n"
}
