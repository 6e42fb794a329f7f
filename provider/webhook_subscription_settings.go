package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// checkSettings compares what the service shows of a subscription that is to be adopted with the configuration. It adds
// an error and returns false if they differ. Of several subscriptions, one has to agree, and becomes the last.
func (m *subscriptionModel) checkSettings(
	matches []client.Webhook, writeOnly types.String, diags *diag.Diagnostics,
) bool {
	var differences []string
	for n, webhook := range matches {
		if differences = m.differencesFrom(webhook, writeOnly); len(differences) == 0 {
			last := len(matches) - 1
			matches[n], matches[last] = matches[last], matches[n]
			return true
		}
	}
	if len(differences) == 0 {
		return true
	}
	diags.AddAttributeError(path.Root("on_existing"), "The existing webhook subscription differs", fmt.Sprintf(
		"The service has a subscription of application %d to %s with other settings, and cannot change them:\n* %s\n\n"+
			"Nothing was sent. To adopt the subscription, configure the settings that it has.",
		m.ApplicationID.ValueInt64(), m.displayURL(), strings.Join(differences, "\n* ")))
	return false
}

// differencesFrom describes what a webhook shows otherwise than the configuration. It shows the values of events only:
// those of other fields may be secret.
func (m *subscriptionModel) differencesFrom(webhook client.Webhook, writeOnly types.String) []string {
	var differences []string
	shown := jsonFields(string(webhook.Raw.Reveal()))
	secret := jsonFields(writeOnly.ValueString())
	want, configured := m.effectiveEvents()
	got, known := eventsIn(webhook, shown[m.fieldName("events")])
	if _, replaced := secret[m.fieldName("events")]; configured && known && !replaced && !sameEvents(want, got) {
		differences = append(differences, fmt.Sprintf("`events`: the service has %s, the configuration has %s.",
			eventList(got), eventList(want)))
	}
	payload := jsonFields(m.PayloadJSON.ValueString())
	for _, attribute := range []string{"url", "events", "application_id"} {
		delete(payload, m.fieldName(attribute))
	}
	for _, name := range slices.Sorted(maps.Keys(payload)) {
		value, known := shown[name]
		if _, replaced := secret[name]; known && !replaced && !mayBeMasked(name) && !agrees(payload[name], value) {
			differences = append(differences, fmt.Sprintf("The field %s of `payload_json` has another value.",
				printableName(name)))
		}
	}
	return differences
}

// effectiveEvents returns the events of the request, and false if it leaves them to the service or the plan does not
// know them.
func (m *subscriptionModel) effectiveEvents() ([]string, bool) {
	replacement, replaced := jsonFields(m.PayloadJSON.ValueString())[m.fieldName("events")]
	if replaced {
		var events []string
		err := json.Unmarshal(replacement, &events)
		return events, err == nil && events != nil
	}
	for _, event := range m.Events.Elements() {
		if event.IsUnknown() {
			return nil, false
		}
	}
	return m.expandEvents(), !m.Events.IsNull() && !m.Events.IsUnknown()
}

// eventsIn returns the events that a webhook shows, under the configured name if it has one.
func eventsIn(webhook client.Webhook, field json.RawMessage) ([]string, bool) {
	var events []string
	if json.Unmarshal(field, &events) == nil && events != nil {
		return events, true
	}
	return webhook.Events, webhook.Events != nil
}

// sameEvents ignores order, and what a service may write in another way.
func sameEvents(a, b []string) bool { return slices.Equal(foldedEvents(a), foldedEvents(b)) }

func foldedEvents(events []string) []string {
	var folded []string
	for _, event := range events {
		folded = append(folded, wire.FoldName(event))
	}
	slices.Sort(folded)
	return slices.Compact(folded)
}

// eventList is for diagnostics. The service may return any text, so it shows what an import would store.
func eventList(events []string) string {
	const maxShown = 10
	var shown []string
	for _, event := range events {
		if len(shown) < maxShown && isWords(event) {
			shown = append(shown, strconv.Quote(event))
		}
	}
	list := strings.Join(shown, ", ")
	switch more := len(events) - len(shown); {
	case len(events) == 0:
		return "none"
	case len(shown) == 0:
		return fmt.Sprintf("%d with unusual names", more)
	case more > 0:
		return fmt.Sprintf("%s and %d more", list, more)
	default:
		return list
	}
}

// maskedNameParts mark the name of a field that a service may show in another form than was sent.
var maskedNameParts = []string{"secret", "token", "password", "key", "signature", "auth", "credential"}

func mayBeMasked(name string) bool {
	return slices.ContainsFunc(maskedNameParts, func(part string) bool {
		return strings.Contains(wire.FoldName(name), part)
	})
}

// agrees reports whether the service shows what was sent. It may add members to an object, write a number as a string,
// change letter case, and mask a value.
func agrees(sent, shown json.RawMessage) bool {
	want, wantErr := decodeJSON(sent)
	got, gotErr := decodeJSON(shown)
	return wantErr == nil && gotErr == nil && valuesAgree(want, got)
}

func valuesAgree(want, got any) bool {
	switch want := want.(type) {
	case nil:
		return true // null removes a field from the request, so the service decides
	case map[string]any:
		fields, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && (mayBeMasked(name) || valuesAgree(value, fields[name]))
		}
		return ok
	case []any:
		items, ok := got.([]any)
		return ok && slices.EqualFunc(want, items, valuesAgree)
	default:
		text := fmt.Sprint(got)
		return strings.EqualFold(fmt.Sprint(want), text) || strings.Contains(text, "**")
	}
}
