package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// history is what has to be remembered of a subscription and is nobody's attribute. It lives in the private state.
type history struct {
	// Created is when the subscription was sent; zero if it was not by this resource.
	Created time.Time `json:"created,omitzero"`
	// Imported is when it was imported, or moved here; zero if it was not.
	Imported time.Time `json:"imported,omitzero"`
	// ID is that which the service gave it; 0 if none is known.
	ID int64 `json:"id,omitempty"`
	// Recorded tells that an apply has brought the configuration of an imported subscription into the state.
	Recorded bool `json:"recorded,omitempty"`
	// Seen tells that the service has shown it at least once.
	Seen bool `json:"seen,omitempty"`
	// WriteOnly is what is remembered of the payload_json_wo that was sent.
	WriteOnly *imprint `json:"write_only,omitempty"`
	// Unchanged is the deletion_policy of a subscription whose plan needs no replacement. If it is replaced all the same, by
	// -replace or replace_triggered_by, then the plan of the new one is told this, and nothing else of the old one.
	Unchanged string `json:"unchanged,omitempty"`
}

const historyKey = "history"

// privateState is the framework's private state, whose type has no name outside of it.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func readHistory(ctx context.Context, private privateState, diags *diag.Diagnostics) history {
	raw, problems := private.GetKey(ctx, historyKey)
	diags.Append(problems...)
	var h history
	_ = json.Unmarshal(raw, &h) // nothing, or what only this file writes
	return h
}

func (h history) write(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	raw, err := json.Marshal(h)
	if err != nil {
		diags.AddError("Cannot write the private state", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, historyKey, raw)...)
}

// consistencyWindow is how long after the subscription an answer that lacks it is taken for an old one.
const consistencyWindow = 30 * time.Second

// absenceCounts tells whether a subscription that the service does not show may be believed to be gone. One that it has
// never shown may not: perhaps it never shows any, and believing it would subscribe again at every apply.
func (h history) absenceCounts(now time.Time) bool {
	return h.Seen && now.Sub(h.Created) > consistencyWindow
}

// adoptionWindow is how long after an import a plan keeps quiet about deletion_policy and on_existing, which an import
// cannot know. It has to be over at some time: what a plan is quiet about never gets into the state.
const adoptionWindow = 5 * time.Minute

func (h history) justImported(now time.Time) bool {
	return h.adopting() && now.Sub(h.Imported) < adoptionWindow
}

// adopting tells that the state is that of an import, and lacks what only the configuration knows.
func (h history) adopting() bool { return !h.Imported.IsZero() && !h.Recorded }
