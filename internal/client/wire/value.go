// Package wire reads the JSON of the service as far as it can be understood. The interface shows few shapes, so names
// of members match in any letter case, numbers may be strings, and what is expected may be wrapped. No id is guessed.
package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Value is JSON. The zero Value is that of an absent member.
type Value struct{ raw string }

// ErrNotJSON is the error of a body that is no JSON, or not the JSON that is expected.
var ErrNotJSON = errors.New("not the expected JSON")

// Parse reads a response. The error is ErrNotJSON or a LimitError. With a LimitError, the value is as much as the body
// says, for a few members that must not be lost.
func Parse(body []byte) (Value, error) {
	if !json.Valid(body) {
		return Value{}, cmp.Or(checkSize(body), ErrNotJSON)
	}
	return Value{strings.TrimSpace(string(body))}, checkSize(body)
}

// Raw is the value as it is written.
func (v Value) Raw() string { return v.raw }

// IsNull reports whether a value is absent or null.
func (v Value) IsNull() bool { return v.raw == "" || v.raw == "null" }

// IsObject reports whether a value is an object.
func (v Value) IsObject() bool { return strings.HasPrefix(v.raw, "{") }

// IsList reports whether a value is a list.
func (v Value) IsList() bool { return strings.HasPrefix(v.raw, "[") }

func (v Value) isNumber() bool { return strings.TrimLeft(v.raw, "-0123456789") != v.raw }

// List returns the items of a list, and nil for anything else.
func (v Value) List() []Value {
	if !v.IsList() {
		return nil
	}
	var items []Value
	gjson.Parse(v.raw).ForEach(func(_, item gjson.Result) bool {
		items = append(items, Value{item.Raw})
		return true
	})
	return items
}

// Objects returns the items of a list that are objects.
func (v Value) Objects() (objects []Object) {
	for _, item := range v.List() {
		if item.IsObject() {
			objects = append(objects, item.Object())
		}
	}
	return objects
}

// Object returns the members of an object, and nil for anything else.
func (v Value) Object() Object {
	if !v.IsObject() {
		return nil
	}
	members := make(Object, 0, 8)
	gjson.Parse(v.raw).ForEach(func(name, value gjson.Result) bool {
		members = append(members, Member{unquote(name.Raw), Value{value.Raw}})
		return true
	})
	return members
}

// AsString returns a string, and false for anything else.
func (v Value) AsString() (string, bool) {
	if !strings.HasPrefix(v.raw, `"`) {
		return "", false
	}
	return strings.Clone(unquote(v.raw)), true // not a part of the whole response
}

// unquote reads a string as encoding/json does, which replaces what is no UTF-8, and half of a surrogate pair.
func unquote(quoted string) string {
	if utf8.ValidString(quoted) && !strings.Contains(quoted, `\`) {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(quoted), &text) // the whole response is valid
	return text
}

// Text returns a string or the digits of a number, and "" for anything else.
func (v Value) Text() string {
	if v.isNumber() {
		return strings.Clone(v.raw)
	}
	text, _ := v.AsString()
	return text
}

const maxID = 64 // characters of an id, with as many zeros before it as anybody writes

// ID reads an id: a JSON integer or a string of digits, 1 to 2^63-1. The interface shows integers; strings, and an
// integer that is written as 4711.0, are not documented: our reading.
func (v Value) ID() (int64, bool) {
	text := v.Text()
	if whole, fraction, ok := strings.Cut(text, "."); ok && v.isNumber() && strings.Trim(fraction, "0") == "" {
		text = whole
	}
	return ParseID(text)
}

// ParseID reads digits as an id.
func ParseID(digits string) (int64, bool) {
	id, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || len(digits) > maxID { // with an error, ParseUint returns a number as well
		return 0, false
	}
	return int64(id), id > 0
}

// Bool reads a boolean; "true" and 1 are true as well.
func (v Value) Bool() bool {
	return v.raw == "true" || strings.EqualFold(v.Text(), "true") || v.Text() == "1"
}

// isFalse reports whether a value says no: false, "false" or 0.
func (v Value) isFalse() bool {
	return v.raw == "false" || strings.EqualFold(v.Text(), "false") || v.Text() == "0"
}

// isEmpty reports whether a value holds nothing: null, false, 0, "", an empty object or list.
func (v Value) isEmpty() bool {
	return v.IsNull() || v.isFalse() || v.raw == `""` || (v.IsObject() || v.IsList()) && len(v.Object())+len(v.List()) == 0
}

// Count reads a counter: a number or a string of digits, from 0 to what an int32 can hold. Anything else is 0.
func (v Value) Count() int32 {
	n, err := strconv.ParseInt(v.Text(), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}
