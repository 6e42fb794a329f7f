package explore

import (
	"reflect"
	"time"
)

// Age gives a copy in which every time is older, but for those in fields that the Schema leaves out. What has no times
// in it is shared.
func Age[T any](s *Schema, of *T, by time.Duration) *T {
	if of == nil {
		return nil
	}
	c := *of
	s.age(reflect.ValueOf(&c).Elem(), by)
	return &c
}

func (s *Schema) age(v reflect.Value, by time.Duration) {
	if !s.hasTimes(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		inner := addressable(v.Elem())
		s.age(inner, by)
		if v.Kind() == reflect.Pointer {
			inner = inner.Addr()
		}
		v.Set(inner)
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v.Set(c)
		s.ageItems(v, by)
	case reflect.Array:
		s.ageItems(v, by)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, key := range v.MapKeys() {
			item := addressable(v.MapIndex(key))
			s.age(item, by)
			c.SetMapIndex(key, item)
		}
		v.Set(c)
	case reflect.Struct:
		s.ageStructure(v, by)
	}
}

func (s *Schema) ageItems(v reflect.Value, by time.Duration) {
	for i := range v.Len() {
		s.age(v.Index(i), by)
	}
}

func (s *Schema) ageStructure(v reflect.Value, by time.Duration) {
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		if !t.IsZero() {
			v.Set(reflect.ValueOf(t.Add(-by)))
		}
		return
	}
	for _, field := range s.plan(v.Type()) {
		s.age(open(v.Field(field.index)), by)
	}
}

// hasTimes reports whether there may be times in a type.
func (s *Schema) hasTimes(of reflect.Type) bool {
	if known, ok := s.times.Load(of); ok {
		return known.(bool) //nolint:forcetypeassert // there is nothing else in it
	}
	has := s.findsTimes(of, map[reflect.Type]bool{})
	s.times.Store(of, has)
	return has
}

func (s *Schema) findsTimes(of reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[of] {
		return false
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return s.findsTimes(of.Elem(), seen)
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return true
		}
		if accessor(of) != "" {
			return false
		}
		for _, field := range s.plan(of) {
			if s.findsTimes(of.Field(field.index).Type, seen) {
				return true
			}
		}
	}
	return false
}
