package wire

import (
	"slices"
	"strings"
)

// Object is a JSON object with its members in their order, duplicates included. encoding/json would fold letter case
// and let the last of two equal names win, which is how a hostile response would change an id.
type Object []Member

// Member of an Object.
type Member struct {
	Name  string
	Value Value
}

// Named reports whether a member has one of the names.
func (m Member) Named(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return SameName(m.Name, name) })
}

// Get returns the member with one of the names: exact matches first, then by SameName. null is the same as absent.
func (o Object) Get(names ...string) Value {
	return o.Find(names, func(v Value) bool { return !v.IsNull() })
}

// Find is Get for a value that fits.
func (o Object) Find(names []string, fits func(Value) bool) Value {
	for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, SameName} {
		for _, name := range names {
			for _, m := range o {
				if equal(m.Name, name) && fits(m.Value) {
					return m.Value
				}
			}
		}
	}
	return Value{}
}

// Unambiguous is Get for members that identify something: two different values are none, and ok is false.
func (o Object) Unambiguous(name string) (found Value, ok bool) {
	for _, m := range o {
		if !SameName(m.Name, name) || m.Value.IsNull() {
			continue
		}
		if !found.IsNull() && found.Raw() != m.Value.Raw() {
			return Value{}, false
		}
		found = m.Value
	}
	return found, true
}

// Text returns a member as Value.Text does.
func (o Object) Text(names ...string) string { return o.Get(names...).Text() }

// String returns a string member, and "" for anything else.
func (o Object) String(names ...string) string {
	text, _ := o.Get(names...).AsString()
	return text
}

// Identifier is String of a member that tells things apart, and "" for several values.
func (o Object) Identifier(name string) string {
	value, _ := o.Unambiguous(name)
	text, _ := value.AsString()
	return text
}

// ID returns a member as an id, 0 if it is none or if there are several.
func (o Object) ID(names ...string) int64 {
	for _, name := range names {
		if value, ok := o.Unambiguous(name); !ok || !value.IsNull() {
			id, _ := value.ID()
			return id
		}
	}
	return 0
}

// HasID reports whether an object has an id, or members that disagree about it.
func (o Object) HasID() bool {
	value, ok := o.Unambiguous("id")
	_, isID := value.ID()
	return isID || !ok
}

// MaxWrappers is how many objects may wrap the wanted one.
const MaxWrappers = 3

// Unwrap follows objects that wrap the wanted one under one of the usual names, and lists of one. It stops where two
// objects could be the wanted one, or where members disagree about the id: the caller must not find another id.
func (v Value) Unwrap(names ...string) Object {
	o := v.Object()
	for range MaxWrappers {
		inner := v.wrapped(o, names)
		if o.HasID() || len(inner) != 1 {
			break
		}
		v, o = inner[0], inner[0].Object()
	}
	return o
}

// Wrapped returns the objects under these names and under those that often wrap a response, or a list's only item.
func (v Value) Wrapped(names ...string) []Value { return v.wrapped(v.Object(), names) }

func (v Value) wrapped(o Object, names []string) []Value {
	if items := v.List(); len(items) == 1 {
		return items
	}
	var found []Value
	for _, m := range o {
		wraps := m.Named(names) || m.Named([]string{"data", "result", "item"})
		if wraps && (m.Value.IsObject() || len(m.Value.List()) == 1) {
			found = append(found, m.Value)
		}
	}
	return found
}

// Walk shows each member of an object, and each item of a list as a member without a name. It goes into those for which
// into returns true, so many levels deep.
func (v Value) Walk(levels int, into func(Member) bool) {
	if levels == 0 {
		return
	}
	members := v.Object()
	for _, item := range v.List() {
		members = append(members, Member{Value: item})
	}
	for _, m := range members {
		if into(m) {
			m.Value.Walk(levels-1, into)
		}
	}
}

// Layers returns a value and what it wraps, the outermost first; of lists of one, only if wanted.
func (v Value) Layers(inLists bool, names ...string) []Value {
	layers, level := []Value{v}, []Value{v}
	for range MaxWrappers {
		var inner []Value
		for _, layer := range level {
			if inLists || layer.IsObject() {
				inner = append(inner, layer.Wrapped(names...)...)
			}
		}
		layers, level = append(layers, inner...), inner
	}
	return layers
}

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// FoldName removes what the interface leaves open: letter case, and the characters that join words ('_', '-', space).
// Not documented: our reading. A '.' joins no words: "in.review" is a state that the interface does not name.
func FoldName(name string) string {
	folded := strings.ToLower(joints.Replace(name))
	if folded != "" && name[0] == '_' { // "_id" is another member than "id"
		folded = "_" + folded
	}
	return folded
}

// SameName reports whether two names have the same folded form. A long name is none that is asked for.
func SameName(a, b string) bool {
	return len(a) <= MaxName && (a == b || FoldName(a) == FoldName(b))
}
