package sandbox

import (
	"encoding/json"
	"maps"

	"github.com/mandate-io/idv/internal/sandbox/state"
)

// members decodes the members of a JSON object one by one. It collects what is wrong with them in problems.
type members struct {
	sent     map[string]json.RawMessage
	rest     map[string]json.RawMessage
	problems state.FieldErrors
}

// newMembers returns false if raw is not an object.
func newMembers(raw []byte) (members, bool) {
	m := members{problems: state.FieldErrors{}}
	err := json.Unmarshal(raw, &m.sent)
	m.rest = maps.Clone(m.sent)
	return m, err == nil && m.sent != nil
}

// member decodes and removes one member. A null or absent member is the zero value.
func member[T any](m members, name, wanted string) T {
	var value T
	raw, ok := m.rest[name]
	delete(m.rest, name)
	if !ok {
		return value
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		m.problems.Add(name, "must be "+wanted)
	}
	return value
}

func (m members) text(name string) string { return member[string](m, name, "a string") }

func (m members) integer(name string) int64 { return member[int64](m, name, "an integer") }

// rejectUnknown reports the members that are left.
func (m members) rejectUnknown() {
	for name := range m.rest {
		m.problems.Add(name, "is not a known field")
	}
}
