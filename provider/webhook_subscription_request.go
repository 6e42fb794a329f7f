package provider

import (
	"encoding/json"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// request is the planned subscription as the client sends it. All values are known by then.
func (m subscriptionModel) request() client.Subscription {
	request := client.Subscription{
		URL:           client.Hide(m.URL.ValueString()),
		ApplicationID: m.ApplicationID.ValueInt64(),
		FieldNames:    m.fieldNames(),
	}
	for _, event := range m.Events.Elements() {
		if event, ok := event.(types.String); ok {
			request.Events = append(request.Events, event.ValueString())
		}
	}
	slices.Sort(request.Events)
	if payload := m.PayloadJSON.ValueString(); payload != "" {
		request.Payload = client.Hide(json.RawMessage(payload))
	}
	return request
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

// fieldPaths are the fields that an attribute stands for. payload_json is not among them: what the service says about
// its fields may repeat them.
func (m subscriptionModel) fieldPaths() fieldPaths {
	paths := fieldPaths{}
	for _, attribute := range []string{"url", "events", "application_id"} {
		if _, replaced := m.payload()[m.fieldName(attribute)]; !replaced {
			paths[m.fieldName(attribute)] = path.Root(attribute)
		}
	}
	return paths
}

func (m subscriptionModel) payload() map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(m.PayloadJSON.ValueString()), &fields) // the schema lets nothing but objects through
	return fields
}

// receiver is the URL that the service knows the subscription by, for which payload_json has the last word. False if
// that cannot be known, or if payload_json ties it to another application.
func (m subscriptionModel) receiver() (string, bool) {
	payload := m.payload()
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
