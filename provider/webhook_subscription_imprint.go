package provider

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// writeOnlyDigest is what the provider keeps of payload_json_wo, which itself is not stored: enough to detect a change,
// and to redact what the service repeats of it. The JSON names are in the states of users, so they are fixed.
type writeOnlyDigest struct {
	Salt []byte `json:"salt"`
	// Whole is the digest of the whole payload.
	Whole []byte `json:"whole"`
	// Fields are the folded names of its fields.
	Fields []string `json:"fields,omitempty"`
	// Scalars are the digests of its strings and numbers.
	Scalars [][]byte `json:"leaves,omitempty"`
}

// newWriteOnlyDigest returns nil for a payload that is null, unknown or not JSON.
func newWriteOnlyDigest(payload types.String) *writeOnlyDigest {
	value, err := decodeJSON(json.RawMessage(payload.ValueString()))
	if err != nil {
		return nil
	}
	digest := &writeOnlyDigest{Salt: []byte(rand.Text())}
	digest.Whole = digest.sum(encodeJSON(value).ValueString())
	if fields, ok := value.(map[string]any); ok {
		for name := range fields {
			digest.Fields = append(digest.Fields, client.FoldName(name))
		}
	}
	slices.Sort(digest.Fields)
	for _, scalar := range scalarsOf(value) {
		digest.Scalars = append(digest.Scalars, digest.sum(scalar))
	}
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

const (
	redactedWriteOnly = "[write-only]"
	// redactedUnchecked replaces the values beyond maxComparisons: each comparison is slow.
	redactedUnchecked = "[not compared with payload_json_wo]"
	maxComparisons    = 200
)

// redact returns a response of the service as the state may hold it: without the fields that are unwanted by their
// name, and without what it repeats of payload_json_wo, by field name or by value.
func (d *writeOnlyDigest) redact(raw json.RawMessage, unwanted func(name string) bool) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	removeFields(value, unwanted)
	if d != nil {
		value = writeOnlyRedactor{d, map[string]bool{}}.redact(value)
	}
	return encodeJSON(value)
}

// writeOnlyRedactor redacts one response. compared holds for each scalar so far whether it is in payload_json_wo.
type writeOnlyRedactor struct {
	*writeOnlyDigest
	compared map[string]bool
}

func (r writeOnlyRedactor) redact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if slices.Contains(r.Fields, client.FoldName(name)) {
				value[name] = redactedWriteOnly
				continue
			}
			value[name] = r.redact(value[name])
		}
	case []any:
		for n, item := range value {
			value[n] = r.redact(item)
		}
	default:
		if scalars := scalarsOf(value); len(scalars) > 0 && len(r.Scalars) > 0 {
			return r.redactScalar(scalars[0], value)
		}
	}
	return value
}

func (r writeOnlyRedactor) redactScalar(scalar string, value any) any {
	secret, ok := r.compared[scalar]
	if !ok {
		if len(r.compared) == maxComparisons {
			return redactedUnchecked
		}
		sum := r.sum(scalar)
		secret = slices.ContainsFunc(r.Scalars, func(other []byte) bool { return hmac.Equal(other, sum) })
		r.compared[scalar] = secret
	}
	if secret {
		return redactedWriteOnly
	}
	return value
}

// minScalarLength excludes what is so short that any response may contain it by chance.
const minScalarLength = 4

// scalarsOf returns the strings and numbers in a value.
func scalarsOf(value any) []string {
	var scalars []string
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			scalars = append(scalars, scalarsOf(field)...)
		}
	case []any:
		for _, item := range value {
			scalars = append(scalars, scalarsOf(item)...)
		}
	case string:
		if len(value) >= minScalarLength {
			scalars = append(scalars, value)
		}
	case json.Number:
		if len(value) >= minScalarLength {
			scalars = append(scalars, value.String())
		}
	}
	slices.Sort(scalars)
	return slices.Compact(scalars)
}
