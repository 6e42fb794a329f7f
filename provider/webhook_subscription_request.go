package provider

import (
	"encoding/json"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// expand returns the request for a plan, whose values are all known, with the configured payload_json_wo.
func (m subscriptionModel) expand(writeOnly types.String) client.Subscription {
	request := client.Subscription{
		URL:           client.Hide(m.URL.ValueString()),
		ApplicationID: m.ApplicationID.ValueInt64(),
		Events:        m.expandEvents(),
		FieldNames:    m.expandFieldNames(),
	}
	if payload := mergePayloads(m.PayloadJSON, writeOnly); payload != nil {
		request.Payload = client.Hide(payload)
	}
	return request
}

// expandEvents returns the events in the order of the request.
func (m subscriptionModel) expandEvents() []string {
	events := stringsOf(m.Events)
	slices.Sort(events)
	return events
}

// stringsOf returns the elements of a set of strings.
func stringsOf(set types.Set) []string {
	var texts []string
	for _, element := range set.Elements() {
		if text, ok := element.(types.String); ok {
			texts = append(texts, text.ValueString())
		}
	}
	return texts
}

func (m subscriptionModel) expandFieldNames() map[string]string {
	names := map[string]string{}
	for attribute, name := range m.FieldNames.Elements() {
		if name, ok := name.(types.String); ok {
			names[attribute] = name.ValueString()
		}
	}
	return names
}

// mergePayloads returns one payload that has the effect of the first, then of the second.
func mergePayloads(payload, writeOnly types.String) json.RawMessage {
	first, second := json.RawMessage(payload.ValueString()), json.RawMessage(writeOnly.ValueString())
	if len(first) == 0 || len(second) == 0 {
		return slices.Concat(first, second) // one of them, or nil
	}
	both, err := jsonpatch.MergeMergePatches(first, second)
	if err != nil {
		return second // only if one is not an object, which the schema and checkWriteOnly exclude
	}
	return both
}

// fieldName is the name of an attribute's field in the request.
func (m subscriptionModel) fieldName(attribute string) string {
	if name, ok := m.expandFieldNames()[attribute]; ok {
		return name
	}
	return attribute
}

// requestFields says which parts of the request diagnostics may show. The fields of the payloads are not among them,
// because the service's messages may repeat their values.
func (m subscriptionModel) requestFields(writeOnly types.String) requestFields {
	payload := mergePayloads(m.PayloadJSON, writeOnly)
	replaced := jsonFields(string(payload))
	fields := requestFields{
		attributes: map[string]path.Path{},
		items:      map[string][]string{wire.FoldName(m.fieldName("events")): m.expandEvents()},
	}
	fields.secrets = urlSecrets(m.URL.ValueString())
	for _, attribute := range []string{"url", "events", "application_id"} {
		if _, ok := replaced[m.fieldName(attribute)]; !ok {
			fields.attributes[wire.FoldName(m.fieldName(attribute))] = path.Root(attribute)
		}
	}
	if value, err := decodeJSON(payload); err == nil {
		fields.secrets = append(fields.secrets, leavesOf(value)...)
	}
	return fields
}

func jsonFields(payload string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(payload), &fields) // the schema accepts only objects
	return fields
}

// effectiveURL is the URL that the service has for the subscription: payload_json may replace the attribute. It returns
// false if the URL is unknown, or if payload_json sets another application.
func (m subscriptionModel) effectiveURL() (string, bool) {
	payload := jsonFields(m.PayloadJSON.ValueString())
	if _, ok := payload[m.fieldName("application_id")]; ok {
		return "", false
	}
	replacement, ok := payload[m.fieldName("url")]
	if !ok {
		return m.URL.ValueString(), true
	}
	var url string
	err := json.Unmarshal(replacement, &url)
	return url, err == nil && url != ""
}

// sentPayload is what a create has sent in payload_json and payload_json_wo. It is in memory only.
type sentPayload struct {
	// stored are the fields of payload_json, which the state has.
	stored map[string]any
	// names are the folded names of the fields of payload_json_wo.
	names map[string]bool
	// secrets are the strings and numbers in payload_json_wo.
	secrets []string
}

func newSentPayload(payload, writeOnly types.String) sentPayload {
	sent := sentPayload{names: map[string]bool{}}
	value, _ := decodeJSON(json.RawMessage(payload.ValueString()))
	sent.stored, _ = value.(map[string]any)
	value, _ = decodeJSON(json.RawMessage(writeOnly.ValueString()))
	fields, _ := value.(map[string]any)
	for name := range fields {
		sent.names[wire.FoldName(name)] = true
	}
	sent.secrets = scalarsOf(value)
	return sent
}

// repeats reports whether a field of a response repeats payload_json_wo: in a field of the same name, where the service
// may mask it, or anywhere in the value.
func (s sentPayload) repeats(name string, value any) bool {
	return s.names[wire.FoldName(name)] || slices.ContainsFunc(scalarsOf(value), func(text string) bool {
		return slices.ContainsFunc(s.secrets, func(secret string) bool {
			return strings.Contains(text, secret) || strings.Contains(secret, text)
		})
	})
}
