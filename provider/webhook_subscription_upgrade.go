package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// stateV0 has the attributes of version 0 that still exist, and those whose values are kept in another one.
type stateV0 struct {
	URL            string             `json:"url"`
	Events         []string           `json:"events"`
	ApplicationID  *int64             `json:"application_id"`
	PayloadJSON    *string            `json:"payload_json"`
	PayloadVersion *int64             `json:"payload_json_wo_version"`
	FieldNames     map[string]string  `json:"field_names"`
	DeletionPolicy string             `json:"deletion_policy"`
	ResponseJSON   *string            `json:"response_json"`
	DriftDetection string             `json:"drift_detection"`
	Timeouts       map[string]*string `json:"timeouts"`
}

// UpgradeState reads the states of version 0. They may hold a secret in response_json that the service returned only
// once, so the whole response stays in the output until response_export_values changes.
func (r *subscriptionResource) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	return map[int64]resource.StateUpgrader{0: {StateUpgrader: upgradeStateV0}}
}

func upgradeStateV0(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
	var old stateV0
	if err := json.Unmarshal(req.RawState.JSON, &old); err != nil || old.URL == "" {
		resp.Diagnostics.AddError("Cannot read the state of an older version", fmt.Sprintf(
			"The state of the subscription has another format than that of version 0 of the provider's schema.\n\n"+
				"Remove the resource from the state with `state rm`, and import it with an ID such as %q.",
			"account/sha256:HEX"))
		return
	}
	m := importedModel(subscriptionIdentity{ApplicationID: types.Int64PointerValue(old.ApplicationID)},
		types.StringValue(old.URL))
	m.ID, m.fieldNames = types.StringNull(), old.FieldNames
	m.PayloadJSON = types.StringPointerValue(old.PayloadJSON)
	m.PayloadVersion = types.Int64PointerValue(old.PayloadVersion)
	m.setComputed()
	m.Events = storedEvents(old.Events, func(string) bool { return true })
	m.DeletionPolicy = types.StringValue(old.DeletionPolicy)
	m.Readable = types.BoolValue(old.DriftDetection == "available")
	m.Timeouts = timeoutsOf(old.Timeouts)
	if old.ResponseJSON != nil {
		m.Output = types.MapValueMust(types.StringType, map[string]attr.Value{
			"response_json": types.StringValue(*old.ResponseJSON),
		})
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func timeoutsOf(old map[string]*string) timeouts.Value {
	if old == nil {
		return nullTimeouts
	}
	values := map[string]attr.Value{}
	for _, name := range []string{"create", "read"} {
		values[name] = types.StringPointerValue(old[name])
	}
	return timeouts.Value{Object: types.ObjectValueMust(nullTimeouts.AttributeTypes(context.Background()), values)}
}
