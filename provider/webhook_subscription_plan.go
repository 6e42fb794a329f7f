package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan decides what a change means, and announces or stops what would leave a subscription behind.
func (r *subscriptionResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan, state *subscriptionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	var config subscriptionModel
	if plan != nil {
		config = behindPlan(ctx, req.Config, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	remembered := readHistory(ctx, req.Private, &resp.Diagnostics)
	switch {
	case plan == nil && state == nil:
		return
	case plan == nil:
		state.checkAbandon("a destroy", &resp.Diagnostics)
	case state == nil:
		r.connection.check(&resp.Diagnostics)
		planCreation(&config, plan, &resp.Diagnostics)
		if remembered.Unchanged != "" {
			replaced := *plan
			replaced.DeletionPolicy = types.StringValue(remembered.Unchanged)
			replaced.checkAbandon("a replacement", &resp.Diagnostics)
		}
		remembered = history{} // it was that of the old one
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	default:
		proposed := *plan
		planChange(&config, plan, state, remembered, resp)
		remembered.Unchanged = ""
		if len(resp.RequiresReplace) == 0 {
			remembered.Unchanged = state.DeletionPolicy.ValueString()
		}
		if !reflect.DeepEqual(*plan, proposed) {
			resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
		}
	}
	remembered.write(ctx, resp.Private, &resp.Diagnostics)
}

// behindPlan is what only the configuration tells: plans lack what is write-only, and have values of their own for what is
// computed too. The rest is not read: in a large plan, a good part of the time goes into such readings.
func behindPlan(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) subscriptionModel {
	var m subscriptionModel
	diags.Append(config.GetAttribute(ctx, path.Root("events"), &m.Events)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo"), &m.WriteOnly)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo_version"), &m.WriteOnlyVersion)...)
	return m
}

func planCreation(config, plan *subscriptionModel, diags *diag.Diagnostics) {
	plan.WriteOnlyVersion = config.firstWriteOnlyVersion()
	if config.Events.IsNull() {
		plan.Events = types.SetNull(types.StringType) // computed only for the sake of imports
	}
	if plan.ApplicationID.IsNull() && plan.OnExisting.ValueString() == existingAdopt {
		diags.AddAttributeWarning(path.Root("on_existing"), "The webhook subscription will be taken to exist", fmt.Sprintf(
			"Without application_id the service cannot be asked for it. on_existing = %q takes your word: apply will send nothing, and if "+
				"the subscription does not exist, nothing will be delivered. To subscribe, set on_existing = %q.", existingAdopt, existingFail))
	}
}

// planChange finds out whether the service would have to know of a change.
func planChange(config, plan, state *subscriptionModel, history history, resp *resource.ModifyPlanResponse) {
	if config.Events.IsNull() {
		plan.Events = types.SetNull(types.StringType)
		if !history.Imported.IsZero() {
			plan.Events = state.Events // what the service showed, and not what anybody asked for
		}
	}
	plan.WriteOnlyVersion = config.nextWriteOnlyVersion(state, history, &resp.Diagnostics)
	var adopted bool
	for _, change := range plan.changes(state) {
		if history.adopting() && change.before.IsNull() {
			adopted = true
			continue
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root(change.attribute))
	}
	if len(resp.RequiresReplace) > 0 {
		state.checkAbandon("a change of "+resp.RequiresReplace[0].String(), &resp.Diagnostics)
		return
	}
	if adopted {
		if secret := imprintOf(config.WriteOnly); history.WriteOnly == nil && !state.WebhookJSON.IsNull() {
			plan.WebhookJSON = secret.shown(json.RawMessage(state.WebhookJSON.ValueString()), isUnfit)
		}
		resp.Diagnostics.AddWarning("The configuration is taken over without sending it",
			"The subscription was imported, and what the service cannot show of it is taken to be as configured.")
		return
	}
	if history.justImported(time.Now()) {
		plan.keepPolicies(state, history, &resp.Diagnostics)
	}
}

// keepPolicies leaves an imported state as it is: an import cannot know them, so they are no difference yet, and the plan
// after an import is to show whether the service agrees with the configuration.
func (m *subscriptionModel) keepPolicies(state *subscriptionModel, history history, diags *diag.Diagnostics) {
	if !m.DeletionPolicy.Equal(state.DeletionPolicy) {
		diags.AddAttributeWarning(path.Root("deletion_policy"), "deletion_policy is not in effect yet", fmt.Sprintf(
			"The subscription was imported just now, with deletion_policy = %q. A plan after %s will bring what is configured into the state; "+
				"that sends nothing.", state.DeletionPolicy.ValueString(), history.Imported.Add(adoptionWindow).Format(time.RFC3339)))
	}
	m.DeletionPolicy, m.OnExisting = state.DeletionPolicy, state.OnExisting
}

// checkAbandon is the say of deletion_policy: an error or a warning that names the URL which stays subscribed. What counts is
// what was applied, not what a configuration says that would replace it: with create_before_destroy, the policy in the state
// is asked once more when the new subscription exists, and then nothing could change it any more.
func (m *subscriptionModel) checkAbandon(doing string, diags *diag.Diagnostics) {
	if m.DeletionPolicy.ValueString() == deletionAbandon {
		diags.AddAttributeWarning(path.Root("deletion_policy"), "The webhook subscription stays at the service", fmt.Sprintf(
			"The service cannot delete a subscription. After %s it goes on delivering to %s, without Terraform.", doing, m.shownURL()))
		return
	}
	diags.AddAttributeError(path.Root("deletion_policy"), "The webhook subscription cannot be deleted", fmt.Sprintf(
		"After %s, the service would go on delivering to %s, because it cannot delete a subscription; deletion_policy = %q prevents that. "+
			"To leave the subscription behind all the same, apply deletion_policy = %q first, without any other change. To only forget it, "+
			"use a removed block.",
		doing, m.shownURL(), deletionPrevent, deletionAbandon))
}
