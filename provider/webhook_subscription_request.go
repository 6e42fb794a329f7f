package provider

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// request returns the request for a subscription whose values are all known.
func (m *subscriptionModel) request() client.Subscription {
	request := client.Subscription{
		URL:           client.Hide(m.configuredURL().ValueString()),
		ApplicationID: m.ApplicationID.ValueInt64(),
		Events:        m.sortedEvents(),
		FieldNames:    m.fieldNames,
	}
	if payload := mergePayloads(m.PayloadJSON, m.PayloadWriteOnly); payload != nil {
		request.Payload = client.Hide(payload)
	}
	return request
}

// sortedEvents returns the events in the order of the request.
func (m *subscriptionModel) sortedEvents() []string {
	var events []string
	for _, element := range m.Events.Elements() {
		if text, ok := element.(types.String); ok {
			events = append(events, text.ValueString())
		}
	}
	slices.Sort(events)
	return events
}

// stringsOf returns the elements of a map of strings.
func stringsOf(from types.Map) map[string]string {
	texts := map[string]string{}
	for name, element := range from.Elements() {
		if text, ok := element.(types.String); ok {
			texts[name] = text.ValueString()
		}
	}
	return texts
}

// mergePayloads returns one payload that has the effect of the first, then of the second.
func mergePayloads(payload, writeOnly types.String) json.RawMessage {
	first, second := json.RawMessage(payload.ValueString()), json.RawMessage(writeOnly.ValueString())
	if len(first) == 0 || len(second) == 0 {
		return slices.Concat(first, second) // one of them, or nil
	}
	both, err := jsonpatch.MergeMergePatches(first, second)
	if err != nil {
		return second // only if one is not an object, which the schema and checkPayloads exclude
	}
	return both
}

func jsonFields(payload string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(payload), &fields) // the schema accepts only objects
	return fields
}

// checkPayloads rejects a payload that replaces what identifies the subscription and is not stored: the provider could
// not find the subscription again. The errors are at the resource: at the attribute, Terraform prints the line with the
// value.
func (m *subscriptionModel) checkPayloads(diags *diag.Diagnostics) {
	fields := jsonFields(m.PayloadWriteOnly.ValueString())
	for _, attribute := range []string{"url", "application_id"} {
		name := m.fieldName(attribute)
		if _, ok := fields[name]; ok {
			diags.AddError("Invalid payload_json_wo", fmt.Sprintf(
				"`payload_json_wo` contains the field %q, which identifies the subscription. The provider has to find the "+
					"subscription again.\n\nSet it in %#q or `payload_json` instead.", name, attribute))
		}
	}
	name := m.fieldName("url")
	if _, ok := jsonFields(m.PayloadJSON.ValueString())[name]; ok && !m.URLWriteOnly.IsNull() {
		diags.AddError("Invalid payload_json", fmt.Sprintf(
			"`payload_json` contains the field %q, which would replace `url_wo`. Set the URL in one of them only.", name))
	}
}

// requestFields says which parts of the request diagnostics may show. The fields of the payloads are not among them,
// because the service's messages may repeat their values.
func (m *subscriptionModel) requestFields(service *client.Client) requestFields {
	payload := mergePayloads(m.PayloadJSON, m.PayloadWriteOnly)
	replaced := jsonFields(string(payload))
	fields := requestFields{
		attributes:    map[string]path.Path{},
		items:         map[string][]string{wire.FoldName(m.fieldName("events")): m.sortedEvents()},
		messageFilter: messageFilter{service: service, secrets: m.secrets()},
	}
	for _, attribute := range []string{"url", "events", "application_id"} {
		if _, ok := replaced[m.fieldName(attribute)]; !ok {
			fields.attributes[wire.FoldName(m.fieldName(attribute))] = path.Root(attribute)
		}
	}
	if !m.URLWriteOnly.IsNull() {
		fields.attributes[wire.FoldName(m.fieldName("url"))] = path.Empty()
	}
	if value, err := decodeJSON(json.RawMessage(m.PayloadJSON.ValueString())); err == nil {
		fields.secrets = append(fields.secrets, leavesOf(value)...)
	}
	return fields
}

// secrets are the texts of url_wo and payload_json_wo, and those of the URL that are usually secret.
func (m *subscriptionModel) secrets() []string {
	secrets := urlSecrets(m.URL.ValueString(), isToken)
	if !m.URLWriteOnly.IsNull() {
		secrets = urlSecrets(m.URLWriteOnly.ValueString(), func(string) bool { return true })
	}
	if value, err := decodeJSON(json.RawMessage(m.PayloadWriteOnly.ValueString())); err == nil {
		secrets = append(secrets, leavesOf(value)...)
	}
	return secrets
}
