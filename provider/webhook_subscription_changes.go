package provider

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// change is a difference that the service would have to know about.
type change struct {
	attribute string
	before    attr.Value
}

// changes are the differences between the plan and the state in what was sent, the most important first.
// A value that is not known yet counts as another one.
func (m *subscriptionModel) changes(state *subscriptionModel) []change {
	var changes []change
	for _, c := range []struct {
		attribute     string
		before, after attr.Value
	}{
		{"url", state.URL, m.URL},
		{"application_id", state.ApplicationID, m.ApplicationID},
		{"events", state.Events, m.Events},
		{"payload_json", withoutForm(state.PayloadJSON), withoutForm(m.PayloadJSON)},
		{"payload_json_wo_version", state.WriteOnlyVersion, m.WriteOnlyVersion},
		{"field_names", state.FieldNames, m.FieldNames},
	} {
		if !c.after.Equal(c.before) {
			changes = append(changes, change{c.attribute, c.before})
		}
	}
	return changes
}

// withoutForm makes payloads equal that differ only in spacing and order.
func withoutForm(payload types.String) types.String {
	if payload.IsNull() || payload.IsUnknown() {
		return payload
	}
	return normalized(json.RawMessage(payload.ValueString()))
}
