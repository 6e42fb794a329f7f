package provider

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan decides which changes need a replacement, and applies deletion_policy to what leaves a subscription
// behind.
func (r *subscriptionResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var plan, state *subscriptionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	var config subscriptionModel
	if plan != nil {
		config = configOnly(ctx, req.Config, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	switch {
	case plan == nil && state == nil:
		return
	case plan == nil:
		state.checkDeletionPolicy(causeDestroy, &resp.Diagnostics)
	case state == nil:
		planCreate(&config, plan, &resp.Diagnostics)
		if private.Unchanged != "" {
			replaced := *plan
			replaced.DeletionPolicy = types.StringValue(private.Unchanged)
			replaced.checkDeletionPolicy(causeReplace, &resp.Diagnostics)
		}
		private = privateData{} // it was that of the old subscription
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	default:
		proposed := *plan
		planUpdate(&config, plan, state, private, resp)
		private.Unchanged = ""
		if len(resp.RequiresReplace) == 0 {
			private.Unchanged = state.DeletionPolicy.ValueString()
		}
		if !reflect.DeepEqual(*plan, proposed) {
			resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
		}
	}
	private.write(ctx, resp.Private, &resp.Diagnostics)
}

// configOnly reads the attributes that a plan does not have as configured: those that are write-only, and those that
// are optional and computed. It reads no others, because such reads take a good part of the time of a large plan.
func configOnly(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) subscriptionModel {
	var m subscriptionModel
	diags.Append(config.GetAttribute(ctx, path.Root("events"), &m.Events)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo"), &m.WriteOnly)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo_version"), &m.WriteOnlyVersion)...)
	return m
}

func planCreate(config, plan *subscriptionModel, diags *diag.Diagnostics) {
	plan.WriteOnlyVersion = config.firstWriteOnlyVersion()
	if config.Events.IsNull() {
		plan.Events = types.SetNull(types.StringType) // computed only after an import
	}
	if plan.ApplicationID.IsNull() && plan.OnExisting.ValueString() == existingAdopt {
		diags.AddAttributeWarning(path.Root("on_existing"), "The webhook subscription is assumed to exist", fmt.Sprintf(
			"Without `application_id`, the provider cannot look up the subscription. With `on_existing = %q`, it assumes "+
				"that the subscription exists, and sends nothing. If the subscription does not exist, the service delivers "+
				"nothing.\n\nTo create the subscription, set `on_existing = %q`.", existingAdopt, existingFail))
	}
}

// planUpdate decides whether a change needs a replacement.
func planUpdate(
	config, plan, state *subscriptionModel, private privateData, resp *resource.ModifyPlanResponse,
) {
	if config.Events.IsNull() {
		plan.Events = types.SetNull(types.StringType)
		if !private.Imported.IsZero() {
			plan.Events = state.Events // the events that the service returned, which nobody configured
		}
	}
	plan.WriteOnlyVersion = config.nextWriteOnlyVersion(state, private, &resp.Diagnostics)
	var adopted bool
	for _, change := range plan.changes(state) {
		if private.importPending() && change.prior.IsNull() {
			adopted = true
			continue
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root(change.attribute))
	}
	if len(resp.RequiresReplace) > 0 {
		state.checkDeletionPolicy(causeChange(resp.RequiresReplace[0]), &resp.Diagnostics)
		return
	}
	if adopted {
		resp.Diagnostics.AddWarning("The provider adopts the configuration without sending it",
			"The subscription was imported. The provider assumes that the arguments that the service does not return are "+
				"as configured.")
		return
	}
	if private.inImportGracePeriod(time.Now()) {
		plan.keepImportedPolicies(state, private, &resp.Diagnostics)
	}
}

// keepImportedPolicies leaves the policies of an imported state unchanged. An import cannot read them, and the plan
// after an import has to show whether the service agrees with the configuration.
func (m *subscriptionModel) keepImportedPolicies(
	state *subscriptionModel, private privateData, diags *diag.Diagnostics,
) {
	if !m.DeletionPolicy.Equal(state.DeletionPolicy) {
		diags.AddAttributeWarning(path.Root("deletion_policy"), "deletion_policy is not in effect yet", fmt.Sprintf(
			"The subscription was just imported with `deletion_policy = %q`. A plan after %s changes it to the configured "+
				"value, which sends nothing.",
			state.DeletionPolicy.ValueString(), private.Imported.Add(importGracePeriod).Format(time.RFC3339)))
	}
	m.DeletionPolicy = state.DeletionPolicy
	m.OnExisting = state.OnExisting
}

// What leaves a subscription behind at the service, as the beginning of a sentence.
const (
	causeDestroy = "Terraform is about to destroy the subscription"
	causeReplace = "Terraform is about to replace the subscription"
)

func causeChange(attribute path.Path) string {
	return fmt.Sprintf("Changing %#q needs a new subscription", attribute.String())
}

// checkDeletionPolicy adds an error or a warning with the URL that the service keeps delivering to. It checks the
// policy that was applied, not the one of a configuration that replaces it: with create_before_destroy, Terraform asks
// the policy in the state once more when the new subscription exists, and then it is too late for an error.
func (m *subscriptionModel) checkDeletionPolicy(cause string, diags *diag.Diagnostics) {
	if m.DeletionPolicy.ValueString() == deletionAbandon {
		diags.AddAttributeWarning(path.Root("deletion_policy"), "The webhook subscription remains at the service",
			fmt.Sprintf("%s, and the service cannot delete the current one. The service continues to deliver to %s, and "+
				"Terraform no longer manages that subscription.", cause, m.displayURL()))
		return
	}
	diags.AddAttributeError(path.Root("deletion_policy"), "The webhook subscription cannot be deleted", fmt.Sprintf(
		"%s, and the service cannot delete the current one: it would continue to deliver to %s. The policy "+
			"`deletion_policy = %q` of the last apply blocks this.\n\nTo leave the current subscription behind:\n"+
			"1. Apply only `deletion_policy = %q`, without any other change.\n"+
			"2. Run this operation again.\n\n"+
			"To remove the subscription from the state only, use a `removed` block.",
		cause, m.displayURL(), deletionPrevent, deletionAbandon))
}
