package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/provider/jsonvalue"
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
	m.Events.ElementsAs(context.Background(), &events, false)
	slices.Sort(events)
	return events
}

// stringsOf returns the elements of a map of strings; nil for one that is not known.
func stringsOf(from types.Map) map[string]string {
	var texts map[string]string
	from.ElementsAs(context.Background(), &texts, false)
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
	_, named := replaced[m.fieldName("application_id")]
	fields := requestFields{
		attributes: map[string]path.Path{},
		items:      map[string][]string{wire.FoldName(m.fieldName("events")): m.sortedEvents()},
		messageFilter: messageFilter{
			service: service, secrets: m.secrets(), hasApplication: named || !m.ApplicationID.IsNull(),
		},
	}
	for _, attribute := range []string{"url", "events", "application_id"} {
		if _, ok := replaced[m.fieldName(attribute)]; !ok {
			fields.attributes[wire.FoldName(m.fieldName(attribute))] = path.Root(attribute)
		}
	}
	if !m.URLWriteOnly.IsNull() {
		fields.attributes[wire.FoldName(m.fieldName("url"))] = path.Empty()
	}
	if value, err := jsonvalue.Decode([]byte(m.PayloadJSON.ValueString())); err == nil {
		fields.secrets = append(fields.secrets, jsonvalue.Leaves(value)...)
	}
	return fields
}

// secrets are the texts of url_wo and payload_json_wo, and those of the URL that are usually secret.
func (m *subscriptionModel) secrets() []string {
	secrets := receiver.URLSecrets(m.URL.ValueString(), receiver.MayBeToken)
	if !m.URLWriteOnly.IsNull() {
		secrets = receiver.URLSecrets(m.URLWriteOnly.ValueString(), func(string) bool { return true })
	}
	if value, err := jsonvalue.Decode([]byte(m.PayloadWriteOnly.ValueString())); err == nil {
		secrets = append(secrets, jsonvalue.Leaves(value)...)
	}
	return secrets
}

// requestAttributeNames are what the request is made of, beside the URL, in the order of their importance.
var requestAttributeNames = []string{"application_id", "events", "payload_json", "payload_json_wo_version"}

func (m *subscriptionModel) requestValues() []attr.Value {
	return []attr.Value{m.ApplicationID, m.Events, m.PayloadJSON, m.PayloadVersion}
}

// changes returns what makes the request another one than was sent, the most important first. Attributes that differ
// and lead to the same request are no change. A value that is not known yet may be one.
func (m *subscriptionModel) changes(sent *subscriptionModel) []path.Path {
	if m.sendsSameAs(sent) {
		return nil
	}
	var changed []path.Path
	if !m.deliversWhere(sent) {
		changed = append(changed, m.urlPath(sent))
	}
	before := sent.requestValues()
	for n, value := range m.requestValues() {
		at := path.Root(requestAttributeNames[n])
		if !value.Equal(before[n]) && !slices.ContainsFunc(changed, at.Equal) {
			changed = append(changed, at)
		}
	}
	return changed
}

// urlPath is the attribute at which a plan shows another URL. No plan shows a change of url_wo itself.
func (m *subscriptionModel) urlPath(sent *subscriptionModel) path.Path {
	switch {
	case !m.URL.Equal(sent.URL):
		return path.Root("url")
	case !m.PayloadJSON.Equal(sent.PayloadJSON):
		return path.Root("payload_json")
	default:
		return path.Root("id")
	}
}

// deliversWhere compares the URLs.
func (m *subscriptionModel) deliversWhere(sent *subscriptionModel) bool {
	return !m.ID.IsUnknown() && m.urlDigest() == sent.urlDigest()
}

// sendsSameAs compares two requests without payload_json_wo, of which only the version is known here.
func (m *subscriptionModel) sendsSameAs(other *subscriptionModel) bool {
	if !m.deliversWhere(other) {
		return false
	}
	equal, before := true, other.requestValues()
	for n, value := range m.requestValues() {
		if !isKnown(value) {
			return false
		}
		equal = equal && value.Equal(before[n])
	}
	if equal { // nothing to encode, which takes time in a large plan
		return true
	}
	first, ok := m.canonicalRequest()
	second, otherOK := other.canonicalRequest()
	return m.PayloadVersion.Equal(other.PayloadVersion) && ok && otherOK && bytes.Equal(first, second)
}

// isKnown reports whether the value and everything in it is known.
func isKnown(value attr.Value) bool {
	raw, err := value.ToTerraformValue(context.Background())
	return err == nil && raw.IsFullyKnown()
}

// canonicalRequest encodes the stored part of the request without the URL, so that equal requests have equal texts: the
// order of keys, and the order and the repetition of events make no difference.
func (m *subscriptionModel) canonicalRequest() ([]byte, bool) {
	request := m.stored().request()
	body, err := request.Body()
	if err != nil {
		return nil, false
	}
	value, err := jsonvalue.Decode(body)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, false
	}
	if _, known := m.deliveryURL(); known {
		delete(fields, m.fieldName("url"))
	}
	name, events := m.fieldName("events"), []string(nil)
	if json.Unmarshal(jsonFields(string(body))[name], &events) == nil && events != nil {
		slices.Sort(events)
		fields[name] = slices.Compact(events)
	}
	encoded, err := json.Marshal(fields)
	return encoded, err == nil
}

// sentFor returns the request that was sent, as far as the plan can know: an import does not know all of it, and the
// provider assumes that the rest is as planned.
func (m *subscriptionModel) sentFor(plan *subscriptionModel, private privateData) *subscriptionModel {
	sent := *m
	assumed := private.importPending()
	if assumed && sent.Events.IsNull() || !private.Imported.IsZero() && plan.Events.IsNull() {
		sent.Events = plan.Events // nobody configured those that the service returned
	}
	if assumed && sent.PayloadJSON.IsNull() {
		sent.PayloadJSON = plan.PayloadJSON
	}
	if assumed && sent.PayloadVersion.IsNull() {
		sent.PayloadVersion = plan.PayloadVersion
	}
	wasEmpty := func() bool { return private.WriteOnly != nil && !private.WriteOnly.differsFrom(emptyPayload) }
	if !sent.PayloadVersion.Equal(plan.PayloadVersion) && wasEmpty() {
		sent.PayloadVersion = types.Int64Null()
	}
	return &sent
}

// withoutEmptyPayload returns the plan without the version of a payload_json_wo that adds nothing to the request.
func (m *subscriptionModel) withoutEmptyPayload() *subscriptionModel {
	request := *m
	if normalizeJSON(m.PayloadWriteOnly).Equal(emptyPayload) {
		request.PayloadVersion = types.Int64Null()
	}
	return &request
}

var emptyPayload = types.StringValue("{}")
