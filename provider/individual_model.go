package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// individualModel is how far an individual is: what applications say of theirs, and individuals of themselves.
type individualModel struct {
	ID               types.Int64   `tfsdk:"id"`
	Reference        types.String  `tfsdk:"reference"`
	State            types.String  `tfsdk:"state"`
	TermsAccepted    types.Bool    `tfsdk:"terms_accepted"`
	ChecksInReview   types.Int32   `tfsdk:"checks_in_review"`
	ChecksPending    types.Int32   `tfsdk:"checks_pending"`
	ChecksPassed     types.Int32   `tfsdk:"checks_passed"`
	CompletedActions []actionModel `tfsdk:"completed_actions"`
	Checks           []checkModel  `tfsdk:"checks"`
}

type actionModel struct {
	ID    types.Int64  `tfsdk:"id"`
	Name  types.String `tfsdk:"name"`
	Title types.String `tfsdk:"title"`
}

type checkModel struct {
	ID    types.Int64  `tfsdk:"id"`
	Name  types.String `tfsdk:"name"`
	Title types.String `tfsdk:"title"`
	State types.String `tfsdk:"state"`
}

func individualModelOf(individual *client.Individual) individualModel {
	model := individualModel{
		ID: idOrNull(individual.ID), Reference: textOrNull(individual.Reference.Reveal()), State: textOrNull(individual.State.Name),
		TermsAccepted: types.BoolValue(individual.TermsAccepted), ChecksInReview: types.Int32Value(individual.ChecksInReview),
		ChecksPending: types.Int32Value(individual.ChecksPending), ChecksPassed: types.Int32Value(individual.ChecksPassed),
		CompletedActions: actionModelsOf(individual.CompletedActions), Checks: make([]checkModel, 0, len(individual.Checks)),
	}
	for _, check := range individual.Checks {
		model.Checks = append(model.Checks, checkModel{
			ID: idOrNull(check.ID), Name: textOrNull(check.Name), Title: textOrNull(check.Title), State: textOrNull(check.State.Name),
		})
	}
	return model
}

func actionModelsOf(actions []client.Action) []actionModel {
	models := make([]actionModel, 0, len(actions))
	for _, action := range actions {
		models = append(models, actionModel{ID: idOrNull(action.ID), Name: textOrNull(action.Name), Title: textOrNull(action.Title)})
	}
	return models
}

func individualAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":                schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
		"reference":         sensitiveText("Reference of the individual."),
		"state":             schema.StringAttribute{Computed: true, MarkdownDescription: "State, in the service's own words."},
		"terms_accepted":    schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the individual has accepted the terms."},
		"checks_in_review":  schema.Int32Attribute{Computed: true, MarkdownDescription: "How many checks are in review, as the service counts them."},
		"checks_pending":    schema.Int32Attribute{Computed: true, MarkdownDescription: "How many checks are pending, as the service counts them."},
		"checks_passed":     schema.Int32Attribute{Computed: true, MarkdownDescription: "How many checks were passed, as the service counts them."},
		"completed_actions": actionsAttribute("What the individual has done."),
		"checks": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The checks, in the service's order. Their results are in `json`.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"id":    schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
				"name":  schema.StringAttribute{Computed: true, MarkdownDescription: "Name for programs."},
				"title": schema.StringAttribute{Computed: true, MarkdownDescription: "Title for people."},
				"state": schema.StringAttribute{Computed: true, MarkdownDescription: "State, in the service's own words."},
			}},
		},
	}
}

func actionsAttribute(description string) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"id":    schema.Int64Attribute{Computed: true, MarkdownDescription: "Id at the service; null if it gives none."},
			"name":  schema.StringAttribute{Computed: true, MarkdownDescription: "Name for programs."},
			"title": schema.StringAttribute{Computed: true, MarkdownDescription: "Title for people."},
		}},
	}
}

// sensitiveText is for what an error of Terraform's own, which quotes values, must not show.
func sensitiveText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: description}
}
