package client

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseID reads an id: a JSON integer or a string of digits, 1 to 2^63-1. The interface shows integers; strings are not
// documented: our reading.
func parseID(raw json.RawMessage) (int64, bool) {
	if len(raw) > maxID {
		return 0, false
	}
	if text, ok := parseString(raw); ok {
		return parseDigits(text)
	}
	return parseDigits(string(raw))
}

// maxID is the length of an id with quotes, and with as many zeros before it as anybody writes.
const maxID = 64

func parseDigits(text string) (int64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 { // with an error, ParseInt returns a number as well
		return 0, false
	}
	return id, true
}

// parseString reads valid JSON as a string; false if it is something else.
func parseString(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return string(unquote(raw)), true
}

// unquote returns the text of a JSON string: the part between its quotes, if nothing in it is escaped.
func unquote(quoted json.RawMessage) []byte {
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	var unescaped string
	_ = json.Unmarshal(quoted, &unescaped) // a string in valid JSON is always one
	return []byte(unescaped)
}

// text returns a string member, or the digits of a number; "" for anything else.
func (o object) text(names ...string) string { return parseText(o.get(names...)) }

func parseText(raw json.RawMessage) string {
	if s, ok := parseString(raw); ok {
		return s
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// id returns a member as an id, 0 if it is none or if there are several.
func (o object) id(names ...string) int64 {
	for _, name := range names {
		if raw, err := o.unambiguous(name); err != nil || raw != nil {
			id, _ := parseID(raw)
			return id
		}
	}
	return 0
}

// boolean returns a boolean member; "true" and 1 are true as well.
func (o object) boolean(name string) bool {
	switch strings.ToLower(strings.Trim(string(o.get(name)), `"`)) {
	case "true", "1":
		return true
	}
	return false
}

// count returns a counter: an integer that is not negative and fits an int32, as a number or a string of digits.
func (o object) count(name string) int32 {
	n, err := strconv.ParseInt(strings.Trim(string(o.get(name)), `"`), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// objects returns a member that is a list of objects, without items that are no objects. There is one at a time in
// memory.
func (o object) objects(names ...string) iter.Seq[object] {
	items, _ := asList(o.get(names...))
	return func(yield func(object) bool) {
		for _, item := range items {
			if inner, ok := asObject(item); ok && !yield(inner) {
				return
			}
		}
	}
}

// texts returns a member that is a list of strings, without items that are no strings.
func (o object) texts(names ...string) []string {
	items, _ := asList(o.get(names...))
	var found []string
	for _, item := range items {
		if text, ok := parseString(item); ok {
			found = append(found, text)
		}
	}
	return found
}
