// Package jsonvalue reads JSON of any form, such as a response whose format is not documented.
package jsonvalue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-openapi/jsonpointer"
)

// Decode reads one value, with numbers as json.Number. A byte order mark may be before it.
func Decode(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// Encode writes a value with sorted keys and without spacing. Numbers keep their digits. It returns "" for what has no
// JSON, which Decode does not return.
func Encode(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSpace(text.String())
}

// Leaves returns the strings and numbers in a value, without empty ones.
func Leaves(value any) []string {
	var leaves []string
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			leaves = append(leaves, Leaves(field)...)
		}
	case []any:
		for _, item := range value {
			leaves = append(leaves, Leaves(item)...)
		}
	case string:
		leaves = append(leaves, value)
	case json.Number:
		leaves = append(leaves, value.String())
	}
	return slices.DeleteFunc(leaves, func(leaf string) bool { return leaf == "" })
}

// At returns the value at a JSON pointer (RFC 6901).
func At(value any, pointer string) (any, bool) {
	at, invalid := jsonpointer.New(pointer)
	found, _, err := at.Get(value)
	return found, invalid == nil && err == nil
}

// Pointers returns the pointers to the values that are no object, list or null, those near the root first. A list shows
// its first item only. What is below a name that is not shown is left out.
func Pointers(value any, isShown func(name string) bool) []string {
	var pointers []string
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				if isShown(name) {
					walk(at+"/"+name, member)
				}
			}
		case []any:
			if len(value) > 0 {
				walk(at+"/0", value[0])
			}
		case nil:
		default:
			pointers = append(pointers, at)
		}
	}
	walk("", value)
	slices.SortFunc(pointers, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return pointers
}
