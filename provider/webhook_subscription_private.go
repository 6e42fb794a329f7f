package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

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
