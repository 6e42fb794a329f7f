package provider

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.ResourceWithConfigValidators = (*subscriptionResource)(nil)
	_ resource.ResourceWithConfigure        = (*subscriptionResource)(nil)
	_ resource.ResourceWithIdentity         = (*subscriptionResource)(nil)
	_ resource.ResourceWithImportState      = (*subscriptionResource)(nil)
	_ resource.ResourceWithModifyPlan       = (*subscriptionResource)(nil)
	_ resource.ResourceWithUpgradeState     = (*subscriptionResource)(nil)
)

// subscriptionResource is idv_webhook_subscription. The service can only create a subscription and return it.
type subscriptionResource struct{ subscriptionType }

// subscriptionType is what the resource and its list have.
type subscriptionType struct{ connection *connection }

func newSubscriptionResource() resource.Resource { return &subscriptionResource{} }

func (r *subscriptionType) Metadata(
	_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = "idv_webhook_subscription"
	// payload_json may get the URL, or lose it.
	resp.ResourceBehavior.MutableIdentity = true
}

func (r *subscriptionType) Configure(
	_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse,
) {
	r.connection, _ = req.ProviderData.(*connection)
}

// Create subscribes, at most once. It has four phases: look for an equal subscription, send the request, find out what
// became of it if the response is lost, and read the subscription back.
func (r *subscriptionResource) Create(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) {
	c := r.newCreation(ctx, req, resp)
	if c == nil {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, c.deadline)
	defer cancel()
	result := c.create(ctx)
	if result == createdUnread {
		c.readBackWithOthers(ctx)
	}
	if result == notCreated {
		return
	}
	if c.plan.DeletionPolicy.ValueString() == deletionAbandon {
		r.connection.replaces.Store(true)
	}
	// From here on nothing may be an error, because an error would taint the resource, and the replacement of a tainted
	// resource creates a second subscription.
	c.private.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, c.plan.stored())...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, c.plan.identity())...)
}

// Read removes the subscription from the state only if the service clearly does not have it, and has its application.
func (r *subscriptionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state subscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	r.connection.complete(&state)
	prior := state
	importing := state.Readable.IsNull()
	if importing {
		state.setComputed()
	}
	if state.ApplicationID.IsNull() {
		state.warnUnread(importing, private, &resp.Diagnostics)
	} else if !r.readFromService(ctx, &state, importing, &private, resp) {
		return
	}
	r.connection.read.Store(state.key(), storedSubscription{state, private})
	private.write(ctx, resp.Private, &resp.Diagnostics)
	if !reflect.DeepEqual(state, prior) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// readFromService completes the state of a subscription of an application. It returns false if the subscription is not
// in the state any more, or after an error.
func (r *subscriptionResource) readFromService(
	ctx context.Context, state *subscriptionModel, importing bool, private *privateData, resp *resource.ReadResponse,
) bool {
	if r.connection.serviceClient(&resp.Diagnostics) == nil {
		return false
	}
	r.connection.setManaged(state)
	purpose := forRefresh
	if importing {
		purpose = forImport
	}
	result, err := r.lookup(ctx, state, purpose, private.absenceIsConclusive(time.Now()))
	private.Gone = result.gone
	switch {
	case err != nil:
		resp.Diagnostics.AddError("Cannot read the webhook subscription", errorDetail(err))
		return false
	case result.status == lookupAbsent && (importing || result.conclusive):
		state.warnRemoved(&resp.Diagnostics)
		resp.State.RemoveResource(ctx)
		return false
	case result.gone:
		state.Readable = types.BoolValue(false)
		state.warnGone(&resp.Diagnostics)
	default:
		state.refresh(result, importing, private, &resp.Diagnostics)
	}
	return true
}

// refresh records the result of a lookup in a subscription that stays in the state.
func (m *subscriptionModel) refresh(
	result lookupResult, importing bool, private *privateData, diags *diag.Diagnostics,
) {
	warn := importing || m.Readable.ValueBool() || private.Unconfirmed // otherwise, every plan would
	switch result.status {
	case lookupFound:
		if importing {
			m.setImported(result.matches[len(result.matches)-1])
		}
		m.setMatches(result.matches, *private, diags)
		private.Seen, private.Unconfirmed = true, false
		private.Single = result.single
	case lookupAbsent:
		if !private.Seen {
			m.setUnreadable("the service has never returned it", warn, *private, diags)
		}
	case lookupUnknown:
		// A service that returns one webhook at a time hides this one behind a newer one.
		hidden := private.Single && result.answer == &answerOther
		m.setUnreadable(result.reason, warn && !hidden, *private, diags)
	}
}

// Update sends nothing: every change that the service would need requires a replacement.
func (r *subscriptionResource) Update(
	ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse,
) {
	var plan, state subscriptionModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("url_wo"), &plan.URLWriteOnly)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &plan.PayloadWriteOnly)...)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	private.Recorded = true
	if private.WriteOnly == nil { // after an import, the configured payload counts as the one that was sent
		private.WriteOnly = newWriteOnlyDigest(plan.PayloadWriteOnly)
	}
	if plan.Output.IsUnknown() {
		plan.planOutput(&state, &resp.Diagnostics)
	}
	if plan.ID.IsUnknown() { // payload_json was not known in the plan
		r.connection.complete(&plan)
		plan.ID = types.StringValue(plan.identity().importID())
	}
	private.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan.stored())...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
}

// Delete removes the subscription from the state. It checks deletion_policy again, because a tainted resource gets here
// without a plan that could have failed.
func (r *subscriptionResource) Delete(
	ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse,
) {
	var state subscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	r.connection.complete(&state)
	r.connection.setManaged(&state)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	if private.Replaced != nil { // a replacement, for which the plan has checked the configured policy
		private = *private.Replaced
		state.DeletionPolicy = types.StringValue(deletionAbandon)
	}
	r.checkDestroy(&state, private, &resp.Diagnostics)
	if !resp.Diagnostics.HasError() {
		r.connection.abandoned.Store(state.key(), storedSubscription{state, private})
	}
}

// checkDestroy applies deletion_policy, unless nothing is delivered any more.
func (r *subscriptionResource) checkDestroy(state *subscriptionModel, private privateData, diags *diag.Diagnostics) {
	if private.Gone {
		state.noteGone(diags)
		return
	}
	state.checkDeletionPolicy(causeDestroy, diags)
}

func (m *subscriptionModel) warnRemoved(diags *diag.Diagnostics) {
	diags.AddWarning("The webhook subscription no longer exists", fmt.Sprintf(
		"The service returns no webhook of application %d to %s. The provider removed the subscription from the state.\n\n"+
			"If the service keeps one subscription for the account or for a URL, another one may have replaced it: use one "+
			"resource for all.",
		m.ApplicationID.ValueInt64(), m.receiver()))
}

// warnUnread is about a subscription to updates about all applications, which the service cannot return.
func (m *subscriptionModel) warnUnread(importing bool, private privateData, diags *diag.Diagnostics) {
	switch {
	case importing:
		diags.AddWarning("The webhook subscription is assumed to exist", fmt.Sprintf(
			"The service returns subscriptions by application only, so the provider cannot check that one to %s exists. If "+
				"it does not, the service delivers nothing.", m.receiver()))
	case private.Unconfirmed:
		m.warnUnconfirmed("", reasonNoApplication, diags)
	}
}

// warnUnconfirmed says in every plan what a lost or unclear response has left open.
func (m *subscriptionModel) warnUnconfirmed(cause, reason string, diags *diag.Diagnostics) {
	diags.AddWarning("The webhook subscription may not exist", fmt.Sprintf(
		"%sNo response of the service shows that it delivers to %s, and the subscription cannot be read back, because %s. "+
			"It is in the state, and the provider does not send it again.\n\nFind out from a delivery, or from the service's "+
			"support, whether it exists:\n"+
			"* If it exists, remove it from the state with `state rm`, and import it with the ID %q.\n"+
			"* If it does not exist, remove it from the state with `state rm`, and apply again to create it.",
		cause, m.receiver(), reason, m.identity().importID()))
}

func (m *subscriptionModel) setUnreadable(
	reason string, warn bool, private privateData, diags *diag.Diagnostics,
) {
	m.Readable = types.BoolValue(false)
	switch {
	case private.Unconfirmed:
		m.warnUnconfirmed("", reason, diags)
	case warn:
		diags.AddAttributeWarning(path.Root("readable"), "The webhook subscription cannot be read back", fmt.Sprintf(
			"The subscription of application %d to %s stays in the state without a check, because %s.",
			m.ApplicationID.ValueInt64(), m.receiver(), reason))
	}
}

const summaryGone = "The application no longer exists"

// warnGone is about a subscription whose application has come to its end. Without the resource, the next plan would
// create a subscription that never delivers.
func (m *subscriptionModel) warnGone(diags *diag.Diagnostics) {
	diags.AddAttributeWarning(path.Root("application_id"), summaryGone, m.effectOfEnd()+" The subscription stays in the "+
		"state, so that no plan creates another one.\n\nTo remove it, delete the resource from the configuration and apply: "+
		"`deletion_policy` does not block that.")
}

func (m *subscriptionModel) noteGone(diags *diag.Diagnostics) {
	diags.AddWarning(summaryGone, m.effectOfEnd()+" Terraform only removes the subscription from the state.")
}

func (m *subscriptionModel) effectOfEnd() string {
	return fmt.Sprintf("The service has no application %d any more: it deletes an application eight weeks after its "+
		"creation. It delivers nothing about it to %s.", m.ApplicationID.ValueInt64(), m.receiver())
}

func (m *subscriptionModel) addGoneError(diags *diag.Diagnostics) {
	diags.AddAttributeError(path.Root("application_id"), summaryGone, fmt.Sprintf(
		"The service has no application %d: it deletes an application eight weeks after its creation. A subscription to it "+
			"would never deliver. Nothing was sent.\n\nCheck `application_id`, or delete the resource from the "+
			"configuration.", m.ApplicationID.ValueInt64()))
}
