// Package wire reads the JSON of the service as far as it can be understood. The interface shows few shapes, so names
// of members match in any letter case, numbers may be strings, and what is expected may be wrapped. What identifies
// something is never guessed.
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

// first is the character that tells of what type a value is, 0 for an absent one.
func (v Value) first() byte {
	if v.raw == "" {
		return 0
	}
	return v.raw[0]
}

// Raw is the value as it is written.
func (v Value) Raw() string { return v.raw }

// IsNull reports whether a value is absent or null.
func (v Value) IsNull() bool { return v.first() == 0 || v.first() == 'n' }

// IsObject reports whether a value is an object.
func (v Value) IsObject() bool { return v.first() == '{' }

// IsList reports whether a value is a list.
func (v Value) IsList() bool { return v.first() == '[' }

func (v Value) isNumber() bool { return v.first() == '-' || '0' <= v.first() && v.first() <= '9' }

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
func (v Value) Objects() func(yield func(Object) bool) {
	return func(yield func(Object) bool) {
		for _, item := range v.List() {
			if item.IsObject() && !yield(item.Object()) {
				return
			}
		}
	}
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
	if v.first() != '"' {
		return "", false
	}
	return strings.Clone(unquote(v.raw)), true // not a part of the whole response
}

// unquote reads a string as encoding/json does, which replaces each byte that is no UTF-8, and half of a surrogate
// pair.
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

// maxID is the length of an id with as many zeros before it as anybody writes.
const maxID = 64

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
	if len(digits) > maxID || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id <= 0 { // with an error, ParseInt returns a number as well
		return 0, false
	}
	return id, true
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
	if v.IsObject() || v.IsList() {
		return len(v.Object()) == 0 && len(v.List()) == 0
	}
	return v.IsNull() || v.isFalse() || v.raw == `""`
}

// Count reads a counter: an integer that is not negative and fits an int32, as a number or a string of digits. Anything
// else is 0.
func (v Value) Count() int32 {
	n, err := strconv.ParseInt(v.Text(), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}
