package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/provider/webhookcache"
)

type subscriptionModel struct {
	ID  types.String `tfsdk:"id"`
	URL types.String `tfsdk:"url"`
	// URLWriteOnly and PayloadWriteOnly have a value in the configuration only. See stored.
	URLWriteOnly     types.String   `tfsdk:"url_wo"`
	URLVersion       types.Int64    `tfsdk:"url_wo_version"`
	Events           types.Set      `tfsdk:"events"`
	ApplicationID    types.Int64    `tfsdk:"application_id"`
	PayloadJSON      types.String   `tfsdk:"payload_json"`
	PayloadWriteOnly types.String   `tfsdk:"payload_json_wo"`
	PayloadVersion   types.Int64    `tfsdk:"payload_json_wo_version"`
	DeletionPolicy   types.String   `tfsdk:"deletion_policy"`
	ExportValues     types.Map      `tfsdk:"response_export_values"`
	Pointers         types.List     `tfsdk:"response_pointers"`
	Output           types.Map      `tfsdk:"output"`
	SubscriptionID   types.Int64    `tfsdk:"subscription_id"`
	Readable         types.Bool     `tfsdk:"readable"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`

	// fieldNames are those of the provider block.
	fieldNames map[string]string
}

// importedModel is the state of a subscription after an import, which knows only these attributes. The URL may be null.
func importedModel(identity subscriptionIdentity, url types.String) subscriptionModel {
	return subscriptionModel{
		ID:             types.StringValue(identity.importID()),
		URL:            url,
		ApplicationID:  identity.ApplicationID,
		Events:         types.SetNull(types.StringType),
		DeletionPolicy: types.StringValue(deletionPrevent),
		ExportValues:   types.MapNull(types.StringType),
		Pointers:       types.ListNull(types.StringType),
		Output:         types.MapNull(types.StringType),
		Timeouts:       nullTimeouts,
	}
}

var nullTimeouts = timeouts.Value{
	Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "read": types.StringType}),
}

// stored is the subscription without the values that no state and no plan may hold.
func (m *subscriptionModel) stored() *subscriptionModel {
	stored := *m
	stored.URLWriteOnly, stored.PayloadWriteOnly = types.StringNull(), types.StringNull()
	return &stored
}

// subscriptionIdentity identifies a subscription. A URL may hold a token of the receiver, and a CLI prints identities,
// so the identity has a digest of it. Not every response has the service's own ID.
type subscriptionIdentity struct {
	ApplicationID types.Int64  `tfsdk:"application_id"`
	URLDigest     types.String `tfsdk:"url_sha256"`
}

const (
	accountScope = "account" // instead of an application's ID: updates about all of them
	digestPrefix = "sha256:"
)

// importID is the value of the attribute id, which an import takes as well.
func (i subscriptionIdentity) importID() string {
	scope := accountScope
	if !i.ApplicationID.IsNull() {
		scope = strconv.FormatInt(i.ApplicationID.ValueInt64(), 10)
	}
	return scope + "/" + digestPrefix + i.URLDigest.ValueString()
}

func (m *subscriptionModel) identity() subscriptionIdentity {
	return subscriptionIdentity{ApplicationID: m.ApplicationID, URLDigest: types.StringValue(m.urlDigest())}
}

// urlDigest is the digest of the URL that the service has. A state has it in the ID, because it has no url_wo.
func (m *subscriptionModel) urlDigest() string {
	if _, digest, found := strings.Cut(m.ID.ValueString(), "/"+digestPrefix); found {
		return digest
	}
	url, _ := m.deliveryURL()
	return webhookcache.URLDigest(url)
}

// configuredURL is the value of url or url_wo.
func (m *subscriptionModel) configuredURL() types.String {
	if m.URL.IsNull() {
		return m.URLWriteOnly
	}
	return m.URL
}

// deliveryURL is the URL that the service gets: payload_json may replace the attribute. It returns false if
// payload_json replaces it by what is not a URL.
func (m *subscriptionModel) deliveryURL() (string, bool) {
	replacement, replaced := jsonFields(m.PayloadJSON.ValueString())[m.fieldName("url")]
	if !replaced {
		return m.configuredURL().ValueString(), true
	}
	var url string
	err := json.Unmarshal(replacement, &url)
	return url, err == nil && url != ""
}

// isIdentified reports whether the provider knows the URL and the application that the service gets.
func (m *subscriptionModel) isIdentified() bool {
	if m.PayloadJSON.IsNull() {
		return true
	}
	_, replaced := jsonFields(m.PayloadJSON.ValueString())[m.fieldName("application_id")]
	_, known := m.deliveryURL()
	return known && !replaced
}

// fieldName is the name of an attribute's field in the request.
func (m *subscriptionModel) fieldName(attribute string) string {
	return cmp.Or(m.fieldNames[attribute], attribute)
}

// receiver names the URL in texts that people see, without the parts that often contain a token. Of url_wo, it names
// the digest only.
func (m *subscriptionModel) receiver() string {
	if m.URL.IsNull() {
		return fmt.Sprintf("the URL of %q", m.identity().importID())
	}
	return receiver.DisplayURL(m.URL.ValueString())
}

// key identifies the subscription in the maps of one run.
func (m *subscriptionModel) key() string { return m.identity().importID() }

// setComputed gives every computed attribute its first value, so that the state is complete from the start.
func (m *subscriptionModel) setComputed() {
	m.ID = types.StringValue(m.identity().importID())
	if m.PayloadVersion.IsUnknown() {
		m.PayloadVersion = types.Int64Value(defaultWriteOnlyVersion)
	}
	m.SubscriptionID, m.Readable = types.Int64Null(), types.BoolValue(false)
	m.setNoResponse()
}
