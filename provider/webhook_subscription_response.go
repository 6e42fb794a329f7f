package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// setComputed gives every computed attribute its first value, so that the state is complete from the start.
func (m *subscriptionModel) setComputed() {
	m.ID = types.StringValue(m.importID())
	if m.WriteOnlyVersion.IsUnknown() {
		m.WriteOnlyVersion = types.Int64Value(defaultWriteOnlyVersion)
	}
	m.DriftDetection = types.StringValue(driftUnavailable)
	m.WebhookJSON = types.StringNull()
	m.ResponseJSON = types.StringNull()
}

// setResponse stores the response to a subscription, as far as it may be stored. A secret that the service generated
// stays in it, because the service may return it only this once. It returns the service's ID of the subscription, or 0.
func (m *subscriptionModel) setResponse(
	response *client.SubscriptionResponse, writeOnly types.String, diags *diag.Diagnostics,
) int64 {
	filter := m.stateFilter(privateData{})
	filter.add(textRule(isSecret), secretFields...)
	filter.keep = folded(stringsOf(m.KeepResponseFields)...)
	filter.sent = newSentPayload(m.PayloadJSON, writeOnly)
	m.ResponseJSON = filter.apply(response.Raw.Reveal())
	if names := filter.leftOutNames(); len(names) > 0 {
		diags.AddAttributeWarning(path.Root("keep_response_fields"), "The response is not stored completely", fmt.Sprintf(
			"The service created the subscription to %s. The provider does not store these fields of its response, because "+
				"they may hold personal data: %s. The service may return a secret in one of them only this once.\n\n"+
				"If you need a field, ask the service's support for the value of this subscription. To store the field "+
				"of the next subscription, add its name to `keep_response_fields`.", m.displayURL(), nameSome(names)))
	}
	if filter.sent.repeats("", json.Number(strconv.FormatInt(response.ID, 10))) {
		return 0
	}
	return storedID(response.ID)
}

// maxNames is the number of names in a diagnostic.
const maxNames = 20

func nameSome(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// stateFilter returns a filter for responses about the subscription. Of URLs, only its own is stored, in whatever form
// the service returns it. After a create with payload_json_wo, whose values are not known any more, only events and IDs
// that the state has are stored: others might repeat it.
func (m *subscriptionModel) stateFilter(private privateData) *stateFilter {
	ownURL, known := m.effectiveURL()
	url := textRule(func(text string) bool { return known && client.CanonicalURL(text) == client.CanonicalURL(ownURL) })
	configured, ids := stringsOf(m.Events), []string{fmt.Sprint(private.ID), fmt.Sprint(m.ApplicationID.ValueInt64())}
	event := func(text string) bool { return slices.Contains(configured, text) }
	id := func(text string) bool { return slices.Contains(ids, text) }
	if private.WriteOnly == nil {
		event = func(text string) bool { return slices.Contains(configured, text) || isServiceWord(text) }
		id = isID
	}
	filter := newStateFilter(textRule(id), url, eventsRule(event))
	filter.add(textRule(id), m.fieldName("application_id"))
	filter.add(eventsRule(event), m.fieldName("events"))
	filter.add(url, m.fieldName("url"))
	return filter
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
	m.WebhookJSON = m.stateFilter(private).apply(webhook.Raw.Reveal())
	if n := len(matches); n > 1 {
		diags.AddWarning("Duplicate webhook subscriptions", fmt.Sprintf(
			"The service has %[1]d subscriptions of application %[2]d to %[3]s and delivers each update %[1]d times. It "+
				"cannot delete a subscription.\n\nMake the receiver ignore duplicates, or ask the service's support to "+
				"remove the other subscriptions.", n, m.ApplicationID.ValueInt64(), m.displayURL()))
	}
}

// storedEvents returns the events of a response; null for none, and if one of them is not valid.
func storedEvents(events []string, valid func(event string) bool) types.Set {
	if slices.ContainsFunc(events, func(event string) bool { return !valid(event) }) {
		return types.SetNull(types.StringType)
	}
	return flattenEvents(events)
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
