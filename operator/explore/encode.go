package explore

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Encoding writes values in one way only, so that they can be hashed.
type Encoding struct {
	// Now is the time from which others are measured: two states that differ in the date alone are the same.
	Now time.Time
	// Skip has the names of fields that have no effect.
	Skip []string
	// Renamed has the names of fields with made up names, such as UIDs. Which values are equal has an effect, and what
	// they are has none.
	Renamed []string

	Bytes []byte
	names []string
}

// Number writes a number.
func (e *Encoding) Number(n int64) {
	e.Bytes = binary.LittleEndian.AppendUint64(e.Bytes, uint64(n)) //nolint:gosec // the bits are what counts
}

// Text writes a text.
func (e *Encoding) Text(s string) {
	e.Number(int64(len(s)))
	e.Bytes = append(e.Bytes, s...)
}

// Bool writes a truth value.
func (e *Encoding) Bool(b bool) {
	if b {
		e.Bytes = append(e.Bytes, 1)
	} else {
		e.Bytes = append(e.Bytes, 0)
	}
}

// Time writes how long ago something was. What never was is older than everything.
func (e *Encoding) Time(t time.Time) {
	if t.IsZero() {
		e.Number(1<<63 - 1)
		return
	}
	e.Number(int64(e.Now.Sub(t)))
}

// Any writes a value with everything in it, unexported fields as well.
func (e *Encoding) Any(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		e.Bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.Number(v.Int())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		e.Number(int64(v.Uint())) //nolint:gosec // the bits are what counts
	case reflect.String:
		e.Text(v.String())
	case reflect.Pointer, reflect.Interface:
		e.Bool(v.IsNil())
		if !v.IsNil() {
			e.Any(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		e.Number(int64(v.Len()))
		for i := range v.Len() {
			e.Any(v.Index(i))
		}
	case reflect.Map:
		e.Number(int64(v.Len()))
		keys := v.MapKeys()
		slices.SortFunc(keys, compareKeys)
		for _, key := range keys {
			e.Any(key)
			e.Any(v.MapIndex(key))
		}
	case reflect.Struct:
		e.fields(v)
	default:
		panic("there is no encoding for a " + v.Type().String())
	}
}

func (e *Encoding) fields(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		e.Time(momentOf(v))
		return
	}
	for i, name := range namesOf(v.Type()) {
		switch {
		case slices.Contains(e.Skip, name):
		case slices.Contains(e.Renamed, name) && v.Field(i).Kind() == reflect.String:
			e.Number(e.index(v.Field(i).String()))
		default:
			e.Any(v.Field(i))
		}
	}
}

var fieldNames sync.Map // reflect.Type -> []string

// namesOf returns the names of the fields of a type. The package reflect makes each name anew.
func namesOf(of reflect.Type) []string {
	if known, ok := fieldNames.Load(of); ok {
		return known.([]string) //nolint:forcetypeassert // there is nothing else in it
	}
	var names []string
	for field := range of.Fields() {
		names = append(names, field.Name)
	}
	fieldNames.Store(of, names)
	return names
}

// index numbers names in the order in which they appear. No name is -1.
func (e *Encoding) index(name string) int64 {
	if name == "" {
		return -1
	}
	i := slices.Index(e.names, name)
	if i < 0 {
		i, e.names = len(e.names), append(e.names, name)
	}
	return int64(i)
}

func compareKeys(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.String:
		return strings.Compare(a.String(), b.String())
	default:
		return int(a.Int() - b.Int())
	}
}

// momentOf reads a time out of an unexported field, where it cannot be asked. Times here have no monotonic part.
func momentOf(v reflect.Value) time.Time {
	if v.CanInterface() {
		return v.Interface().(time.Time) //nolint:forcetypeassert // the caller has looked
	}
	nanoseconds, seconds := v.Field(0).Uint(), v.Field(1).Int()
	if nanoseconds == 0 && seconds == 0 {
		return time.Time{}
	}
	const year1 = -62135596800 // in seconds since 1970
	return time.Unix(year1+seconds, 0)
}
