package provider

import (
	"encoding/json"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// request is the planned subscription as the client sends it, with what is configured as payload_json_wo. All values are
// known by then.
func (m subscriptionModel) request(writeOnly types.String) client.Subscription {
	request := client.Subscription{
		URL:           client.Hide(m.URL.ValueString()),
		ApplicationID: m.ApplicationID.ValueInt64(),
		Events:        m.sentEvents(),
		FieldNames:    m.fieldNames(),
	}
	if payload := merged(m.PayloadJSON, writeOnly); payload != nil {
		request.Payload = client.Hide(payload)
	}
	return request
}

// sentEvents are in the order in which they are sent.
func (m subscriptionModel) sentEvents() []string {
	var events []string
	for _, event := range m.Events.Elements() {
		if event, ok := event.(types.String); ok {
			events = append(events, event.ValueString())
		}
	}
	slices.Sort(events)
	return events
}

// merged is one payload that does what the two do one after the other.
func merged(payload, writeOnly types.String) json.RawMessage {
	first, second := json.RawMessage(payload.ValueString()), json.RawMessage(writeOnly.ValueString())
	if len(first) == 0 || len(second) == 0 {
		return slices.Concat(first, second) // one of them, or nil
	}
	both, err := jsonpatch.MergeMergePatches(first, second)
	if err != nil {
		return second // neither is anything but an object: the schema and checkWriteOnly have seen to it
	}
	return both
}

func (m subscriptionModel) fieldNames() map[string]string {
	names := map[string]string{}
	for attribute, name := range m.FieldNames.Elements() {
		if name, ok := name.(types.String); ok {
			names[attribute] = name.ValueString()
		}
	}
	return names
}

// fieldName is what the service calls an attribute.
func (m subscriptionModel) fieldName(attribute string) string {
	if name, renamed := m.fieldNames()[attribute]; renamed {
		return name
	}
	return attribute
}

// sent is what may be told of the request. The fields of the payloads are no part of it: what the service says about them
// may repeat them.
func (m subscriptionModel) sent(writeOnly types.String) sentRequest {
	payload := merged(m.PayloadJSON, writeOnly)
	replaced := fieldsOf(string(payload))
	events := client.FoldName(m.fieldName("events"))
	sent := sentRequest{fields: map[string]path.Path{}, items: map[string][]string{events: m.sentEvents()}}
	for _, attribute := range []string{"url", "events", "application_id"} {
		if _, ok := replaced[m.fieldName(attribute)]; !ok {
			sent.fields[client.FoldName(m.fieldName(attribute))] = path.Root(attribute)
		}
	}
	if value, err := decodeJSON(payload); err == nil {
		sent.secrets = leavesOf(value)
	}
	return sent
}

func fieldsOf(payload string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(payload), &fields) // the schema lets nothing but objects through
	return fields
}

// receiver is the URL that the service knows the subscription by, for which payload_json has the last word. False if
// that cannot be known, or if payload_json ties it to another application.
func (m subscriptionModel) receiver() (string, bool) {
	payload := fieldsOf(m.PayloadJSON.ValueString())
	if _, moved := payload[m.fieldName("application_id")]; moved {
		return "", false
	}
	replacement, replaced := payload[m.fieldName("url")]
	if !replaced {
		return m.URL.ValueString(), true
	}
	var receiver string
	err := json.Unmarshal(replacement, &receiver)
	return receiver, err == nil && receiver != ""
}
