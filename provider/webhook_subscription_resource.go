package provider

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
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

// subscriptionResource is idv_webhook_subscription. The service can create a subscription and show it, and nothing else.
type subscriptionResource struct{ connection *connection }

func newSubscriptionResource() resource.Resource { return &subscriptionResource{} }

func (r *subscriptionResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "idv_webhook_subscription"
}

func (r *subscriptionResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connection = connectionOf(req.ProviderData, &resp.Diagnostics)
}

// Read looks whether the subscription is still there. Only a clear absence takes it from the state.
func (r *subscriptionResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state subscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	history := readHistory(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || state.ApplicationID.IsNull() {
		return
	}
	service := r.connection.service(&resp.Diagnostics)
	if service == nil {
		return
	}
	seen, err := r.look(ctx, service, state)
	if err != nil {
		addError(&resp.Diagnostics, "Cannot read the webhook subscription", err)
		return
	}
	before := state
	importing := history.adopting() && state.ID.IsNull()
	if importing {
		state.settle(nil, nil)
	}
	switch seen.verdict {
	case found:
		if importing {
			state.Events = setOf(seen.matches[len(seen.matches)-1].Events)
		}
		state.observe(seen.matches, history, &resp.Diagnostics)
		history.Seen = true
	case absent:
		if importing || history.absenceCounts(time.Now()) {
			resp.Diagnostics.AddWarning("The webhook subscription is gone", fmt.Sprintf(
				"The service shows no webhook of application %d to %s: the subscription was removed there, or the application with all "+
					"that belongs to it, as happens after eight weeks. So it is not in the state any more.", state.ApplicationID.ValueInt64(), state.shownURL()))
			resp.State.RemoveResource(ctx)
			return
		}
		if !history.Seen {
			seen.why = "the service has never shown it"
			state.warnUnavailable(seen, resp)
		}
	case unclear:
		state.warnUnavailable(seen, resp)
	}
	history.write(ctx, resp.Private, &resp.Diagnostics)
	if !reflect.DeepEqual(state, before) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	}
}

// look asks what the service shows, once for all subscriptions of an application that are read at the same time.
func (r *subscriptionResource) look(ctx context.Context, service *client.Client, state subscriptionModel) (sighting, error) {
	limit, _ := state.Timeouts.Read(ctx, defaultTimeout) // what the state holds was valid when it was configured
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	turn, ok := r.connection.turns.take(ctx, state.ApplicationID.ValueInt64())
	if !ok {
		return sighting{}, fmt.Errorf("the wait for other subscriptions of the application ended: %w", context.Cause(ctx))
	}
	defer turn.release()
	return state.lookUp(ctx, service, turn.ask)
}

func (m *subscriptionModel) warnUnavailable(seen sighting, resp *resource.ReadResponse) {
	m.DriftDetection = types.StringValue(driftUnavailable)
	resp.Diagnostics.AddAttributeWarning(path.Root("drift_detection"), "The webhook subscription cannot be read back", fmt.Sprintf(
		"The subscription of application %d to %s stays in the state as it is, because %s.", m.ApplicationID.ValueInt64(), m.shownURL(), seen.why))
}

// Update sends nothing: whatever the service would have to know makes a replacement.
func (r *subscriptionResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan subscriptionModel
	var writeOnly types.String
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &writeOnly)...)
	history := readHistory(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	history.Recorded = true
	if history.WriteOnly == nil { // imported, and what the configuration holds is taken to be what was sent
		history.WriteOnly = imprintOf(writeOnly)
	}
	history.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
}

// Delete takes the subscription from the state. It asks deletion_policy once more, because a tainted resource comes here
// without a plan that could have said no.
func (r *subscriptionResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state subscriptionModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	state.checkAbandon("a destroy", &resp.Diagnostics)
	if receiver, known := state.receiver(); known && !state.ApplicationID.IsNull() && !resp.Diagnostics.HasError() {
		if turn, ok := r.connection.turns.take(ctx, state.ApplicationID.ValueInt64()); ok {
			turn.abandoned[receiver] = state
			turn.release()
		}
	}
}
