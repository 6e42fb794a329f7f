package provider

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// settle gives every computed value its first one, so that the state is complete from the start. A nil answer stands
// for a subscription that was not sent, or whose answer was lost.
func (m *subscriptionModel) settle(answer *client.SubscriptionAnswer) {
	m.ID = types.StringValue(m.importID())
	m.DriftDetection = types.StringValue(driftUnavailable)
	m.WebhookJSON, m.ResponseJSON = types.StringNull(), types.StringNull()
	if answer != nil {
		m.ResponseJSON = normalized(answer.Raw.Reveal())
	}
}

// observe writes down a subscription that was found. url, events and the rest stay as they were configured: the service
// may show them otherwise than they were sent, and that would be a difference for ever.
func (m *subscriptionModel) observe(matches []client.Webhook, diags *diag.Diagnostics) {
	m.DriftDetection = types.StringValue(driftAvailable)
	m.WebhookJSON = normalized(matches[0].Raw.Reveal())
	if n := len(matches); n > 1 {
		diags.AddWarning("The webhook subscription exists more than once", fmt.Sprintf(
			"The service has %d subscriptions of application %d to %s, and will deliver everything so many times. It cannot delete "+
				"one; the receiver should ignore repetitions, or the operator of the service remove them.",
			n, m.ApplicationID.ValueInt64(), m.shownURL()))
	}
}

// eventsOf gives the events that the service shows for a webhook; null if it shows none.
func eventsOf(webhook client.Webhook) types.Set {
	if len(webhook.Events) == 0 {
		return types.SetNull(types.StringType)
	}
	events := slices.Clone(webhook.Events)
	slices.Sort(events)
	var values []attr.Value
	for _, event := range slices.Compact(events) {
		values = append(values, types.StringValue(event))
	}
	return types.SetValueMust(types.StringType, values)
}
