package provider

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// attributeChange is a difference that requires a new subscription.
type attributeChange struct {
	attribute string
	prior     attr.Value
}

// changes returns the differences between the plan and the state in what was sent, the most important first. A value
// that is not known yet counts as a difference.
func (m *subscriptionModel) changes(state *subscriptionModel) []attributeChange {
	var changes []attributeChange
	for _, c := range []struct {
		attribute      string
		prior, planned attr.Value
	}{
		{"url", state.URL, m.URL},
		{"application_id", state.ApplicationID, m.ApplicationID},
		{"events", state.Events, m.Events},
		{"payload_json", canonicalPayload(state.PayloadJSON), canonicalPayload(m.PayloadJSON)},
		{"payload_json_wo_version", state.WriteOnlyVersion, m.WriteOnlyVersion},
		{"field_names", state.FieldNames, m.FieldNames},
	} {
		if !c.planned.Equal(c.prior) {
			changes = append(changes, attributeChange{c.attribute, c.prior})
		}
	}
	return changes
}

// canonicalPayload makes payloads equal that differ only in spacing and order.
func canonicalPayload(payload types.String) types.String {
	if payload.IsNull() || payload.IsUnknown() {
		return payload
	}
	return normalizeJSON(json.RawMessage(payload.ValueString()))
}
