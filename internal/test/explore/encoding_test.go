package explore

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

// Sensitive hides a value, as internal/client does.
type Sensitive[T any] struct{ reveal func() T }

// Reveal gives the value.
func (s Sensitive[T]) Reveal() T { return s.reveal() }

func hide(s string) Sensitive[string] { return Sensitive[string]{func() string { return s }} }

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

type inner struct {
	at    time.Time
	names []string
}

type whole struct {
	secret Sensitive[string]
	inner  *inner
	byName map[string]inner
	any    any
	digest [4]byte
	made   string
	both   [2]string
	left   func()
}

var schema = NewSchema(map[string]Field{
	"explore.whole.made": Renamed("it is made up"), "explore.whole.both": Renamed("they are made up"),
	"explore.whole.left": LeftOut("it does nothing"),
})

func encoded(w *whole) []byte {
	e := &Encoding{Schema: schema, Now: now}
	e.Any(w)
	return e.Bytes
}

func TestEncodingTellsEverythingApart(t *testing.T) {
	sample := func() *whole {
		return &whole{
			secret: hide("a"), inner: &inner{now.Add(-time.Minute), []string{"a", "b"}},
			byName: map[string]inner{"a": {}, "b": {names: []string{"c"}}}, any: int64(1), made: "x",
			both: [2]string{"x", "y"},
		}
	}
	for name, change := range map[string]func(*whole){
		"a secret":         func(w *whole) { w.secret = hide("b") },
		"a nil pointer":    func(w *whole) { w.inner = nil },
		"a time":           func(w *whole) { w.inner.at = now },
		"no time":          func(w *whole) { w.inner.at = time.Time{} },
		"a text in a list": func(w *whole) { w.inner.names[1] = "c" },
		"a longer list":    func(w *whole) { w.inner.names = append(w.inner.names, "") },
		"moved texts":      func(w *whole) { w.inner.names = []string{"ab", ""} },
		"a key":            func(w *whole) { w.byName = map[string]inner{"a": {}, "c": {names: []string{"c"}}} },
		"a value":          func(w *whole) { w.byName["a"] = inner{at: now} },
		"no map":           func(w *whole) { w.byName = nil },
		"an empty map":     func(w *whole) { clear(w.byName) },
		"another type":     func(w *whole) { w.any = int32(1) },
		"a byte":           func(w *whole) { w.digest[3] = 1 },
		"no name":          func(w *whole) { w.made = "" },
		"another name":     func(w *whole) { w.both[0] = "y" },
	} {
		w := sample()
		change(w)
		if bytes.Equal(encoded(w), encoded(sample())) {
			t.Errorf("%s makes no difference", name)
		}
	}
	same := sample()
	same.made, same.both = "a", [2]string{"a", "b"}
	same.left = func() {}
	if !bytes.Equal(encoded(same), encoded(sample())) {
		t.Error("what makes no difference makes one")
	}
	schema.Check(t, reflect.TypeFor[whole]())
}

func TestAge(t *testing.T) {
	before := &whole{
		inner: &inner{at: now}, byName: map[string]inner{"a": {at: now}, "b": {}}, any: inner{at: now},
	}
	after := Age(schema, before, time.Hour)
	for name, at := range map[string]time.Time{
		"behind a pointer": after.inner.at, "in a map": after.byName["a"].at, "in an interface": after.any.(inner).at,
	} {
		if !at.Equal(now.Add(-time.Hour)) {
			t.Errorf("%s: %s", name, at)
		}
	}
	if !after.byName["b"].at.IsZero() {
		t.Error("what never was has become older")
	}
	if !before.inner.at.Equal(now) || !before.byName["a"].at.Equal(now) {
		t.Error("the original has changed")
	}
}
