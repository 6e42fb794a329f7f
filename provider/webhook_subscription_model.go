package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// privateData is what the provider keeps about a subscription and what is no attribute. The JSON names are in the
// states of users, so they are fixed.
type privateData struct {
	// Created is when the subscription was sent; zero if this resource did not send it.
	Created time.Time `json:"created,omitzero"`
	// Imported is when the subscription was imported or moved; zero if it was not.
	Imported time.Time `json:"imported,omitzero"`
	// ID is the service's ID of the subscription; 0 if it is unknown.
	ID int64 `json:"id,omitempty"`
	// Recorded means that an apply has written the configuration of an imported subscription into the state.
	Recorded bool `json:"recorded,omitempty"`
	// Single means that the service returned the subscription alone, and not in a list.
	Single bool `json:"single,omitempty"`
	// Seen means that the service has returned the subscription at least once.
	Seen bool `json:"seen,omitempty"`
	// WriteOnly is the digest of the payload_json_wo that was sent.
	WriteOnly *writeOnlyDigest `json:"write_only,omitempty"`
	// Unchanged is the deletion_policy of a subscription whose own plan needs no replacement. With -replace or
	// replace_triggered_by, the plan of the new subscription gets this value.
	Unchanged string `json:"unchanged,omitempty"`
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
