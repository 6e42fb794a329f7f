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
func (m *subscriptionModel) settle(answer *client.SubscriptionResponse, secret *imprint) {
	m.ID = types.StringValue(m.importID())
	if m.WriteOnlyVersion.IsUnknown() {
		m.WriteOnlyVersion = types.Int64Value(countedVersion)
	}
	m.DriftDetection = types.StringValue(driftUnavailable)
	m.WebhookJSON, m.ResponseJSON = types.StringNull(), types.StringNull()
	if answer != nil {
		m.ResponseJSON = secret.shown(answer.Raw.Reveal(), isPersonal) // a secret that the service made is shown this one time
	}
}

// observe writes down a subscription that was found. url, events and the rest stay as they were configured: the service
// may show them otherwise than they were sent, and that would be a difference for ever.
func (m *subscriptionModel) observe(matches []client.Webhook, history history, diags *diag.Diagnostics) {
	m.DriftDetection = types.StringValue(driftAvailable)
	shown := matches[len(matches)-1]
	if own := slices.IndexFunc(matches, func(w client.Webhook) bool { return w.ID == history.ID && w.ID != 0 }); own >= 0 {
		shown = matches[own]
	}
	m.WebhookJSON = history.WriteOnly.shown(shown.Raw.Reveal(), isUnfit)
	if n := len(matches); n > 1 {
		diags.AddWarning("The webhook subscription exists more than once", fmt.Sprintf(
			"The service has %d subscriptions of application %d to %s, and will deliver everything so many times. It cannot delete "+
				"one; the receiver should ignore repetitions, or the operator of the service remove them.",
			n, m.ApplicationID.ValueInt64(), m.shownURL()))
	}
}

// setOf gives the events that somebody else shows; null for none.
func setOf(events []string) types.Set {
	if len(events) == 0 {
		return types.SetNull(types.StringType)
	}
	events = slices.Clone(events)
	slices.Sort(events)
	var values []attr.Value
	for _, event := range slices.Compact(events) {
		values = append(values, types.StringValue(event))
	}
	return types.SetValueMust(types.StringType, values)
}
