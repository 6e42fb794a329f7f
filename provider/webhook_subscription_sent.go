package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// sentPayload is what a create has sent in payload_json and payload_json_wo. It is in memory only.
type sentPayload struct {
	// stored are the fields of payload_json, which the state has.
	stored map[string]any
	// names are the folded names of the fields of payload_json_wo.
	names map[string]bool
	// secrets are the strings and numbers in payload_json_wo.
	secrets []string
}

func newSentPayload(payload, writeOnly types.String) sentPayload {
	sent := sentPayload{names: map[string]bool{}}
	value, _ := decodeJSON(json.RawMessage(payload.ValueString()))
	sent.stored, _ = value.(map[string]any)
	value, _ = decodeJSON(json.RawMessage(writeOnly.ValueString()))
	fields, _ := value.(map[string]any)
	for name := range fields {
		sent.names[client.FoldName(name)] = true
	}
	sent.secrets = scalarsOf(value)
	return sent
}

// repeats reports whether a field of a response repeats payload_json_wo: in a field of the same name, where the service
// may mask it, or anywhere in the value.
func (s sentPayload) repeats(name string, value any) bool {
	return s.names[client.FoldName(name)] || slices.ContainsFunc(scalarsOf(value), func(text string) bool {
		return slices.ContainsFunc(s.secrets, func(secret string) bool {
			return strings.Contains(text, secret) || strings.Contains(secret, text)
		})
	})
}
