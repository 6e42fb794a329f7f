package provider

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

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

// minScalarLength excludes what is so short that any response may contain it by chance.
const minScalarLength = 4

// scalarsOf returns the strings and numbers in a value that are long enough to be compared.
func scalarsOf(value any) []string {
	scalars := slices.DeleteFunc(leavesOf(value), func(leaf string) bool { return len(leaf) < minScalarLength })
	slices.Sort(scalars)
	return slices.Compact(scalars)
}
