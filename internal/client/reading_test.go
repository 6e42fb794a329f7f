package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// entry is a member of an object, or an item of a list, which has no name.
type entry struct {
	name  string
	value json.RawMessage
}

// entriesOf reads one level of JSON with encoding/json's token stream: a second way to read, which has nothing in
// common with the decoders that it judges. kind is '{', '[' or, for anything else, 0.
func entriesOf(value []byte) (kind json.Delim, entries []entry) {
	if !json.Valid(value) {
		return 0, nil
	}
	stream := json.NewDecoder(bytes.NewReader(value))
	first, _ := stream.Token()
	kind, _ = first.(json.Delim)
	for kind != 0 && stream.More() {
		var e entry
		if kind == '{' {
			name, _ := stream.Token()
			e.name = name.(string)
		}
		if stream.Decode(&e.value) != nil {
			return 0, nil
		}
		entries = append(entries, e)
	}
	return kind, entries
}

func isObject(value []byte) bool {
	kind, _ := entriesOf(value)
	return kind == '{'
}

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// named reports whether a member has a name, in any notation.
func (e entry) named(names ...string) bool {
	isName := len(e.name) <= wire.MaxName && !strings.HasPrefix(e.name, "_")
	return isName && slices.ContainsFunc(names, func(name string) bool {
		return joints.Replace(strings.ToLower(e.name)) == joints.Replace(name)
	})
}

// valuesOf gives the different values, null apart, that an object's members of some name have.
func valuesOf(entries []entry, name string) []string {
	values := map[string]bool{}
	for _, e := range entries {
		if e.named(name) && string(e.value) != "null" {
			values[string(e.value)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// scalarOf reads a string or the digits of a number.
func scalarOf(value []byte) (text string, isString bool) {
	var scalar any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	_ = decoder.Decode(&scalar)
	switch s := scalar.(type) {
	case string:
		return s, true
	case json.Number:
		return s.String(), false
	}
	return "", false
}

// idOf reads an id: nothing but digits, from 1 to 2^63-1; 0 for anything else.
func idOf(value []byte) int64 {
	text, isString := scalarOf(value)
	if whole, fraction, ok := strings.Cut(text, "."); ok && !isString && strings.Trim(fraction, "0") == "" {
		text = whole
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) > 64 || strings.ContainsAny(text, "+-_") || !n.IsInt64() || n.Sign() <= 0 {
		return 0
	}
	return n.Int64()
}

// soleID is the id of an object: what all its members of that name agree on, else 0.
func soleID(entries []entry) int64 {
	if values := valuesOf(entries, "id"); len(values) == 1 {
		return idOf([]byte(values[0]))
	}
	return 0
}

// wrapped follows an object to the one that has an id, through at most three members of the given names and lists of
// one. An object whose members do not agree on the id ends the way, and so do two ways.
func wrapped(value []byte, names ...string) []entry {
	for range 4 {
		kind, entries := entriesOf(value)
		if kind == '[' && len(entries) == 1 {
			value = entries[0].value
			continue
		}
		if kind != '{' || len(valuesOf(entries, "id")) > 1 {
			return nil
		}
		if soleID(entries) != 0 {
			return entries
		}
		ways := slices.DeleteFunc(entries, func(e entry) bool { return !e.named(names...) || !wraps(e.value) })
		if len(ways) != 1 {
			return nil
		}
		value = ways[0].value
	}
	return nil
}

func wraps(value []byte) bool {
	kind, entries := entriesOf(value)
	return kind == '{' || kind == '[' && len(entries) == 1
}

// scalars gives all strings of a document, names included, and all ids in it.
func scalars(value []byte) (texts map[string]bool, ids map[int64]bool) {
	texts, ids = map[string]bool{"": true}, map[int64]bool{0: true}
	stream := json.NewDecoder(bytes.NewReader(value))
	stream.UseNumber()
	for {
		word, err := stream.Token()
		if err != nil {
			return texts, ids
		}
		var text string
		switch w := word.(type) {
		case string:
			text = w
		case json.Number:
			text = w.String()
		}
		texts[text] = true
		raw := []byte(text)
		if _, isNumber := word.(json.Number); !isNumber {
			raw, _ = json.Marshal(text)
		}
		ids[idOf(raw)] = true
	}
}
