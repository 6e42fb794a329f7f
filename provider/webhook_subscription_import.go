package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client/wire"
)

// ImportState accepts APPLICATION_ID/URL or the identity. Read then looks for the subscription, and fails the import if
// the service clearly does not have it. Where the response proves nothing, the import succeeds: it is the way to take a
// subscription into the state that the user knows to exist.
func (r *subscriptionResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	var identity subscriptionIdentity
	if req.ID == "" {
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		identity = parseImportID(req.ID)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if identity.ApplicationID.ValueInt64() < 1 || !isReceiverURL(identity.URL.ValueString()) {
		resp.Diagnostics.AddError("Invalid import ID",
			"Import a webhook subscription by APPLICATION_ID/URL, such as 4711/https://hooks.example.com/idv, or by an "+
				"identity with `application_id` and `url`.\n\nThe service does not return a subscription without an "+
				"application. Set `on_existing = \"adopt\"` to take such a subscription into the state.")
		return
	}
	privateData{Imported: time.Now().UTC()}.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, identity)...)
	imported := importedModel(identity.URL, identity.ApplicationID, types.SetNull(types.StringType))
	resp.Diagnostics.Append(resp.State.Set(ctx, imported)...)
}

func parseImportID(id string) subscriptionIdentity {
	application, url, _ := strings.Cut(id, "/")
	applicationID, err := strconv.ParseInt(application, 10, 64)
	if err != nil {
		return subscriptionIdentity{}
	}
	return subscriptionIdentity{ApplicationID: types.Int64Value(applicationID), URL: types.StringValue(url)}
}

// moveSources are the resource types that people use to subscribe where there is no provider for the service.
var moveSources = map[string]struct {
	providerSuffix string   // the end of the provider's address
	attributes     []string // those that hold what was sent
}{
	"restful_operation": {"/magodo/restful", []string{"body"}},
	"restapi_object":    {"/mastercard/restapi", []string{"data"}},
	"terraform_data":    {"/builtin/terraform", []string{"input"}},
}

// MoveState takes over what another provider sent: `moved { from = restful_operation.x, to = idv_webhook_subscription.x
// }`. As after an import, the provider assumes that the arguments that it cannot read are as configured.
func (r *subscriptionResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: moveSubscription}}
}

func moveSubscription(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	source, ok := moveSources[req.SourceTypeName]
	sourceProvider := strings.ToLower(req.SourceProviderAddress)
	if !ok || !strings.HasSuffix(sourceProvider, source.providerSuffix) || req.SourceRawState == nil {
		return
	}
	var state map[string]json.RawMessage
	_ = json.Unmarshal(req.SourceRawState.JSON, &state) // what is not an object has no URL, which is an error below
	var request movedRequest
	for _, attribute := range source.attributes {
		request.read(state[attribute])
	}
	if !isReceiverURL(request.url) {
		resp.Diagnostics.AddError("Cannot move to a webhook subscription", fmt.Sprintf(
			"The state of the %[1]s has no URL to deliver to: %[2]s contains no `url`, or one that is neither https nor on "+
				"a loopback host.\n\nTo manage the subscription without a move:\n"+
				"1. Remove the `moved` block.\n"+
				"2. Import the subscription by APPLICATION_ID/URL, or set `on_existing = %[3]q`.\n"+
				"3. Remove the %[1]s from the state with a `removed` block.",
			req.SourceTypeName, strings.Join(source.attributes, " and "), existingAdopt))
		return
	}
	applicationID := types.Int64Null()
	if request.applicationID > 0 {
		applicationID = types.Int64Value(request.applicationID)
	}
	moved := importedModel(types.StringValue(request.url), applicationID, flattenEvents(request.events))
	moved.setComputed()
	privateData{Imported: time.Now().UTC()}.write(ctx, resp.TargetPrivate, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, moved)...)
	resp.Diagnostics.Append(resp.TargetIdentity.Set(ctx, moved.identity())...)
}

// movedRequest is what the state of another resource holds of a request to subscribe.
type movedRequest struct {
	url           string
	applicationID int64
	events        []string
}

// read accepts an object, a string that holds one, a string that is the URL, and a value of any type as Terraform
// stores it in states: {"value": ..., "type": ...}.
func (r *movedRequest) read(raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if isReceiverURL(text) {
			r.url = text
			return
		}
		raw = json.RawMessage(text)
	}
	fields := jsonFields(string(raw))
	if _, typed := fields["type"]; typed && fields["value"] != nil {
		r.read(fields["value"])
		return
	}
	for name, value := range fields {
		switch wire.FoldName(name) {
		case "url", "targeturl", "callbackurl", "webhookurl", "endpointurl":
			_ = json.Unmarshal(value, &r.url)
		case "applicationid", "mandateid":
			if json.Unmarshal(value, &r.applicationID) != nil {
				_ = json.Unmarshal([]byte(strings.Trim(string(value), `"`)), &r.applicationID)
			}
		case "events", "eventtypes":
			_ = json.Unmarshal(value, &r.events)
		}
	}
}
