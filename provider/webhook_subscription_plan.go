package provider

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func (r *subscriptionResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{resourcevalidator.ExactlyOneOf(path.MatchRoot("url"), path.MatchRoot("url_wo"))}
}

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
		config = r.configOnly(ctx, req.Config, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	r.connection.complete(plan)
	r.connection.complete(state)
	switch {
	case plan == nil && state == nil:
		return
	case plan == nil && r.connection.replaces.Load():
		private = private.ofReplacement()
	case plan == nil:
		r.connection.setManaged(state)
		r.checkDestroy(state, private, &resp.Diagnostics)
	case state == nil:
		r.planCreate(ctx, &config, plan, private, &resp.Diagnostics)
		private = private.ofReplacement()
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan.stored())...)
	default:
		r.connection.setManaged(state)
		proposed := *plan
		planUpdate(&config, plan, state, private, resp)
		private.Unchanged = len(resp.RequiresReplace) == 0
		if resp.Identity != nil && private.Unchanged && !plan.ID.IsUnknown() {
			resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
		}
		if !reflect.DeepEqual(*plan.stored(), proposed) {
			resp.Diagnostics.Append(resp.Plan.Set(ctx, plan.stored())...)
		}
	}
	private.write(ctx, resp.Private, &resp.Diagnostics)
}

// configOnly reads the attributes that a plan does not have as configured: those that are write-only, and those that
// are optional and computed. It reads no others, because such reads take a good part of the time of a large plan.
func (r *subscriptionResource) configOnly(
	ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics,
) subscriptionModel {
	var m subscriptionModel
	diags.Append(config.GetAttribute(ctx, path.Root("url_wo"), &m.URLWriteOnly)...)
	diags.Append(config.GetAttribute(ctx, path.Root("events"), &m.Events)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo"), &m.PayloadWriteOnly)...)
	diags.Append(config.GetAttribute(ctx, path.Root("payload_json_wo_version"), &m.PayloadVersion)...)
	return m
}

func (r *subscriptionResource) planCreate(
	ctx context.Context, config, plan *subscriptionModel, private privateData, diags *diag.Diagnostics,
) {
	plan.URLWriteOnly, plan.PayloadWriteOnly = config.URLWriteOnly, config.PayloadWriteOnly
	plan.PayloadVersion = config.firstPayloadVersion()
	if config.Events.IsNull() {
		plan.Events = types.SetNull(types.StringType) // computed only after an import
	}
	plan.checkPayloads(diags)
	switch abandoned := plan.DeletionPolicy.ValueString() == deletionAbandon; {
	case private.Unchanged && abandoned && plan.ApplicationID.IsNull():
		plan.addNothingToReplaceError(diags)
	case private.Unchanged:
		plan.checkDeletionPolicy(causeReplace, diags)
	case private == (privateData{}) && r.isTainted(plan) &&
		(plan.ApplicationID.IsNull() || plan.PayloadVersion.IsUnknown()):
		plan.addNothingToReplaceError(diags)
	}
	if !diags.HasError() {
		r.planLookup(ctx, plan, diags)
	}
}

// isTainted reports whether the state has the subscription. Of a tainted resource, the CLI gives a plan neither the
// state nor the private data, but it has read it before. With an application, the apply only lacks a digest: see sent.
func (r *subscriptionResource) isTainted(plan *subscriptionModel) bool {
	if r.connection == nil || !plan.isIdentityKnown() {
		return false
	}
	value, _ := r.connection.read.Load(plan.key())
	read, ok := value.(storedSubscription)
	return ok && read.sent(plan)
}

// addNothingToReplaceError is about a replacement without a change of a subscription that the service cannot show. With
// create_before_destroy, the CLI does not say in the apply that it replaces anything, so the plan has to.
func (m *subscriptionModel) addNothingToReplaceError(diags *diag.Diagnostics) {
	diags.AddError("The webhook subscription has nothing to replace", fmt.Sprintf(
		"Terraform is about to replace the subscription to %s, but the request stays the same. A second subscription would "+
			"deliver each update twice. Nothing was sent.\n\nLeave out the option `-replace`, or remove "+
			"`replace_triggered_by` from the resource. If it is tainted, run `untaint`; if it has another name, add a `moved` "+
			"block. To create another subscription, change an argument of the request.",
		m.receiver()))
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
	plan.SubscriptionID, plan.Readable = state.SubscriptionID, state.Readable
	plan.Pointers = state.Pointers
	plan.planOutput(state, &resp.Diagnostics)
	plan.URLWriteOnly, plan.PayloadWriteOnly = config.URLWriteOnly, config.PayloadWriteOnly
	plan.checkPayloads(&resp.Diagnostics)
	if private.PlainURL && private.importPending() && !config.URLWriteOnly.IsNull() {
		resp.Diagnostics.AddError("Import the webhook subscription by the digest of its URL", fmt.Sprintf(
			"The import had the URL in its ID, so the URL is in the state. With `url_wo`, it must not be there.\n\nRemove the "+
				"subscription from the state with `state rm` if it is there, and import it with the ID %q.",
			state.identity().importID()))
	}
	plan.planID(state, &resp.Diagnostics)
	plan.PayloadVersion = config.nextPayloadVersion(state, private, &resp.Diagnostics)
	sent := state.sentFor(plan, private)
	resp.RequiresReplace = plan.withoutEmptyPayload().changes(sent)
	if plan.ApplicationID.IsUnknown() || plan.PayloadJSON.IsUnknown() {
		plan.ID = types.StringUnknown()
	}
	switch {
	case len(resp.RequiresReplace) > 0:
		plan.planReplacement(state, private, resp)
	case private.importPending() && !sent.sendsSameAs(state):
		resp.Diagnostics.AddWarning("The provider adopts the configuration without sending it",
			"The subscription was imported. The provider assumes that the arguments that the service does not return are "+
				"as configured.")
	}
}

// planID plans the digest of the URL. The ID is unknown if the URL may be another one.
func (m *subscriptionModel) planID(state *subscriptionModel, diags *diag.Diagnostics) {
	versioned := !m.URLVersion.IsNull() && m.URLVersion.Equal(state.URLVersion)
	m.ID = types.StringNull()
	switch {
	case !isKnown(m.configuredURL()) && versioned:
		m.ID = state.ID
	case !isKnown(m.configuredURL()):
		m.ID = types.StringUnknown()
	case versioned && m.urlDigest() != state.urlDigest():
		diags.AddAttributeWarning(path.Root("url_wo_version"), "The change of url_wo is ignored",
			"`url_wo` changed but `url_wo_version` did not. The provider sends nothing. Increase the version to replace the "+
				"subscription.")
		m.ID = state.ID
	default:
		m.ID = types.StringValue(m.identity().importID())
	}
}

// planReplacement applies the configured deletion_policy, because this plan shows it.
func (m *subscriptionModel) planReplacement(
	state *subscriptionModel, private privateData, resp *resource.ModifyPlanResponse,
) {
	change := resp.RequiresReplace[0]
	old := *state
	old.DeletionPolicy = m.DeletionPolicy
	switch {
	case !private.Gone:
		old.checkDeletionPolicy(causeChange(change), &resp.Diagnostics)
	case m.ApplicationID.Equal(state.ApplicationID):
		state.addGoneError(&resp.Diagnostics)
	default:
		state.noteGone(&resp.Diagnostics)
	}
}

// What leaves a subscription behind at the service, as the beginning of a sentence.
const (
	causeDestroy = "Terraform is about to destroy the subscription"
	causeReplace = "Terraform is about to replace the subscription"
)

func causeChange(attribute path.Path) string {
	name := attribute.String()
	if name == "id" {
		name = "url_wo"
	}
	return fmt.Sprintf("Changing %#q needs a new subscription", name)
}

// checkDeletionPolicy adds an error or a warning with the URL that the service keeps delivering to.
func (m *subscriptionModel) checkDeletionPolicy(cause string, diags *diag.Diagnostics) {
	if m.DeletionPolicy.ValueString() == deletionAbandon {
		diags.AddAttributeWarning(path.Root("deletion_policy"), "The webhook subscription remains at the service",
			fmt.Sprintf("%s, and the service cannot delete the current one. The service continues to deliver to %s, and "+
				"Terraform no longer manages that subscription.", cause, m.receiver()))
		return
	}
	steps := "1. Apply `deletion_policy = %[1]q` without any other change.\n2. Run this operation again."
	if cause != causeDestroy {
		steps = "Set `deletion_policy = %[1]q` together with the change."
	}
	diags.AddAttributeError(path.Root("deletion_policy"), "The webhook subscription cannot be deleted", fmt.Sprintf(
		"%s, and the service cannot delete the current one: it would continue to deliver to %s. "+
			"`deletion_policy = %q` blocks this.\n\nTo leave the current subscription behind:\n%s\n\n"+
			"To remove the subscription from the state only, use a `removed` block.",
		cause, m.receiver(), deletionPrevent, fmt.Sprintf(steps, deletionAbandon)))
}
