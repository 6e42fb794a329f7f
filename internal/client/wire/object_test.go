package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// parse reads JSON that is valid.
func parse(t *testing.T, text string) Value {
	t.Helper()
	value, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return value
}

func TestIDs(t *testing.T) {
	for text, want := range map[string]int64{
		`1`: 1, `"1"`: 1, `"007"`: 7, `9007199254740993`: 9007199254740993, `"9223372036854775807"`: 9223372036854775807,
		`4711.0`: 4711, `9007199254740993.00`: 9007199254740993,
		`0`: 0, `-1`: 0, `"-1"`: 0, `"+1"`: 0, `1.5`: 0, `-1.0`: 0, `0.0`: 0, `"1.0"`: 0, `1e3`: 0, `1.0e3`: 0, `"1e3"`: 0,
		`" 1"`: 0, `""`: 0, `"0x1"`: 0, `"１"`: 0, `null`: 0, `true`: 0,
		`[1]`: 0, `{"id":1}`: 0, `9223372036854775808`: 0, `"99999999999999999999"`: 0,
		`"` + strings.Repeat("0", maxID) + `1"`: 0,
	} {
		if id, ok := parse(t, text).ID(); id != want || ok != (want != 0) {
			t.Errorf("%s: %d, %v", text, id, ok)
		}
	}
	if id, ok := (Value{}).ID(); id != 0 || ok {
		t.Errorf("an absent value: %d, %v", id, ok)
	}
}

func TestScalars(t *testing.T) {
	for text, want := range map[string]struct {
		isTrue, isFalse, isEmpty bool
		count                    int32
		text                     string
	}{
		`true`:         {isTrue: true},
		`"True"`:       {isTrue: true, text: "True"},
		`1`:            {isTrue: true, count: 1, text: "1"},
		`"1"`:          {isTrue: true, count: 1, text: "1"},
		`false`:        {isFalse: true, isEmpty: true},
		`"FALSE"`:      {isFalse: true, isEmpty: true, text: "FALSE"},
		`0`:            {isFalse: true, isEmpty: true, text: "0"},
		`null`:         {isEmpty: true},
		`""`:           {isEmpty: true},
		`" "`:          {text: " "},
		`[]`:           {isEmpty: true},
		`[null]`:       {},
		`{}`:           {isEmpty: true},
		`{"a":null}`:   {},
		`-1`:           {text: "-1"},
		`1.5`:          {text: "1.5"},
		`2147483647`:   {count: 2147483647, text: "2147483647"},
		`2147483648`:   {text: "2147483648"},
		`"yes"`:        {text: "yes"},
		`"a\u00e9\/"`:  {text: "aé/"},
		`"\ud800\u41"`: {},
	} {
		value, err := Parse([]byte(text))
		if err != nil && text != `"\ud800\u41"` {
			t.Fatalf("%s: %v", text, err)
		}
		if value.Bool() != want.isTrue || value.isFalse() != want.isFalse || value.Count() != want.count ||
			value.Text() != want.text || err == nil && value.isEmpty() != want.isEmpty {
			t.Errorf("%s: true %v, false %v, empty %v, count %d, text %q", text, value.Bool(), value.isFalse(), value.isEmpty(),
				value.Count(), value.Text())
		}
	}
}

// TestStrictMembers: what decides which application this is has one value or none.
func TestStrictMembers(t *testing.T) {
	for text, want := range map[string]int64{
		`{"id":1}`:                                    1,
		`{"ID":1}`:                                    1,
		`{"i_d":1}`:                                   1,
		`{"i.d":1}`:                                   0,
		`{"\u0069d":1}`:                               1,
		`{"id":1,"id":1}`:                             1,
		`{"id":null,"Id":1}`:                          1,
		`{"id":1,"id":null}`:                          1,
		`{"id":1,"id":2}`:                             0,
		`{"id":1,"ID":2}`:                             0,
		`{"id":1,"\u0049D":2}`:                        0,
		`{"id":1,"id":"1"}`:                           0, // the same to us, but two values: the sender cannot be trusted
		`{"id":1,"id":1.0}`:                           0,
		`{"id":[1]}`:                                  0,
		`{"id":1,"ID":2,"data":{"id":3}}`:             0, // members that do not agree must not lead to a third id
		`{"id":"r-7","ID":1,"data":{"id":1}}`:         0,
		`{"data":{"id":1,"id":2,"data":{"id":3}}}`:    0,
		`{"identifier":1}`:                            0,
		`{"data":{"id":1}}`:                           1,
		`{"Data":{"id":1}}`:                           1,
		`{"data":{"data":{"id":1}}}`:                  1,
		`{"id":7,"data":{"id":1}}`:                    7,
		`{"id":"r-7","data":{"id":1}}`:                1,
		`{"data":{"id":1},"result":{"id":2}}`:         0,
		`{"data":{"id":1},"data":{"id":2}}`:           0,
		`{"other":{"id":1}}`:                          0,
		`{"data":{"data":{"data":{"data":{"id":1}}}}`: 0,
		`[{"id":1}]`:                                  1,
		`{"data":[{"id":1}]}`:                         1,
		`[{"id":1},{"id":2}]`:                         0,
		`{"data":[{"id":1},{"id":2}]}`:                0,
		`[[[[{"id":1}]]]]`:                            0,
		strings.Repeat(`{"data":`, 9000) + `{"id":1}` + strings.Repeat(`}`, 9000): 0,
	} {
		value, _ := Parse([]byte(text))
		if got := value.Unwrap().ID("id"); got != want {
			t.Errorf("%.60s: %d, want %d", text, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	o := parse(t, `{"first_name":null,"FirstName":"b","first-name":"c","a":"x","A":"y","n":7,`+
		`"l":["x",1,{"id":1},null]}`).Object()
	for name, want := range map[string]string{
		"first_name": "b", "FirstName": "b", "first-name": "c", "firstname": "b", "a": "x", "A": "y", "n": "", "z": "",
	} {
		if got := o.String(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := o.Identifier("a"); got != "" {
		t.Errorf("two values identify nothing, and %q is returned", got)
	}
	if got := o.ID("z", "n"); got != 7 {
		t.Errorf("id %d", got)
	}
	if objects := len(o.Get("l").Objects()); objects != 1 {
		t.Errorf("%d objects in a list of one and other things", objects)
	}
}

// FuzzParse: an object is what encoding/json takes for one, no more and no less, with the same members, lists and texts
// in it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{,}`, `{"a":1,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":1}}`, `{"a"}`, ` {"a":1} `, `{"a":1}x`, `{"a":01}`,
		`null`, `[]`, `4711`, `{"id":4711,"id":4712}`, "{\"id\":\xff\xfe}", "\ufeff{}",
		"{\"a\":\"\xff\"}",
		"{\"\xff\xfe\":\"\xff\\u0041\xff\"}",
		`{"a":"}\\"]","b":["[",{"]":"}"},[],"\\\\"] , "c" : [1 ,2]}`,
		`{"a\u00e9\ud800":"\u0041","":null}`,
		`{"a":"\ud800\u0041","b":"\ud83d\ude00","c":"\ude00"}`,
		`{"a\"}":"\"},\"id\":7","b":["\\\"]"],"c":{"d\"":"\""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := Parse(data)
		if limited, ok := err.(LimitError); ok { //nolint:errorlint // it must be one itself
			if limited == "" || checkSize(data) == nil {
				t.Errorf("%q", limited)
			}
			return
		}
		if (err == nil) != json.Valid(data) {
			t.Fatalf("%v, encoding/json: %v", err, json.Valid(data))
		}
		var members map[string]json.RawMessage
		isObject := json.Unmarshal(data, &members) == nil && members != nil
		if value.IsObject() != isObject {
			t.Fatalf("an object: %v, encoding/json: %v", value.IsObject(), isObject)
		}
		last := map[string]json.RawMessage{}
		for _, m := range value.Object() {
			last[m.Name] = json.RawMessage(m.Value.Raw())
		}
		if diff := cmp.Diff(members, last, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-encoding/json +ours):\n%s", diff)
		}
		for _, m := range value.Object() {
			sameAsEncodingJSON(t, m.Value)
		}
	})
}

func sameAsEncodingJSON(t *testing.T, value Value) {
	t.Helper()
	var want, got []json.RawMessage
	isList := json.Unmarshal([]byte(value.Raw()), &want) == nil && want != nil
	for _, item := range value.List() {
		got = append(got, json.RawMessage(item.Raw()))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || value.IsList() != isList {
		t.Errorf("list %s (-encoding/json +ours):\n%s", value.Raw(), diff)
	}
	var wantText *string
	isText := json.Unmarshal([]byte(value.Raw()), &wantText) == nil && wantText != nil
	if text, ok := value.AsString(); ok != isText || ok && text != *wantText {
		t.Errorf("text %s: %q, %v", value.Raw(), text, ok)
	}
	if value.IsNull() != (value.Raw() == "null") {
		t.Errorf("%s is null: %v", value.Raw(), value.IsNull())
	}
}
