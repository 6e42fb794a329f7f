package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// referenceModel is one entry of the reference data. What the service did not give is null.
type referenceModel struct {
	ID          types.Int64  `tfsdk:"id"`
	Code        types.String `tfsdk:"code"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
}

func referenceModelOf(reference client.Reference) referenceModel {
	return referenceModel{
		ID: idOrNull(reference.ID), Code: textOrNull(reference.Code), Name: textOrNull(reference.Name),
		Description: textOrNull(reference.Description),
	}
}

func referenceModelsOf(references []client.Reference) []referenceModel {
	models := make([]referenceModel, 0, len(references))
	for _, reference := range references {
		models = append(models, referenceModelOf(reference))
	}
	return models
}

func idOrNull(id int64) types.Int64 {
	if id == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(id)
}

func textOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func referenceListAttribute(description string) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description + " Empty if the service lists none, or lists them in a way that is not understood: then look at `json`.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"id":          schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
			"code":        schema.StringAttribute{Computed: true, MarkdownDescription: "Code; null if the service gives none."},
			"name":        schema.StringAttribute{Computed: true, MarkdownDescription: "Name for people; null if the service gives none."},
			"description": schema.StringAttribute{Computed: true, MarkdownDescription: "Description; null if the service gives none."},
		}},
	}
}
