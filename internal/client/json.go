package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// object is a JSON object with its members as they came, duplicates included: encoding/json would fold letter case and
// let the last of two equal names win, which is how a hostile answer would change an id.
type object []member

type member struct {
	name  []byte // without its quotes; most are a part of the answer as it came
	value json.RawMessage
}

var errJSON = errors.New("not the JSON that was expected")

// parseObject reads exactly one JSON object from outside. encoding/json judges it, as a whole; what is taken apart
// afterwards is known to be valid.
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

// asObject takes an object inside valid JSON apart; false if it is none.
func asObject(valid json.RawMessage) (object, bool) {
	if len(valid) == 0 || valid[0] != '{' {
		return nil, false
	}
	o := make(object, 0, min(max(len(valid)/usualMember, 2), 20))
	for rest := next(valid[1:]); rest[0] != '}'; rest = next(rest) {
		var name, value json.RawMessage
		name, rest = cut(rest)
		value, rest = cut(next(rest))
		o = append(o, member{unquote(name), value})
	}
	return o, true
}

// usualMember is how long a member usually is. It only keeps slices from growing in many steps.
const usualMember = 24

// unquote gives the text of a valid JSON string.
func unquote(quoted json.RawMessage) []byte {
	if text, plain := asItStands(quoted); plain {
		return text
	}
	text, _ := parseString(quoted)
	return []byte(text)
}

// asList takes a list inside valid JSON apart; false if it is none.
func asList(valid json.RawMessage) ([]json.RawMessage, bool) {
	if len(valid) == 0 || valid[0] != '[' {
		return nil, false
	}
	items := make([]json.RawMessage, 0, 4)
	for rest := next(valid[1:]); rest[0] != ']'; rest = next(rest) {
		var item json.RawMessage
		item, rest = cut(rest)
		items = append(items, item)
	}
	return items, true
}

// next skips what stands between values.
func next(valid json.RawMessage) json.RawMessage {
	for i, c := range valid {
		if c > ' ' && c != ',' && c != ':' {
			return valid[i:]
		}
	}
	return nil
}

// cut cuts the first value off what is left of an object or a list.
func cut(valid json.RawMessage) (value, rest json.RawMessage) {
	end := 0
	switch valid[0] {
	case '"':
		end = quotedEnd(valid, 0)
	case '{', '[':
		end = nestedEnd(valid)
	default:
		for end < len(valid) && valid[end] > ' ' && valid[end] != ',' && valid[end] != '}' && valid[end] != ']' {
			end++
		}
	}
	return valid[:end], valid[end:]
}

// quotedEnd is where the string that begins at begin ends.
func quotedEnd(valid json.RawMessage, begin int) int {
	for i := begin + 1; ; i++ {
		switch valid[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// nestedEnd is where the object or list at the beginning ends.
func nestedEnd(valid json.RawMessage) int {
	depth := 0
	for i := 0; ; i++ {
		switch valid[i] {
		case '"':
			i = quotedEnd(valid, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
}

// encode writes a request body. What bodies are made of, strings, numbers and lists of them, cannot fail to encode.
func encode(body any) []byte {
	encoded, _ := json.Marshal(body)
	return encoded
}

// get gives the member with one of the names, exact matches first, then those whose folded names
// are equal. null is the same as missing.
func (o object) get(names ...string) json.RawMessage { return o.find(names, isSomething) }

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
			if alike(m.name, name) && fits(m.value) {
				return m.value
			}
		}
	}
	return nil
}

// unambiguous is get for members that decide something: two spellings or two values are an error, not a choice.
func (o object) unambiguous(name string) (json.RawMessage, error) {
	var found json.RawMessage
	for _, m := range o {
		if !alike(m.name, name) || isNull(m.value) {
			continue
		}
		if found != nil && !bytes.Equal(found, m.value) {
			return nil, errJSON
		}
		found = m.value
	}
	return found, nil
}

// unwrap follows objects that hold the wanted one under one of the usual names. Where two of them could be it, or members
// do not agree on the id, it is none: whoever looks for an id must not be led to another.
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

// wrapped gives the objects under the given names and those that anything could be wrapped in.
func (o object) wrapped(names ...string) []object {
	names = append(names, "data", "result", "item")
	var found []object
	for _, m := range o {
		if !slices.ContainsFunc(names, func(n string) bool { return alike(m.name, n) }) {
			continue
		}
		if inner, ok := asObject(m.value); ok {
			found = append(found, inner)
		}
	}
	return found
}

// hasID tells whether an object has an id, or members that do not agree on it.
func (o object) hasID() bool {
	raw, err := o.unambiguous("id")
	_, ok := parseID(raw)
	return ok || err != nil
}

func isSomething(raw json.RawMessage) bool { return !isNull(raw) }

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// alike tells whether two names are the same once folded.
func alike[T ~string | ~[]byte](a T, b string) bool {
	i, j := 0, 0
	for {
		for i < len(a) && isJoint(a[i]) {
			i++
		}
		for j < len(b) && isJoint(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] < utf8.RuneSelf && b[j] < utf8.RuneSelf {
			if a[i] != b[j] && lower(a[i]) != lower(b[j]) {
				return false
			}
			i, j = i+1, j+1
			continue
		}
		x, xSize := utf8.DecodeRuneInString(string(a[i:]))
		y, ySize := utf8.DecodeRuneInString(b[j:])
		if unicode.ToLower(x) != unicode.ToLower(y) {
			return false
		}
		i, j = i+xSize, j+ySize
	}
}

func isJoint(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// FoldName removes from a name what the interface leaves open: letter case, and the characters that join words
// ('_', '-', '.' and space). Two names are the same if their folded forms are equal. Not documented: our reading.
func FoldName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isJoint(byte(r)) {
			return -1
		}
		return r
	}, name))
}
