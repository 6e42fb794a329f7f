package provider

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// requestPart is the value of an attribute that the request is made of, beside the URL.
type requestPart struct {
	attribute string
	value     attr.Value
}

// requestParts are in the order of their importance.
func (m *subscriptionModel) requestParts() []requestPart {
	return []requestPart{
		{"application_id", m.ApplicationID},
		{"events", m.Events},
		{"payload_json", m.PayloadJSON},
		{"payload_json_wo_version", m.PayloadVersion},
	}
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
	before := sent.requestParts()
	for n, part := range m.requestParts() {
		at := path.Root(part.attribute)
		if !part.value.Equal(before[n].value) && !slices.ContainsFunc(changed, at.Equal) {
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
	equal, before := true, other.requestParts()
	for n, part := range m.requestParts() {
		if !isKnown(part.value) {
			return false
		}
		equal = equal && part.value.Equal(before[n].value)
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
	var elements []attr.Value
	switch value := value.(type) {
	case types.Set:
		elements = value.Elements()
	case types.Map:
		elements = slices.Collect(maps.Values(value.Elements()))
	}
	return !value.IsUnknown() && !slices.ContainsFunc(elements, attr.Value.IsUnknown)
}

// canonicalRequest encodes the stored part of the request without the URL, so that equal requests have equal texts: the
// order of keys, and the order and the repetition of events make no difference.
func (m *subscriptionModel) canonicalRequest() ([]byte, bool) {
	request := m.stored().request()
	body, err := request.Body()
	if err != nil {
		return nil, false
	}
	value, err := decodeJSON(body)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, false
	}
	if _, known := m.deliveryURL(); known {
		delete(fields, m.fieldName("url"))
	}
	name := m.fieldName("events")
	if texts, ok := asTexts(fields[name]); ok {
		slices.Sort(texts)
		fields[name] = slices.Compact(texts)
	}
	encoded, err := json.Marshal(fields)
	return encoded, err == nil
}

func asTexts(value any) ([]string, bool) {
	items, ok := value.([]any)
	texts := make([]string, 0, len(items))
	for _, item := range items {
		text, isText := item.(string)
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ok
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
	if canonicalPayload(m.PayloadWriteOnly).Equal(emptyPayload) {
		request.PayloadVersion = types.Int64Null()
	}
	return &request
}

var emptyPayload = types.StringValue("{}")

// canonicalPayload makes payloads equal that differ only in spacing and order.
func canonicalPayload(payload types.String) types.String {
	if payload.IsNull() || payload.IsUnknown() {
		return payload
	}
	return normalizeJSON(json.RawMessage(payload.ValueString()))
}
