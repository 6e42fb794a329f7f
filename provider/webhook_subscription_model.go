package provider

import (
	"fmt"
	"net/url"

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
	// WriteOnly has a value in configurations only: neither plans nor states hold it.
	WriteOnly        types.String   `tfsdk:"payload_json_wo"`
	WriteOnlyVersion types.Int64    `tfsdk:"payload_json_wo_version"`
	FieldNames       types.Map      `tfsdk:"field_names"`
	DeletionPolicy   types.String   `tfsdk:"deletion_policy"`
	OnExisting       types.String   `tfsdk:"on_existing"`
	ResponseJSON     types.String   `tfsdk:"response_json"`
	WebhookJSON      types.String   `tfsdk:"webhook_json"`
	DriftDetection   types.String   `tfsdk:"drift_detection"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

// existingModel is the state of a subscription of which an import or a move knows only these.
func existingModel(url types.String, applicationID types.Int64, events types.Set) subscriptionModel {
	return subscriptionModel{
		URL: url, ApplicationID: applicationID, Events: events, FieldNames: types.MapNull(types.StringType),
		DeletionPolicy: types.StringValue(deletionPrevent), OnExisting: types.StringValue(existingFail),
		Timeouts: noTimeouts,
	}
}

var noTimeouts = timeouts.Value{Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "read": types.StringType})}

func (m subscriptionModel) identity() subscriptionIdentity {
	return subscriptionIdentity{ApplicationID: m.ApplicationID, URL: m.URL}
}

// importID is the value of id.
func (m subscriptionModel) importID() string {
	if m.ApplicationID.IsNull() {
		return m.URL.ValueString()
	}
	return fmt.Sprintf("%d/%s", m.ApplicationID.ValueInt64(), m.URL.ValueString())
}

// shownURL is the URL as messages name it: without what often holds a token.
func (m subscriptionModel) shownURL() string {
	u, err := url.Parse(m.URL.ValueString())
	if err != nil {
		return "its URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
