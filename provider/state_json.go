package provider

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client/wire"
)

// stateFilter makes of a response about webhooks what Terraform may store. It keeps a field that it knows by name,
// position and type, and leaves out all others: the format of the responses is not documented, so a field may hold a
// secret, or personal data of what was delivered.
type stateFilter struct {
	// rules say which values are stored, by the folded name of their field.
	rules map[string]valueRule
	// keep holds the folded names of the fields that the user wants to keep.
	keep map[string]bool
	// sent is what a create has sent, as far as it is secret.
	sent sentPayload
	// leftOut are the names of the fields that were left out and that the request did not contain, with the depth that
	// they are at.
	leftOut map[string]int
}

// valueRule reports whether a value is of the type that its field has. It returns the value to store.
type valueRule func(value any) (any, bool)

// containers are the folded names of objects and lists whose fields are those of the webhook too.
var containers = folded("data", "result", "results", "items", "webhook", "webhooks", "subscription", "subscriptions",
	"status", "state", "application", "mandate")

// maxContainerDepth is above that of every plausible response.
const maxContainerDepth = 5

// apply returns what is stored of a response; null if that is nothing.
func (f *stateFilter) apply(raw json.RawMessage) types.String {
	value, err := decodeJSON(raw)
	if err != nil {
		return types.StringNull()
	}
	stored, ok := f.container(value, 0)
	if !ok {
		return types.StringNull()
	}
	return encodeJSON(stored)
}

// container returns an object or a list with what is stored of it, and false if that is nothing.
func (f *stateFilter) container(value any, depth int) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		stored := map[string]any{}
		for name, field := range value {
			if field, ok := f.field(name, field, depth); ok {
				stored[name] = field
			}
		}
		return stored, len(stored) > 0
	case []any:
		stored := []any{}
		for _, item := range value {
			if item, ok := f.container(item, depth+1); ok {
				stored = append(stored, item)
			}
		}
		return stored, len(stored) > 0
	default:
		f.leaveOut("", value, depth)
		return nil, false
	}
}

func (f *stateFilter) field(name string, value any, depth int) (any, bool) {
	key := wire.FoldName(name)
	switch value.(type) {
	case map[string]any, []any:
		if containers[key] && !f.keep[key] && depth < maxContainerDepth {
			return f.container(value, depth+1)
		}
	}
	stored, ok := value, f.keep[key]
	if rule := f.rules[key]; !ok && rule != nil {
		stored, ok = rule(value)
	}
	if !ok || f.sent.repeats(name, value) {
		f.leaveOut(name, value, depth)
		return nil, false
	}
	return stored, true
}

// leaveOut remembers the name of a field, unless the user has its value.
func (f *stateFilter) leaveOut(name string, value any, depth int) {
	if isEmpty(value) || f.sent.repeats(name, value) || reflect.DeepEqual(value, f.sent.stored[name]) {
		return
	}
	if f.sent.repeats("", name) {
		name = ""
	}
	name = printableName(name)
	if known, ok := f.leftOut[name]; !ok || depth < known {
		f.leftOut[name] = depth
	}
}

// leftOutNames returns the names, those of the webhook itself first.
func (f *stateFilter) leftOutNames() []string {
	return slices.SortedFunc(maps.Keys(f.leftOut), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.leftOut[a], f.leftOut[b]), cmp.Compare(a, b))
	})
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return false
	}
}

// add adds a rule for fields of the given names.
func (f *stateFilter) add(rule valueRule, names ...string) {
	for name := range folded(names...) {
		f.rules[name] = rule
	}
}

// folded is the set of the folded names.
func folded(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[wire.FoldName(name)] = true
	}
	return set
}
