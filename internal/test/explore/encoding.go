package explore

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Encoding writes values in one way only, so that they can be hashed.
type Encoding struct {
	*Schema
	// Now is the time from which others are measured: two states that differ in the date alone are the same.
	Now time.Time

	Bytes []byte
	// Names are the texts that were Renamed, each once, in the order of their first appearance.
	Names []string
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

// Name writes a text that somebody has made up: which one it is among those that were written. No name is -1.
func (e *Encoding) Name(name string) {
	if name == "" {
		e.Number(-1)
		return
	}
	i := slices.Index(e.Names, name)
	if i < 0 {
		i, e.Names = len(e.Names), append(e.Names, name)
	}
	e.Number(int64(i))
}

// Any writes what a pointer points to.
func (e *Encoding) Any(pointer any) { e.value(reflect.ValueOf(pointer)) }

func (e *Encoding) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		e.Bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.Number(v.Int())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		e.Number(int64(v.Uint())) //nolint:gosec // the bits are what counts
	case reflect.String:
		e.Text(v.String())
	case reflect.Pointer:
		e.Bool(v.IsNil())
		if !v.IsNil() {
			e.value(v.Elem())
		}
	case reflect.Interface:
		e.Bool(v.IsNil())
		if !v.IsNil() {
			e.Text(v.Elem().Type().String())
			e.value(addressable(v.Elem()))
		}
	case reflect.Slice, reflect.Array:
		e.list(v)
	case reflect.Map:
		e.table(v)
	case reflect.Struct:
		e.structure(v)
	default:
		panic("there is no encoding for a " + v.Type().String())
	}
}

func (e *Encoding) list(v reflect.Value) {
	e.Number(int64(v.Len()))
	if v.Type().Elem().Kind() == reflect.Uint8 {
		e.Bytes = append(e.Bytes, v.Bytes()...)
		return
	}
	for i := range v.Len() {
		e.value(v.Index(i))
	}
}

// table writes a map in the order of its keys. None is another one than an empty one.
func (e *Encoding) table(v reflect.Value) {
	e.Bool(v.IsNil())
	e.Number(int64(v.Len()))
	keys := v.MapKeys()
	if len(keys) == 1 { // most maps: there is nothing to sort
		e.value(addressable(keys[0]))
		e.value(addressable(v.MapIndex(keys[0])))
		return
	}
	type entry struct {
		encoded string
		key     reflect.Value
	}
	var entries []entry
	for _, key := range keys {
		of := Encoding{Schema: e.Schema, Now: e.Now}
		of.value(addressable(key))
		entries = append(entries, entry{string(of.Bytes), key})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.encoded, b.encoded) })
	for _, one := range entries {
		e.Bytes = append(e.Bytes, one.encoded...)
		e.value(addressable(v.MapIndex(one.key)))
	}
}

func (e *Encoding) structure(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		e.Time(v.Interface().(time.Time)) //nolint:forcetypeassert // it was looked at
		return
	}
	if method := accessor(v.Type()); method != "" {
		e.Bool(v.IsZero())
		if v.IsZero() {
			return // a handle of nothing has no value
		}
		e.value(addressable(v.MethodByName(method).Call(nil)[0]))
		return
	}
	for _, field := range e.plan(v.Type()) {
		field.write(e, open(v.Field(field.index)))
	}
}

// accessor is the method that gives what is in a value that hides it, such as a Secret; "" if it hides nothing.
func accessor(of reflect.Type) string {
	name, _, generic := strings.Cut(of.Name(), "[")
	switch {
	case generic && name == "Sensitive":
		return "Reveal"
	case generic && name == "Handle" && of.PkgPath() == "unique":
		return "Value"
	default:
		return ""
	}
}

// open is a field that may be read, though it is not exported.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() //nolint:gosec // it is only read
}

// addressable is a copy whose fields can be read.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
