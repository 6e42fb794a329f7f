package provider

import (
	"fmt"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

type subscriptionModel struct {
	ID             types.String `tfsdk:"id"`
	URL            types.String `tfsdk:"url"`
	Events         types.Set    `tfsdk:"events"`
	ApplicationID  types.Int64  `tfsdk:"application_id"`
	PayloadJSON    types.String `tfsdk:"payload_json"`
	FieldNames     types.Map    `tfsdk:"field_names"`
	DeletionPolicy types.String `tfsdk:"deletion_policy"`
	OnExisting     types.String `tfsdk:"on_existing"`
	ResponseJSON   types.String `tfsdk:"response_json"`
	WebhookJSON    types.String `tfsdk:"webhook_json"`
	DriftDetection types.String `tfsdk:"drift_detection"`
}

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
