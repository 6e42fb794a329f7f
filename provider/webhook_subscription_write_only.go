package provider

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

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
	value, err := decodeJSON(json.RawMessage(payload.ValueString()))
	if err != nil {
		return nil
	}
	digest := &writeOnlyDigest{Salt: []byte(rand.Text())}
	digest.Whole = digest.sum(encodeJSON(value).ValueString())
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
	return !hmac.Equal(d.sum(canonicalPayload(payload).ValueString()), d.Whole)
}
