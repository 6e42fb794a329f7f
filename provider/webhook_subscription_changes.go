package provider

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// requestPart is an attribute that the request is made of.
type requestPart struct {
	attribute string
	value     func(*subscriptionModel) attr.Value
	copy      func(to, from *subscriptionModel)
}

func newRequestPart[T attr.Value](attribute string, field func(*subscriptionModel) *T) requestPart {
	return requestPart{
		attribute,
		func(m *subscriptionModel) attr.Value { return *field(m) },
		func(to, from *subscriptionModel) { *field(to) = *field(from) },
	}
}

// requestParts are in the order of their importance.
var requestParts = []requestPart{
	newRequestPart("url", func(m *subscriptionModel) *types.String { return &m.URL }),
	newRequestPart("application_id", func(m *subscriptionModel) *types.Int64 { return &m.ApplicationID }),
	newRequestPart("events", func(m *subscriptionModel) *types.Set { return &m.Events }),
	newRequestPart("payload_json", func(m *subscriptionModel) *types.String { return &m.PayloadJSON }),
	newRequestPart("payload_json_wo_version", func(m *subscriptionModel) *types.Int64 { return &m.WriteOnlyVersion }),
	newRequestPart("field_names", func(m *subscriptionModel) *types.Map { return &m.FieldNames }),
}

// changes returns the attributes that make the request another one than was sent, the most important first. Attributes
// that differ and lead to the same request are no change. A value that is not known yet may be one.
func (m *subscriptionModel) changes(sent *subscriptionModel) []string {
	if m.sendsSameAs(sent) {
		return nil
	}
	var changed, different []string
	for _, part := range requestParts {
		if part.value(m).Equal(part.value(sent)) {
			continue
		}
		different = append(different, part.attribute)
		alone := *sent
		part.copy(&alone, m)
		if !alone.sendsSameAs(sent) {
			changed = append(changed, part.attribute)
		}
	}
	if changed == nil {
		return different // none of them changes the request alone
	}
	return changed
}

// sendsSameAs compares two requests without payload_json_wo, of which only the version is known here.
func (m *subscriptionModel) sendsSameAs(other *subscriptionModel) bool {
	equal := true
	for _, part := range requestParts {
		if value := part.value(m); !isKnown(value) {
			return false
		} else if equal {
			equal = value.Equal(part.value(other))
		}
	}
	if equal { // nothing to encode, which takes time in a large plan
		return true
	}
	none := types.StringNull()
	return m.WriteOnlyVersion.Equal(other.WriteOnlyVersion) && sameRequest(m.expand(none), other.expand(none))
}

// isKnown reports whether the value and everything in it is known.
func isKnown(value attr.Value) bool {
	if value.IsUnknown() {
		return false
	}
	switch value := value.(type) {
	case types.Set:
		for _, item := range value.Elements() {
			if item.IsUnknown() {
				return false
			}
		}
	case types.Map:
		for _, item := range value.Elements() {
			if item.IsUnknown() {
				return false
			}
		}
	}
	return true
}

// sentFor returns the request that was sent, as far as the plan can know: an import and a move do not know all of it,
// and the provider assumes that the rest is as planned.
func (m *subscriptionModel) sentFor(plan *subscriptionModel, private privateData) *subscriptionModel {
	sent := *m
	if private.importPending() {
		for _, part := range requestParts {
			if part.value(&sent).IsNull() {
				part.copy(&sent, plan)
			}
		}
	}
	if !private.Imported.IsZero() && plan.Events.IsNull() {
		sent.Events = plan.Events // those that the service returned, which nobody configured
	}
	wasEmpty := func() bool { return private.WriteOnly != nil && !private.WriteOnly.differsFrom(emptyPayload) }
	if !sent.WriteOnlyVersion.Equal(plan.WriteOnlyVersion) && wasEmpty() {
		sent.WriteOnlyVersion = types.Int64Null()
	}
	return &sent
}

// withoutEmptyWriteOnly returns the plan without the version of a payload_json_wo that adds nothing to the request.
func (m *subscriptionModel) withoutEmptyWriteOnly(writeOnly types.String) *subscriptionModel {
	request := *m
	if canonicalPayload(writeOnly).Equal(emptyPayload) {
		request.WriteOnlyVersion = types.Int64Null()
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
