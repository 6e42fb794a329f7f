package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ValidateConfig looks at what no attribute can tell by itself.
func (r *subscriptionResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config subscriptionModel
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("field_names"), &config.FieldNames)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("payload_json_wo"), &config.WriteOnly)...)
	if resp.Diagnostics.HasError() || config.FieldNames.IsUnknown() {
		return
	}
	config.checkFieldNames(&resp.Diagnostics)
	config.checkWriteOnly(&resp.Diagnostics)
}

// checkFieldNames refuses two attributes in one field: the later would replace the earlier without a word.
func (m subscriptionModel) checkFieldNames(diags *diag.Diagnostics) {
	taken := map[string]string{}
	for _, attribute := range []string{"url", "events", "application_id"} {
		name := m.fieldName(attribute)
		if other, twice := taken[name]; twice && name != "" {
			diags.AddAttributeError(path.Root("field_names"), "Invalid field_names", fmt.Sprintf(
				"%s and %s would both be sent as %q. Give each a name of its own.", other, attribute, name))
		}
		taken[name] = attribute
	}
}

// checkWriteOnly refuses what has to be remembered in payload_json_wo, which is not: nobody could find the subscription
// again.
func (m subscriptionModel) checkWriteOnly(diags *diag.Diagnostics) {
	fields := fieldsOf(m.WriteOnly.ValueString())
	for _, attribute := range []string{"url", "application_id"} {
		if _, there := fields[m.fieldName(attribute)]; there {
			// At the resource, because at the attribute Terraform prints the line with the value.
			diags.AddError("Invalid payload_json_wo", fmt.Sprintf(
				"payload_json_wo holds the field %q, which says what the subscription is and has to be kept for finding it again. Put it into "+
					"%s or payload_json.", m.fieldName(attribute), attribute))
		}
	}
}

// firstWriteOnlyVersion is that of a subscription to come. What the provider counts becomes known with it: the plan of a
// replacement cannot count on from the old one, because the apply plans once more and is told nothing of that.
func (m subscriptionModel) firstWriteOnlyVersion() types.Int64 {
	if m.WriteOnlyVersion.IsNull() && !m.WriteOnly.IsNull() {
		return types.Int64Unknown()
	}
	return m.WriteOnlyVersion
}

// countedVersion is the number of a payload_json_wo that has none in the configuration.
const countedVersion = 1

// nextWriteOnlyVersion is that of an existing subscription: the one in the state, unless payload_json_wo is another.
func (m subscriptionModel) nextWriteOnlyVersion(state *subscriptionModel, history history, diags *diag.Diagnostics) types.Int64 {
	another := history.WriteOnly.differs(m.WriteOnly)
	switch {
	case !m.WriteOnlyVersion.IsNull():
		if another && m.WriteOnlyVersion.Equal(state.WriteOnlyVersion) {
			diags.AddAttributeWarning(path.Root("payload_json_wo_version"), "payload_json_wo is not what was sent",
				"It changed, and payload_json_wo_version did not, so that nothing will be sent. Raise payload_json_wo_version if the service has to "+
					"know; that takes a new subscription.")
		}
		return m.WriteOnlyVersion
	case m.WriteOnly.IsNull():
		return types.Int64Null()
	case another:
		return types.Int64Unknown() // so that it is a change
	default:
		return types.Int64Value(max(state.WriteOnlyVersion.ValueInt64(), countedVersion))
	}
}
