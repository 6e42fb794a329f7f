package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// individualModel is the progress of an individual. The responses for applications and for individuals both have it.
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

func flattenIndividual(individual *client.Individual) individualModel {
	model := individualModel{
		ID:               int64OrNull(individual.ID),
		Reference:        stringOrNull(individual.Reference.Reveal()),
		State:            stringOrNull(individual.State.Name),
		TermsAccepted:    types.BoolValue(individual.TermsAccepted),
		ChecksInReview:   types.Int32Value(individual.ChecksInReview),
		ChecksPending:    types.Int32Value(individual.ChecksPending),
		ChecksPassed:     types.Int32Value(individual.ChecksPassed),
		CompletedActions: flattenActions(individual.CompletedActions),
		Checks:           make([]checkModel, 0, len(individual.Checks)),
	}
	for _, check := range individual.Checks {
		model.Checks = append(model.Checks, checkModel{
			ID:    int64OrNull(check.ID),
			Name:  stringOrNull(check.Name),
			Title: stringOrNull(check.Title),
			State: stringOrNull(check.State.Name),
		})
	}
	return model
}

func flattenActions(actions []client.Action) []actionModel {
	models := make([]actionModel, 0, len(actions))
	for _, action := range actions {
		models = append(models, actionModel{
			ID:    int64OrNull(action.ID),
			Name:  stringOrNull(action.Name),
			Title: stringOrNull(action.Title),
		})
	}
	return models
}

func individualAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":                computedInt64("ID of the individual; null if the service returns none."),
		"reference":         sensitiveString("Reference of the individual."),
		"state":             computedString("State of the individual, as the service names it."),
		"terms_accepted":    computedBool("Whether the individual has accepted the terms."),
		"checks_in_review":  computedInt32("Number of checks in review, as the service counts them."),
		"checks_pending":    computedInt32("Number of pending checks, as the service counts them."),
		"checks_passed":     computedInt32("Number of passed checks, as the service counts them."),
		"completed_actions": actionsAttribute("Actions that the individual has completed."),
		"checks": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Checks, in the order of the response. Their results are in `json`.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"id":    computedInt64("ID of the check; null if the service returns none."),
				"name":  computedString("Name of the check."),
				"title": computedString("Display name of the check."),
				"state": computedString("State of the check, as the service names it."),
			}},
		},
	}
}

func actionsAttribute(description string) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"id":    computedInt64("ID of the action; null if the service returns none."),
			"name":  computedString("Name of the action."),
			"title": computedString("Display name of the action."),
		}},
	}
}
