package client

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if text, plain := asItStands(raw); plain {
		return string(text), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// asItStands gives the text of a quoted string, if it is written as it is: most are.
func asItStands(quoted json.RawMessage) ([]byte, bool) {
	text := quoted[1 : len(quoted)-1]
	for _, c := range text {
		if c == '"' || c == '\\' {
			return nil, false
		}
		if c >= utf8.RuneSelf {
			return text, utf8.Valid(text) && !bytes.ContainsAny(text, "\"\\")
		}
	}
	return text, true
}

// text gives a string member, or the digits of a number; "" for anything else.
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

// id gives a member as an id, 0 if it is none or if there are several.
func (o object) id(names ...string) int64 {
	for _, name := range names {
		if raw, err := o.unambiguous(name); err != nil || raw != nil {
			id, _ := parseID(raw)
			return id
		}
	}
	return 0
}

// boolean gives a boolean member; "true" and 1 are true as well.
func (o object) boolean(name string) bool {
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
	items, _ := asList(o.get(names...))
	objects := make([]object, 0, len(items))
	for _, item := range items {
		if inner, ok := asObject(item); ok {
			objects = append(objects, inner)
		}
	}
	return objects
}

// texts gives a member that is a list of strings; what is no string in it is left out.
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
