package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type subscriptionModel struct {
	ID            types.String `tfsdk:"id"`
	URL           types.String `tfsdk:"url"`
	Events        types.Set    `tfsdk:"events"`
	ApplicationID types.Int64  `tfsdk:"application_id"`
	PayloadJSON   types.String `tfsdk:"payload_json"`
	// WriteOnly has a value in the configuration only.
	WriteOnly        types.String `tfsdk:"payload_json_wo"`
	WriteOnlyVersion types.Int64  `tfsdk:"payload_json_wo_version"`
	FieldNames       types.Map    `tfsdk:"field_names"`
	DeletionPolicy   types.String `tfsdk:"deletion_policy"`
	OnExisting       types.String `tfsdk:"on_existing"`
	// KeepResponseFields adds to the fields of response_json.
	KeepResponseFields types.Set      `tfsdk:"keep_response_fields"`
	ResponseJSON       types.String   `tfsdk:"response_json"`
	WebhookJSON        types.String   `tfsdk:"webhook_json"`
	DriftDetection     types.String   `tfsdk:"drift_detection"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`
}

// importedModel is the state of a subscription after an import or a move, which know only these attributes.
func importedModel(url types.String, applicationID types.Int64, events types.Set) subscriptionModel {
	return subscriptionModel{
		URL:            url,
		ApplicationID:  applicationID,
		Events:         events,
		FieldNames:     types.MapNull(types.StringType),
		DeletionPolicy: types.StringValue(deletionPrevent),
		OnExisting:     types.StringValue(existingFail),

		KeepResponseFields: types.SetNull(types.StringType),

		Timeouts: nullTimeouts,
	}
}

var nullTimeouts = timeouts.Value{
	Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "read": types.StringType}),
}

func (m subscriptionModel) identity() subscriptionIdentity {
	return subscriptionIdentity{ApplicationID: m.ApplicationID, URL: m.URL}
}

// importID is the value of the attribute id. Terraform prints it in every run, so it has no token of the receiver.
func (m subscriptionModel) importID() string {
	if m.ApplicationID.IsNull() {
		return m.displayURL()
	}
	return fmt.Sprintf("%d/%s", m.ApplicationID.ValueInt64(), m.displayURL())
}

// displayURL is the URL for texts that people see, without the parts that often contain a token.
func (m subscriptionModel) displayURL() string { return displayURL(m.URL.ValueString()) }
