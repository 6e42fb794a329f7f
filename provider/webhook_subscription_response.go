package provider

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// setComputed gives every computed attribute its first value, so that the state is complete from the start. The
// response is nil for a subscription that was not sent, or whose response was lost.
func (m *subscriptionModel) setComputed(response *client.SubscriptionResponse, digest *writeOnlyDigest) {
	m.ID = types.StringValue(m.importID())
	if m.WriteOnlyVersion.IsUnknown() {
		m.WriteOnlyVersion = types.Int64Value(defaultWriteOnlyVersion)
	}
	m.DriftDetection = types.StringValue(driftUnavailable)
	m.WebhookJSON = types.StringNull()
	m.ResponseJSON = types.StringNull()
	if response != nil {
		// Secrets stay in it: the service may return one that it generated only this once.
		m.ResponseJSON = digest.redact(response.Raw.Reveal(), isPersonal)
	}
}

// setMatches records a subscription that the service returned. The configured attributes stay unchanged: the service
// may write them in another form than was sent, which would be a permanent difference.
func (m *subscriptionModel) setMatches(matches []client.Webhook, private privateData, diags *diag.Diagnostics) {
	m.DriftDetection = types.StringValue(driftAvailable)
	webhook := matches[len(matches)-1]
	isOwn := func(w client.Webhook) bool { return w.ID == private.ID && w.ID != 0 }
	if own := slices.IndexFunc(matches, isOwn); own >= 0 {
		webhook = matches[own]
	}
	m.WebhookJSON = private.WriteOnly.redact(webhook.Raw.Reveal(), isPersonalOrSecret)
	if n := len(matches); n > 1 {
		diags.AddWarning("Duplicate webhook subscriptions", fmt.Sprintf(
			"The service has %[1]d subscriptions of application %[2]d to %[3]s and delivers each update %[1]d times. It "+
				"cannot delete a subscription.\n\nMake the receiver ignore duplicates, or ask the operator of the service to "+
				"remove the other subscriptions.", n, m.ApplicationID.ValueInt64(), m.displayURL()))
	}
}

// flattenEvents returns the events of a response; null for none.
func flattenEvents(events []string) types.Set {
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
