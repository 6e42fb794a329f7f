package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// movable are the resources that people subscribe with where there is none of its own, each with the attributes of its
// state that hold what was sent.
var movable = map[string]struct {
	provider   string // the end of its address
	attributes []string
}{
	"restful_operation": {"/magodo/restful", []string{"body"}},
	"restapi_object":    {"/mastercard/restapi", []string{"data"}},
	"terraform_data":    {"/builtin/terraform", []string{"input"}},
}

// MoveState takes over what another provider sent: `moved { from = restful_operation.x, to = idv_webhook_subscription.x }`.
// As after an import, what cannot be known of it is taken to be as configured.
func (r *subscriptionResource) MoveState(context.Context) []resource.StateMover {
	return []resource.StateMover{{StateMover: moveSubscription}}
}

func moveSubscription(ctx context.Context, req resource.MoveStateRequest, resp *resource.MoveStateResponse) {
	source, ok := movable[req.SourceTypeName]
	if !ok || !strings.HasSuffix(strings.ToLower(req.SourceProviderAddress), source.provider) || req.SourceRawState == nil {
		return
	}
	var state map[string]json.RawMessage
	_ = json.Unmarshal(req.SourceRawState.JSON, &state) // of what is no object nothing can be read, which the error says
	var body sentBody
	for _, attribute := range source.attributes {
		body.read(state[attribute])
	}
	if !isReceiverURL(body.url) {
		resp.Diagnostics.AddError("Cannot move to a webhook subscription", fmt.Sprintf(
			"The state of the %s does not say where the service delivers to: %s holds no url, or one that is neither https nor on a loopback "+
				"host. Take the moved block away; import the subscription by APPLICATION_ID/URL, or set on_existing = %q, and let a removed block "+
				"forget the %[1]s.", req.SourceTypeName, strings.Join(source.attributes, " and "), existingAdopt))
		return
	}
	application := types.Int64Null()
	if body.application > 0 {
		application = types.Int64Value(body.application)
	}
	moved := existingModel(types.StringValue(body.url), application, setOf(body.events))
	moved.settle(nil, nil)
	history{Imported: time.Now().UTC()}.write(ctx, resp.TargetPrivate, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.TargetState.Set(ctx, moved)...)
	resp.Diagnostics.Append(resp.TargetIdentity.Set(ctx, moved.identity())...)
}

// sentBody is what the state of another resource tells of a request to subscribe.
type sentBody struct {
	url         string
	application int64
	events      []string
}

// read understands an object, a text that holds one, a text that is the URL, and a value of any type as Terraform writes
// it into states: {"value": ..., "type": ...}.
func (b *sentBody) read(raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if isReceiverURL(text) {
			b.url = text
			return
		}
		raw = json.RawMessage(text)
	}
	fields := fieldsOf(string(raw))
	if _, typed := fields["type"]; typed && fields["value"] != nil {
		b.read(fields["value"])
		return
	}
	for name, value := range fields {
		switch client.FoldName(name) {
		case "url", "targeturl", "callbackurl", "webhookurl", "endpointurl":
			_ = json.Unmarshal(value, &b.url)
		case "applicationid", "mandateid":
			if json.Unmarshal(value, &b.application) != nil {
				_ = json.Unmarshal([]byte(strings.Trim(string(value), `"`)), &b.application)
			}
		case "events", "eventtypes":
			_ = json.Unmarshal(value, &b.events)
		}
	}
}
