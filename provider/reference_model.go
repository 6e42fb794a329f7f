package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// referenceModel is one entry of the reference data. What the service does not return is null.
type referenceModel struct {
	ID          types.Int64  `tfsdk:"id"`
	Code        types.String `tfsdk:"code"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
}

func flattenReference(reference client.Reference) referenceModel {
	return referenceModel{
		ID:          int64OrNull(reference.ID),
		Code:        stringOrNull(reference.Code),
		Name:        stringOrNull(reference.Name),
		Description: stringOrNull(reference.Description),
	}
}

func flattenReferences(references []client.Reference) []referenceModel {
	models := make([]referenceModel, 0, len(references))
	for _, reference := range references {
		models = append(models, flattenReference(reference))
	}
	return models
}

// referenceJSON is a referenceModel as JSON, with sorted keys.
type referenceJSON struct {
	Code        string `json:"code,omitempty"`
	Description string `json:"description,omitempty"`
	ID          int64  `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
}

func encodeReferences(references []client.Reference) []referenceJSON {
	entries := make([]referenceJSON, 0, len(references))
	for _, r := range references {
		entries = append(entries, referenceJSON{Code: r.Code, Description: r.Description, ID: r.ID, Name: r.Name})
	}
	return entries
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

func referenceListAttribute(description string) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed: true,
		MarkdownDescription: description + " Empty if the service returns none, or returns a list that the provider does " +
			"not understand.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"id": schema.Int64Attribute{
				Computed:            true,
				MarkdownDescription: "ID; null if the service returns none.",
			},
			"code": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Code; null if the service returns none.",
			},
			"name": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Display name; null if the service returns none.",
			},
			"description": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Description; null if the service returns none.",
			},
		}},
	}
}
