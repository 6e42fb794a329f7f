package explore

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Schema says how the states of an explorer are written. Everything in them counts, unexported fields as well, but for
// the fields that it lists with the reason. So a new field cannot be forgotten.
type Schema struct {
	fields map[string]Field
	plans  sync.Map // reflect.Type -> []plannedField
	times  sync.Map // reflect.Type -> bool: there may be times in it
}

// Field is a field that is not written as it is.
type Field struct {
	Why string
	// Write writes it in another way; nil: it is left out.
	Write func(e *Encoding, v reflect.Value)
}

// NewSchema makes a Schema of the fields that are special, by "package.Type.field".
func NewSchema(fields map[string]Field) *Schema { return &Schema{fields: fields} }

// LeftOut is a field that has no effect.
func LeftOut(why string) Field { return Field{Why: why} }

// Renamed is a text that somebody has made up, such as a UID, or an array of them. Which of them are equal has an
// effect, and what they are has none.
func Renamed(why string) Field { return Field{why, writeNames} }

func writeNames(e *Encoding, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		e.Name(v.String())
	case reflect.Array:
		for i := range v.Len() {
			writeNames(e, v.Index(i))
		}
	default:
		panic("only texts are renamed, not a " + v.Kind().String())
	}
}

// plannedField is a field that is written.
type plannedField struct {
	index int
	write func(*Encoding, reflect.Value)
}

func (s *Schema) plan(of reflect.Type) []plannedField {
	if known, ok := s.plans.Load(of); ok {
		return known.([]plannedField) //nolint:forcetypeassert // there is nothing else in it
	}
	var plan []plannedField
	for field := range of.Fields() {
		special, isSpecial := s.fields[nameOf(of, &field)]
		switch {
		case isSpecial && special.Write == nil:
		case isSpecial:
			plan = append(plan, plannedField{field.Index[0], special.Write})
		default:
			plan = append(plan, plannedField{field.Index[0], (*Encoding).value})
		}
	}
	s.plans.Store(of, plan)
	return plan
}

func nameOf(of reflect.Type, field *reflect.StructField) string {
	name, _, _ := strings.Cut(of.String(), "[") // of a generic type
	return name + "." + field.Name
}

// Check fails the test for a field below the roots that cannot be written, and for one that is listed and does not
// exist. What is behind an interface has to be a root, too.
func (s *Schema) Check(t *testing.T, roots ...reflect.Type) {
	t.Helper()
	seen, used := map[reflect.Type]bool{}, map[string]bool{}
	var walk func(of reflect.Type, at string)
	walk = func(of reflect.Type, at string) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch {
		case of == reflect.TypeFor[time.Time]():
		case accessor(of) != "":
			method, _ := of.MethodByName(accessor(of))
			walk(method.Type.Out(0), at)
		case of.Kind() == reflect.Struct:
			for field := range of.Fields() {
				name := nameOf(of, &field)
				if _, special := s.fields[name]; special {
					used[name] = true
					continue
				}
				walk(field.Type, name)
			}
		case slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array}, of.Kind()):
			walk(of.Elem(), at)
		case of.Kind() == reflect.Map:
			walk(of.Key(), at)
			walk(of.Elem(), at)
		case slices.Contains([]reflect.Kind{reflect.Func, reflect.Chan, reflect.UnsafePointer}, of.Kind()):
			t.Errorf("%s is a %s, which cannot be part of a hash: list it, with the reason", at, of)
		}
	}
	for _, root := range roots {
		walk(root, root.String())
	}
	for name, field := range s.fields {
		if !used[name] {
			t.Errorf("there is no field %s any more", name)
		}
		if field.Why == "" {
			t.Errorf("%s: say why it is special", name)
		}
	}
}
