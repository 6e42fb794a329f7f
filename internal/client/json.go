package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// object is a JSON object with its members in their order, duplicates included. encoding/json would fold letter case
// and let the last of two equal names win, which is how a hostile response would change an id.
//
// encoding/json checks each response once. The code below then only splits it, without copying: json.Decoder.Token,
// which keeps order and duplicates as well, would make a whole request take two and a half times as long.
type object []member

type member struct {
	name  []byte // unquoted
	value json.RawMessage
}

var errJSON = errors.New("not the expected JSON")

// parseObject reads exactly one JSON object from outside.
func parseObject(data []byte) (object, error) {
	if !json.Valid(data) {
		return nil, errJSON
	}
	o, ok := asObject(bytes.TrimSpace(data))
	if !ok {
		return nil, errJSON
	}
	return o, nil
}

// asObject reads valid JSON as an object; false if it is something else.
func asObject(valid json.RawMessage) (object, bool) {
	if len(valid) == 0 || valid[0] != '{' {
		return nil, false
	}
	o := make(object, 0, min(max(len(valid)/usualMember, 2), 20))
	for rest := skipSeparators(valid[1:]); rest[0] != '}'; rest = skipSeparators(rest) {
		nameEnd := valueEnd(rest)
		name := unquote(rest[:nameEnd])
		rest = skipSeparators(rest[nameEnd:])
		end := valueEnd(rest)
		o = append(o, member{name, rest[:end]})
		rest = rest[end:]
	}
	return o, true
}

// usualMember is the usual length of a member. It only keeps slices from growing in many steps.
const usualMember = 24

// asList reads valid JSON as a list; false if it is something else.
func asList(valid json.RawMessage) ([]json.RawMessage, bool) {
	if len(valid) == 0 || valid[0] != '[' {
		return nil, false
	}
	items := make([]json.RawMessage, 0, 4)
	for rest := skipSeparators(valid[1:]); rest[0] != ']'; rest = skipSeparators(rest) {
		end := valueEnd(rest)
		items = append(items, rest[:end])
		rest = rest[end:]
	}
	return items, true
}

// skipSeparators skips what is between two values.
func skipSeparators(valid json.RawMessage) json.RawMessage {
	for i, c := range valid {
		if !separates(c) {
			return valid[i:]
		}
	}
	return nil
}

func separates(c byte) bool { return c <= ' ' || c == ',' || c == ':' }

// valueEnd returns where the first value in valid JSON ends.
func valueEnd(valid json.RawMessage) int {
	depth := 0
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case c == '"':
			for i++; valid[i] != '"'; i++ {
				if valid[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 { // the end of what a number or a literal is in
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case depth == 0 && separates(c):
			return i
		}
	}
	return len(valid)
}

// encode writes a request body. Bodies consist of strings, numbers and lists of them, which always encode.
func encode(body any) []byte {
	encoded, _ := json.Marshal(body)
	return encoded
}

// get returns the member with one of the names: exact matches first, then those whose folded names are equal. null is
// the same as missing.
func (o object) get(names ...string) json.RawMessage {
	return o.find(names, func(value json.RawMessage) bool { return !isNull(value) })
}

// find is get for a value that fits.
func (o object) find(names []string, fits func(json.RawMessage) bool) json.RawMessage {
	for _, name := range names {
		for _, m := range o {
			if string(m.name) == name && fits(m.value) {
				return m.value
			}
		}
	}
	for _, name := range names {
		for _, m := range o {
			if sameName(m.name, name) && fits(m.value) {
				return m.value
			}
		}
	}
	return nil
}

// unambiguous is get for members that identify something: two different values are an error, not a choice.
func (o object) unambiguous(name string) (json.RawMessage, error) {
	var found json.RawMessage
	for _, m := range o {
		if !sameName(m.name, name) || isNull(m.value) {
			continue
		}
		if found != nil && !bytes.Equal(found, m.value) {
			return nil, errJSON
		}
		found = m.value
	}
	return found, nil
}

// unwrap follows objects that wrap the wanted one under one of the usual names. It stops where two objects could be the
// wanted one, or where members disagree about the id: the caller must not find another id.
func (o object) unwrap(names ...string) object {
	for range maxWrappers {
		inner := o.wrapped(names...)
		if o.hasID() || len(inner) != 1 {
			break
		}
		o = inner[0]
	}
	return o
}

const maxWrappers = 3

// wrapped returns the objects under the given names and under those that often wrap a response.
func (o object) wrapped(names ...string) []object {
	names = append(names, "data", "result", "item")
	var found []object
	for _, m := range o {
		if !m.named(names) {
			continue
		}
		if inner, ok := asObject(m.value); ok {
			found = append(found, inner)
		}
	}
	return found
}

// hasID reports whether an object has an id, or members that disagree about it.
func (o object) hasID() bool {
	raw, err := o.unambiguous("id")
	_, ok := parseID(raw)
	return ok || err != nil
}

// named reports whether a member has one of the names.
func (m member) named(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return sameName(m.name, name) })
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
