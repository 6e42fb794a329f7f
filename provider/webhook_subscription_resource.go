package provider

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

var (
	_ resource.ResourceWithConfigure      = (*subscriptionResource)(nil)
	_ resource.ResourceWithIdentity       = (*subscriptionResource)(nil)
	_ resource.ResourceWithImportState    = (*subscriptionResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*subscriptionResource)(nil)
	_ resource.ResourceWithMoveState      = (*subscriptionResource)(nil)
	_ resource.ResourceWithValidateConfig = (*subscriptionResource)(nil)
)

// subscriptionResource is idv_webhook_subscription. The service can only create a subscription and return it.
type subscriptionResource struct{ connection *connection }

func newSubscriptionResource() resource.Resource { return &subscriptionResource{} }

func (r *subscriptionResource) Metadata(
	_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = "idv_webhook_subscription"
	// The URL may get another form of the same request, and a move may not know the application.
	resp.ResourceBehavior.MutableIdentity = true
}

func (r *subscriptionResource) Configure(
	_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse,
) {
	r.connection = connectionFrom(req.ProviderData, &resp.Diagnostics)
}

// Read removes the subscription from the state only if the service clearly does not have it.
func (r *subscriptionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state subscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	if id := state.importID(); !state.ID.IsNull() && state.ID.ValueString() != id {
		state.ID = types.StringValue(id) // a former version wrote tokens into it
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
	// In any case, because an older version may have written more than this one does.
	private.write(ctx, resp.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || state.ApplicationID.IsNull() {
		return
	}
	service := r.connection.serviceClient(&resp.Diagnostics)
	if service == nil {
		return
	}
	r.connection.setManaged(&state)
	importing := private.importPending() && state.ID.IsNull()
	purpose := forRefresh
	if importing {
		purpose = forImport
	}
	// Evaluated once: the window of time may end between two looks.
	removable := importing || private.absenceIsConclusive(time.Now())
	result, err := r.lookup(ctx, service, state, purpose, removable && !importing)
	if err != nil {
		addRequestError(&resp.Diagnostics, "Cannot read the webhook subscription", err)
		return
	}
	if result.status == lookupAbsent && removable {
		state.warnRemoved(&resp.Diagnostics)
		resp.State.RemoveResource(ctx)
		return
	}
	prior := state
	if importing {
		state.setComputed()
	}
	state.refresh(result, &prior, &private, &resp.Diagnostics)
	private.write(ctx, resp.Private, &resp.Diagnostics)
	if !reflect.DeepEqual(state, prior) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// refresh records the result of a lookup in a subscription that stays in the state.
func (m *subscriptionModel) refresh(
	result lookupResult, prior *subscriptionModel, private *privateData, diags *diag.Diagnostics,
) {
	warn := prior.DriftDetection.ValueString() != driftUnavailable // otherwise, every plan would
	switch result.status {
	case lookupFound:
		if private.importPending() && prior.ID.IsNull() {
			// Not only those with a usual word: the plan compares them with the configured ones.
			m.Events = storedEvents(result.matches[len(result.matches)-1].Events, isWords)
		}
		m.setMatches(result.matches, *private, diags)
		private.Seen = true
		private.Single = result.single
	case lookupAbsent:
		if !private.Seen {
			m.setUnavailable("the service has never returned it", warn, diags)
		}
	case lookupUnknown:
		// A service that returns one webhook at a time hides this one behind a newer one.
		hidden := private.Single && result.answer == &answerOther
		m.setUnavailable(result.reason, warn && !hidden, diags)
	}
}

// lookup sends one request for all subscriptions of an application that are read at the same time. With twice, absence
// needs two responses.
func (r *subscriptionResource) lookup(
	ctx context.Context, service *client.Client, state subscriptionModel, purpose lookupPurpose, twice bool,
) (lookupResult, error) {
	timeout, _ := state.Timeouts.Read(ctx, defaultTimeout) // validated when it was configured
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	lock, ok := r.connection.locks.acquire(ctx, state.ApplicationID.ValueInt64())
	if !ok {
		err := context.Cause(ctx)
		return lookupResult{}, fmt.Errorf("waiting for other subscriptions of the application failed: %w", err)
	}
	defer lock.release()
	result, err := state.lookup(ctx, service, purpose, lock.webhooks.get)
	if err == nil && result.status == lookupAbsent && twice {
		return state.lookup(ctx, service, purpose, lock.webhooks.getPrevious)
	}
	return result, err
}

func (m *subscriptionModel) warnRemoved(diags *diag.Diagnostics) {
	diags.AddWarning("The webhook subscription no longer exists", fmt.Sprintf(
		"The service returns no webhook of application %d to %s. Either the subscription was removed at the service, or "+
			"its application was deleted, as the service does after eight weeks. The provider removed the subscription "+
			"from the state.", m.ApplicationID.ValueInt64(), m.displayURL()))
}

func (m *subscriptionModel) setUnavailable(reason string, warn bool, diags *diag.Diagnostics) {
	m.DriftDetection = types.StringValue(driftUnavailable)
	if !warn {
		return
	}
	diags.AddAttributeWarning(path.Root("drift_detection"), "The webhook subscription cannot be read back", fmt.Sprintf(
		"The subscription of application %d to %s stays in the state without a check, because %s.",
		m.ApplicationID.ValueInt64(), m.displayURL(), reason))
}

// Update sends nothing: every change that the service would need requires a replacement.
func (r *subscriptionResource) Update(
	ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse,
) {
	var plan subscriptionModel
	var writeOnly types.String
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &writeOnly)...)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	private.Recorded = true
	if private.WriteOnly == nil { // after an import, the configured payload counts as the one that was sent
		private.WriteOnly = newWriteOnlyDigest(writeOnly)
	}
	private.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
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
	r.connection.setManaged(&state)
	private := readPrivateData(ctx, req.Private, &resp.Diagnostics)
	r.checkDestroy(&state, &resp.Diagnostics)
	if private.Replaced != nil {
		private = *private.Replaced
	}
	if !resp.Diagnostics.HasError() && !r.connection.abandoned.isAdopted(&state) {
		r.connection.abandoned.add(state, private)
	}
}

// checkDestroy applies deletion_policy, unless another resource has adopted the subscription in this run.
func (r *subscriptionResource) checkDestroy(state *subscriptionModel, diags *diag.Diagnostics) {
	if !r.connection.abandoned.isAdopted(state) {
		state.checkDeletionPolicy(causeDestroy, diags)
	}
}

// subscriptionIdentity identifies a subscription. The service's own ID is not part of it, because not every response
// contains one.
type subscriptionIdentity struct {
	ApplicationID types.Int64  `tfsdk:"application_id"`
	URL           types.String `tfsdk:"url"`
}

func (r *subscriptionResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"application_id": identityschema.Int64Attribute{
				// Only a subscription of an application can be imported, but one without an application has an identity
				// too.
				OptionalForImport: true,
				Description:       "ID of the application. Required for an import.",
			},
			"url": identityschema.StringAttribute{
				RequiredForImport: true,
				Description:       "URL that the service delivers to.",
			},
		},
	}
}
