package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object with its members as they came, duplicates included: encoding/json would fold letter case and
// let the last of two equal names win, which is how a hostile answer would change an id.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

var errJSON = errors.New("not the JSON that was expected")

// parseObject reads exactly one JSON object.
func parseObject(data []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errJSON
	}
	var o object
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, errJSON
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errJSON
		}
		o = append(o, member{name.(string), value}) //nolint:forcetypeassert // a member's name is always a string
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errJSON
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errJSON
	}
	return o, nil
}

// parseArray reads exactly one JSON array.
func parseArray(data []byte) ([]json.RawMessage, error) {
	var items []json.RawMessage
	if len(data) == 0 || data[0] != '[' || json.Unmarshal(data, &items) != nil {
		return nil, errJSON
	}
	return items, nil
}

// encode writes a request body. What bodies are made of, strings, numbers and lists of them, cannot fail to encode.
func encode(body any) []byte {
	encoded, _ := json.Marshal(body)
	return encoded
}

// get gives the member with one of the names, exact spelling first, then letter case, '_', '-' and ' ' ignored. null is
// the same as missing.
func (o object) get(names ...string) json.RawMessage {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, func(a, b string) bool { return fold(a) == fold(b) }} {
		for _, name := range names {
			for _, m := range o {
				if same(m.name, name) && !isNull(m.value) {
					return m.value
				}
			}
		}
	}
	return nil
}

// only is get for members that decide something: two spellings or two values are an error, not a choice.
func (o object) only(name string) (json.RawMessage, error) {
	var found json.RawMessage
	for _, m := range o {
		if fold(m.name) != fold(name) || isNull(m.value) {
			continue
		}
		if found != nil && !bytes.Equal(found, m.value) {
			return nil, errJSON
		}
		found = m.value
	}
	return found, nil
}

// unwrap follows objects that hold the wanted one under one of the usual names. Where two of them could be it, it is
// none: whoever looks for an id must not be led to another.
func (o object) unwrap(names ...string) object {
	names = append(names, "data", "result", "item")
	for range 3 {
		if o.id("id") != 0 {
			break
		}
		var inner []object
		for _, m := range o {
			if !slices.ContainsFunc(names, func(n string) bool { return fold(n) == fold(m.name) }) {
				continue
			}
			if candidate, err := parseObject(m.value); err == nil {
				inner = append(inner, candidate)
			}
		}
		if len(inner) != 1 {
			break
		}
		o = inner[0]
	}
	return o
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// fold makes names comparable whose spelling the interface leaves open.
func fold(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, s))
}

// parseID reads an id: a JSON integer or a string of digits, 1 to 2^63-1.
func parseID(raw json.RawMessage) (int64, bool) {
	text := string(raw)
	if unquoted, ok := parseString(raw); ok {
		text = unquoted
	}
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 { // what ParseInt gives with an error is a number too
		return 0, false
	}
	return id, true
}

func parseString(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// text gives a string member, or the digits of a number; "" for anything else.
func (o object) text(names ...string) string {
	raw := o.get(names...)
	if s, ok := parseString(raw); ok {
		return s
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// id gives a member as an id, 0 if it is none or if there are several.
func (o object) id(names ...string) int64 {
	for _, name := range names {
		if raw, err := o.only(name); err != nil || raw != nil {
			id, _ := parseID(raw)
			return id
		}
	}
	return 0
}

// truth gives a boolean member; "true" and 1 are true as well.
func (o object) truth(name string) bool {
	switch strings.ToLower(strings.Trim(string(o.get(name)), `"`)) {
	case "true", "1":
		return true
	}
	return false
}

// count gives a counter: an integer that is not negative and fits an int32, as a number or a string of digits.
func (o object) count(name string) int32 {
	n, err := strconv.ParseInt(strings.Trim(string(o.get(name)), `"`), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// objects gives a member that is a list of objects; what is no object in it is left out.
func (o object) objects(names ...string) []object {
	items, _ := parseArray(o.get(names...))
	var objects []object
	for _, item := range items {
		if inner, err := parseObject(item); err == nil {
			objects = append(objects, inner)
		}
	}
	return objects
}

// texts gives a member that is a list of strings; what is no string in it is left out.
func (o object) texts(names ...string) []string {
	items, _ := parseArray(o.get(names...))
	var found []string
	for _, item := range items {
		if text, ok := parseString(item); ok {
			found = append(found, text)
		}
	}
	return found
}
