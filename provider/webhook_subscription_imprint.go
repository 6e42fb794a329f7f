package provider

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// imprint is what is remembered of payload_json_wo, which itself is stored nowhere: enough to notice another one, and to
// recognize what the service repeats of it.
type imprint struct {
	Salt []byte `json:"salt"`
	// Whole is the digest of all of it.
	Whole []byte `json:"whole"`
	// Fields are the names of its fields, and Leaves the digests of its texts and numbers.
	Fields []string `json:"fields,omitempty"`
	Leaves [][]byte `json:"leaves,omitempty"`
}

// imprintOf gives nil for a payload that is null, unknown or no JSON.
func imprintOf(payload types.String) *imprint {
	value, err := decodeJSON(json.RawMessage(payload.ValueString()))
	if err != nil {
		return nil
	}
	made := &imprint{Salt: []byte(rand.Text())}
	made.Whole = made.digest(encodeJSON(value).ValueString())
	if fields, ok := value.(map[string]any); ok {
		for name := range fields {
			made.Fields = append(made.Fields, folded(name))
		}
	}
	slices.Sort(made.Fields)
	for _, leaf := range leavesOf(value) {
		made.Leaves = append(made.Leaves, made.digest(leaf))
	}
	return made
}

// stretch makes guessing a short secret from the digest in a state slow, and costs a plan a few milliseconds.
const stretch = 20_000

func (i *imprint) digest(text string) []byte {
	key, err := pbkdf2.Key(sha256.New, text, i.Salt, stretch, sha256.Size)
	if err != nil {
		return nil // only with parameters that no standard allows
	}
	return key
}

// differs tells whether a payload is another one than that of the imprint. What is not known yet does not differ.
func (i *imprint) differs(payload types.String) bool {
	if i == nil || payload.IsNull() || payload.IsUnknown() {
		return false
	}
	return !hmac.Equal(i.digest(withoutForm(payload).ValueString()), i.Whole)
}

const hidden = "[write-only]"

// shown is an answer of the service as it may be kept: without what it repeats of payload_json_wo, be it under the same
// name or the same value.
func (i *imprint) shown(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	if i != nil {
		value = i.hide(value)
	}
	return encodeJSON(value)
}

func (i *imprint) hide(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if slices.Contains(i.Fields, folded(name)) {
				value[name] = hidden
				continue
			}
			value[name] = i.hide(member)
		}
	case []any:
		for n, item := range value {
			value[n] = i.hide(item)
		}
	default:
		for _, leaf := range leavesOf(value) {
			digest := i.digest(leaf)
			if slices.ContainsFunc(i.Leaves, func(secret []byte) bool { return hmac.Equal(secret, digest) }) {
				return hidden
			}
		}
	}
	return value
}

// leavesOf gives the texts and numbers of a value. What is shorter could be found in anything.
func leavesOf(value any) []string {
	const shortest = 4
	var leaves []string
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			leaves = append(leaves, leavesOf(member)...)
		}
	case []any:
		for _, item := range value {
			leaves = append(leaves, leavesOf(item)...)
		}
	case string:
		if len(value) >= shortest {
			leaves = append(leaves, value)
		}
	case json.Number:
		if len(value) >= shortest {
			leaves = append(leaves, value.String())
		}
	}
	slices.Sort(leaves)
	return slices.Compact(leaves)
}

// folded makes names alike that differ only in letter case and in what joins their words.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
