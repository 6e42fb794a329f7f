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
			made.Fields = append(made.Fields, client.FoldName(name))
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

const (
	hidden = "[write-only]"
	// unchecked stands for what comes after so many different values that comparing them all would take too long.
	unchecked   = "[not compared with payload_json_wo]"
	mostChecked = 200
)

// shown is an answer of the service as it may be kept: without what is unfit for that by its name, and without what it
// repeats of payload_json_wo, be it under the same name or the same value.
func (i *imprint) shown(raw json.RawMessage, unfit func(name string) bool) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	remove(value, unfit)
	if i != nil {
		value = hiding{i, map[string]bool{}}.hide(value)
	}
	return encodeJSON(value)
}

// hiding is one run over an answer. secret tells of the leaves met so far whether they are of payload_json_wo: each digest
// is as slow as it has to be against guessing.
type hiding struct {
	*imprint
	secret map[string]bool
}

func (h hiding) hide(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if slices.Contains(h.Fields, client.FoldName(name)) {
				value[name] = hidden
				continue
			}
			value[name] = h.hide(value[name])
		}
	case []any:
		for n, item := range value {
			value[n] = h.hide(item)
		}
	default:
		if leaf := leavesOf(value); len(leaf) > 0 && len(h.Leaves) > 0 {
			return h.hideLeaf(leaf[0], value)
		}
	}
	return value
}

func (h hiding) hideLeaf(leaf string, value any) any {
	secret, met := h.secret[leaf]
	if !met {
		if len(h.secret) == mostChecked {
			return unchecked
		}
		digest := h.digest(leaf)
		secret = slices.ContainsFunc(h.Leaves, func(other []byte) bool { return hmac.Equal(other, digest) })
		h.secret[leaf] = secret
	}
	if secret {
		return hidden
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
