package provider

import (
	"context"
	"fmt"
	"reflect"

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
		r.connection.setManaged(state)
		r.checkDestroy(state, &resp.Diagnostics)
	case state == nil:
		planCreate(&config, plan, &resp.Diagnostics)
		r.lookupForCreate(ctx, plan, config.WriteOnly, &resp.Diagnostics)
		if private.Unchanged != "" {
			replaced := *plan
			replaced.DeletionPolicy = types.StringValue(private.Unchanged)
			replaced.checkDeletionPolicy(causeReplace, &resp.Diagnostics)
		}
		private = private.ofReplacement()
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	default:
		r.connection.setManaged(state)
		proposed := *plan
		planUpdate(&config, plan, state, private, resp)
		private.Unchanged = ""
		if len(resp.RequiresReplace) == 0 {
			private.Unchanged = state.DeletionPolicy.ValueString()
			plan.planIdentity(ctx, resp)
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

// planUpdate decides whether a change needs a replacement. It reads no clock, because the apply of a saved plan plans
// again, and has to come to the same result.
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
	sent := state.sentFor(plan, private)
	for _, attribute := range plan.withoutEmptyWriteOnly(config.WriteOnly).changes(sent) {
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root(attribute))
	}
	if len(resp.RequiresReplace) > 0 {
		state.checkDeletionPolicy(causeChange(resp.RequiresReplace[0]), &resp.Diagnostics)
		return
	}
	if private.importPending() && !sent.sendsSameAs(state) {
		resp.Diagnostics.AddWarning("The provider adopts the configuration without sending it",
			"The subscription was imported. The provider assumes that the arguments that the service does not return are "+
				"as configured.")
	}
}

// planIdentity changes what follows from the URL and the application: both may get another form of the same request.
func (m *subscriptionModel) planIdentity(ctx context.Context, resp *resource.ModifyPlanResponse) {
	m.ID = types.StringUnknown()
	if m.ApplicationID.IsUnknown() {
		return // after a move that does not know the application
	}
	m.ID = types.StringValue(m.importID())
	if resp.Identity != nil {
		resp.Diagnostics.Append(resp.Identity.Set(ctx, m.identity())...)
	}
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
