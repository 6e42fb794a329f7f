package readings

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mandate-io/idv/internal/client"
)

// A value is decoded JSON, with numbers as they are written. The zero value is an absent member.
type value struct{ decoded any }

// missingMember is a member that an object does not have, or JSON that cannot be read.
type missingMember struct{}

// parse decodes JSON. What is not JSON is a missingMember.
func parse(body []byte) value {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return value{missingMember{}}
	}
	return value{decoded}
}

func (v value) object() map[string]any {
	o, _ := v.decoded.(map[string]any)
	return o
}

func (v value) list() ([]any, bool) {
	list, ok := v.decoded.([]any)
	return list, ok
}

// get returns a member by its name, whatever its letter case and the characters that join its words.
func (v value) get(names ...string) value {
	for _, name := range names {
		for have, member := range v.object() {
			if client.FoldName(have) == client.FoldName(name) {
				return value{member}
			}
		}
	}
	return value{missingMember{}}
}

// isAbsent reports whether a value is absent or null.
func (v value) isAbsent() bool {
	_, isAbsent := v.decoded.(missingMember)
	return isAbsent || v.decoded == nil
}

func (v value) number() (float64, bool) {
	n, ok := v.decoded.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func (v value) isFloat() bool {
	n, ok := v.decoded.(json.Number)
	return ok && strings.ContainsAny(string(n), ".eE")
}

func text(v value) (string, bool) {
	s, ok := v.decoded.(string)
	return s, ok
}

// each calls look for every member of every object in a value.
func (v value) each(look func(name string, member value)) {
	if list, ok := v.list(); ok {
		for _, item := range list {
			value{item}.each(look)
		}
	}
	for name, member := range v.object() {
		look(name, value{member})
		value{member}.each(look)
	}
}

// unwrap returns what is in one of the names if the value is an object with that one member of weight.
func (v value) unwrap(names ...string) (inner value, name string) {
	for _, name := range names {
		if inner := v.get(name); inner.object() != nil && v.get("id").isAbsent() {
			return inner, name
		}
	}
	return v, ""
}
