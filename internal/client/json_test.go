package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseID(t *testing.T) {
	for text, want := range map[string]int64{
		`1`: 1, `"1"`: 1, `"007"`: 7, `9007199254740993`: 9007199254740993, `"9223372036854775807"`: 9223372036854775807,
		`0`: 0, `-1`: 0, `"-1"`: 0, `"+1"`: 0, `1.0`: 0, `1e3`: 0, `"1e3"`: 0, `" 1"`: 0, `""`: 0, `"0x1"`: 0, `"１"`: 0,
		`null`: 0, `true`: 0,
		`[1]`: 0, `{"id":1}`: 0, `9223372036854775808`: 0, `"99999999999999999999"`: 0, ``: 0,
	} {
		id, ok := parseID(json.RawMessage(text))
		if id != want || ok != (want != 0) {
			t.Errorf("%s: %d, %v", text, id, ok)
		}
	}
}

// TestStrictMembers: what decides which application this is has one value or none.
func TestStrictMembers(t *testing.T) {
	for text, want := range map[string]int64{
		`{"id":1}`:                            1,
		`{"ID":1}`:                            1,
		`{"i_d":1}`:                           1,
		`{"i.d":1}`:                           0,
		`{"\u0069d":1}`:                       1,
		`{"id":1,"id":1}`:                     1,
		`{"id":null,"Id":1}`:                  1,
		`{"id":1,"id":null}`:                  1,
		`{"id":1,"id":2}`:                     0,
		`{"id":1,"ID":2}`:                     0,
		`{"id":1,"\u0049D":2}`:                0,
		`{"id":1,"id":"1"}`:                   0, // the same to us, but two values: the sender cannot be trusted
		`{"id":[1]}`:                          0,
		`{"id":1,"ID":2,"data":{"id":3}}`:     0, // members that do not agree must not lead to a third id
		`{"id":"r-7","ID":1,"data":{"id":1}}`: 0,
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
		strings.Repeat(`{"data":`, 9000) + `{"id":1}` + strings.Repeat(`}`, 9000): 0,
	} {
		o, _ := parseObject([]byte(text))
		if got := o.unwrap().id("id"); got != want {
			t.Errorf("%.60s: %d, want %d", text, got, want)
		}
	}
}

func TestFoldName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "_- ": "", "id": "id", "first_name": "firstname", "First-Name": "firstname", "first.name": "first.name",
		"FIRST NAME": "firstname", "mandateType": "mandatetype", "\u00c9tat_1": "\u00e9tat1", "a/b": "a/b",
	} {
		if got := FoldName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzParseObject: an object is what encoding/json takes for one, no more and no less, with the same
// members, lists and texts in it.
func FuzzParseObject(f *testing.F) {
	for _, body := range testBodies() {
		if !body.large {
			f.Add([]byte(body.text))
		}
	}
	for _, seed := range []string{
		`{,}`, `{"a":1,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":1}}`, `{"a"}`, ` {"a":1} `, `{"a":1}x`, `{"a":01}`,
		"{\"a\":\"\xff\"}",
		`{"a":"}\\"]","b":["[",{"]":"}"},[],"\\\\"] , "c" : [1 ,2]}`,
		`{"a\u00e9\ud800":"\u0041","":null}`,
		`{"a\"}":"\"},\"id\":7","b":["\\\"]"],"c":{"d\"":"\""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseObject(data)
		var members map[string]json.RawMessage
		valid := json.Unmarshal(data, &members) == nil && members != nil
		if (err == nil) != valid {
			t.Fatalf("accepted: %v, encoding/json: %v", err == nil, valid)
		}
		last := map[string]json.RawMessage{}
		for _, m := range o {
			last[string(m.name)] = m.value
		}
		if diff := cmp.Diff(members, last, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-encoding/json +ours):\n%s", diff)
		}
		for _, m := range o {
			var want []json.RawMessage
			isList := json.Unmarshal(m.value, &want) == nil && want != nil
			got, ok := asList(m.value)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || ok != isList {
				t.Errorf("list %s (-encoding/json +ours):\n%s", m.value, diff)
			}
			var wantText *string
			isText := json.Unmarshal(m.value, &wantText) == nil && wantText != nil
			if text, ok := parseString(m.value); ok != isText || ok && text != *wantText {
				t.Errorf("text %s: %q, %v", m.value, text, ok)
			}
		}
	})
}
