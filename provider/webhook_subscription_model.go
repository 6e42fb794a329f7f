package provider

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
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

// key identifies the subscription in the maps of one run, also by an application that only payload_json has.
func (m *subscriptionModel) key() string {
	application := jsonFields(m.PayloadJSON.ValueString())[m.fieldName("application_id")]
	return m.identity().importID() + string(application)
}

// setComputed gives every computed attribute its first value, so that the state is complete from the start.
func (m *subscriptionModel) setComputed() {
	m.ID = types.StringValue(m.identity().importID())
	if m.PayloadVersion.IsUnknown() {
		m.PayloadVersion = types.Int64Value(defaultWriteOnlyVersion)
	}
	m.SubscriptionID, m.Readable = types.Int64Null(), types.BoolValue(false)
	m.Pointers = types.ListNull(types.StringType)
	m.setOutput(func(_, _ string) attr.Value { return nil })
}

// privateData is what the provider keeps about a subscription and what is no attribute. The JSON names are in the
// states of users, so they are fixed.
type privateData struct {
	// Created is when the subscription was sent; zero if this resource did not send it.
	Created time.Time `json:"created,omitzero"`
	// Imported is when the subscription was imported; zero if it was not.
	Imported time.Time `json:"imported,omitzero"`
	// PlainURL means that the ID of the import had the URL instead of its digest.
	PlainURL bool `json:"plain_url,omitempty"`
	// Recorded means that an apply has written the configuration of an imported subscription into the state.
	Recorded bool `json:"recorded,omitempty"`
	// Single means that the service returned the subscription alone, and not in a list.
	Single bool `json:"single,omitempty"`
	// Seen means that the service has returned the subscription at least once.
	Seen bool `json:"seen,omitempty"`
	// Unconfirmed means that the response of the service was lost, and that nothing has shown the subscription since.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Gone means that at the last read, the service showed that the application no longer exists.
	Gone bool `json:"gone,omitempty"`
	// WriteOnly is the digest of the payload_json_wo that was sent.
	WriteOnly *writeOnlyDigest `json:"write_only,omitempty"`
	// Unchanged means that the subscription's own plan needs no replacement. With -replace or replace_triggered_by, the
	// plan of the new subscription gets this value.
	Unchanged bool `json:"same_request,omitempty"`
	// Replaced is what belongs to the old subscription in the plan of the new one. The CLI passes it to the deletion of
	// the old one.
	Replaced *privateData `json:"replaced,omitempty"`
}

// privateDataKey is in the states of users, so it is fixed.
const privateDataKey = "history"

// privateState is the framework's private state, whose type is not exported.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func readPrivateData(ctx context.Context, private privateState, diags *diag.Diagnostics) privateData {
	raw, keyDiags := private.GetKey(ctx, privateDataKey)
	diags.Append(keyDiags...)
	var data privateData
	_ = json.Unmarshal(raw, &data) // empty, or written by this file
	return data
}

func (d privateData) write(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	raw, err := json.Marshal(d)
	if err != nil {
		diags.AddError("Cannot write the private state", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, privateDataKey, raw)...)
}

// ofReplacement is what the plan of a new subscription keeps of the one that it replaces, if there is one.
func (d privateData) ofReplacement() privateData {
	if d == (privateData{}) {
		return d
	}
	return privateData{Replaced: &d}
}

// consistencyWindow is how long after the creation a response without the subscription counts as outdated.
const consistencyWindow = 30 * time.Second

// absenceIsConclusive reports whether a subscription that the service does not return is gone. One that it has never
// returned is not: perhaps it returns none at all, and then every apply would create another subscription.
func (d privateData) absenceIsConclusive(now time.Time) bool {
	return d.Seen && now.Sub(d.Created) > consistencyWindow
}

// importPending means that the state is that of an import and lacks what only the configuration has.
func (d privateData) importPending() bool { return !d.Imported.IsZero() && !d.Recorded }

// firstPayloadVersion is the version of a new subscription. One that the provider sets becomes known with the apply:
// a plan of a replacement cannot increase the old version, because the apply plans again without the old state.
func (m *subscriptionModel) firstPayloadVersion() types.Int64 {
	if m.PayloadVersion.IsNull() && !m.PayloadWriteOnly.IsNull() {
		return types.Int64Unknown()
	}
	return m.PayloadVersion
}

// defaultWriteOnlyVersion is the version of a payload_json_wo without a configured version.
const defaultWriteOnlyVersion = 1

// nextPayloadVersion is the version of an existing subscription: that of the state, unless payload_json_wo changed.
func (m *subscriptionModel) nextPayloadVersion(
	state *subscriptionModel, private privateData, diags *diag.Diagnostics,
) types.Int64 {
	changed := private.WriteOnly.differsFrom(m.PayloadWriteOnly)
	switch {
	case !m.PayloadVersion.IsNull():
		if changed && m.PayloadVersion.Equal(state.PayloadVersion) {
			diags.AddAttributeWarning(path.Root("payload_json_wo_version"), "The change of payload_json_wo is ignored",
				"`payload_json_wo` changed but `payload_json_wo_version` did not. The provider sends nothing. Increase the "+
					"version to replace the subscription.")
		}
		return m.PayloadVersion
	case m.PayloadWriteOnly.IsNull():
		return types.Int64Null()
	case changed, m.PayloadWriteOnly.IsUnknown() && private.WriteOnly != nil:
		return types.Int64Unknown() // so that it is a change, or may be one
	default:
		return types.Int64Value(max(state.PayloadVersion.ValueInt64(), defaultWriteOnlyVersion))
	}
}

// writeOnlyDigest is what the provider keeps of payload_json_wo, which itself is not stored: enough to detect a change.
// It is one digest of the whole payload, because a short secret could be guessed from a digest of its own. The JSON
// names are in the states of users, so they are fixed.
type writeOnlyDigest struct {
	Salt  []byte `json:"salt"`
	Whole []byte `json:"whole"`
}

// newWriteOnlyDigest returns nil for a payload that is null, unknown or not JSON.
func newWriteOnlyDigest(payload types.String) *writeOnlyDigest {
	normalized := normalizeJSON(payload)
	if normalized.IsNull() {
		return nil
	}
	digest := &writeOnlyDigest{Salt: []byte(rand.Text())}
	digest.Whole = digest.sum(normalized.ValueString())
	return digest
}

// pbkdf2Iterations makes it slow to guess a short secret from the digest in a state. It costs a plan a few
// milliseconds.
const pbkdf2Iterations = 20_000

func (d *writeOnlyDigest) sum(text string) []byte {
	key, err := pbkdf2.Key(sha256.New, text, d.Salt, pbkdf2Iterations, sha256.Size)
	if err != nil {
		return nil // only with parameters that no standard allows
	}
	return key
}

// differsFrom reports whether the payload is not the one of the digest. A payload that is not known yet does not
// differ.
func (d *writeOnlyDigest) differsFrom(payload types.String) bool {
	if d == nil || payload.IsNull() || payload.IsUnknown() {
		return false
	}
	return !hmac.Equal(d.sum(normalizeJSON(payload).ValueString()), d.Whole)
}
