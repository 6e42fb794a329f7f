package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/provider/jsonvalue"
)

// dataSource is what all data sources have.
type dataSource struct {
	typeName   string
	schema     dataschema.Schema
	connection *connection
}

func (d *dataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.typeName
}

func (d *dataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = d.schema
}

func (d *dataSource) Configure(
	_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse,
) {
	d.connection = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// ephemeralResource is what all ephemeral resources have.
type ephemeralResource struct {
	typeName   string
	schema     ephemeralschema.Schema
	connection *connection
}

func (e *ephemeralResource) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = e.typeName
}

func (e *ephemeralResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = e.schema
}

func (e *ephemeralResource) Configure(
	_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse,
) {
	e.connection = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// open reads the configuration of an ephemeral resource. It returns nil after an error.
func (e *ephemeralResource) open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse, config any,
) *client.Client {
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	if resp.Diagnostics.HasError() {
		return nil
	}
	return e.connection.serviceClient(&resp.Diagnostics)
}

func requiredID(description string) ephemeralschema.Int64Attribute {
	return ephemeralschema.Int64Attribute{
		Required: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.AtLeast(1)},
	}
}

func computedString(description string) ephemeralschema.StringAttribute {
	return ephemeralschema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func computedInt64(description string) ephemeralschema.Int64Attribute {
	return ephemeralschema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

func computedInt32(description string) ephemeralschema.Int32Attribute {
	return ephemeralschema.Int32Attribute{Computed: true, MarkdownDescription: description}
}

func computedBool(description string) ephemeralschema.BoolAttribute {
	return ephemeralschema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

func computedList(description string, item map[string]ephemeralschema.Attribute) ephemeralschema.ListNestedAttribute {
	return ephemeralschema.ListNestedAttribute{
		Computed: true, MarkdownDescription: description,
		NestedObject: ephemeralschema.NestedAttributeObject{Attributes: item},
	}
}

// sensitiveString is for values that Terraform's own errors, which quote values, must not show.
func sensitiveString(description string) ephemeralschema.StringAttribute {
	return ephemeralschema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: description}
}

// convertAll returns an empty list for no items, and never null.
func convertAll[From, To any](items []From, convert func(From) To) []To {
	converted := make([]To, 0, len(items))
	for _, item := range items {
		converted = append(converted, convert(item))
	}
	return converted
}

func int64OrNull(id int64) types.Int64 {
	if id == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(id)
}

func stringOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// normalizeJSON sorts the keys and removes the spacing, so that an output made of the value does not change from run to
// run. It returns null for what is not JSON. Numbers keep their digits.
//
// A type with semantic equality would do the same, but the framework logs both values at TRACE, even if sensitive.
func normalizeJSON(raw json.RawMessage) types.String {
	value, err := jsonvalue.Decode(raw)
	if err != nil {
		return types.StringNull()
	}
	return types.StringValue(jsonvalue.Encode(value))
}
