package jsonvalue

import (
	"slices"
	"testing"
)

const document = `{"signing": {"secret": "s", "keys": [{"a/b": 1.50}, {"m~n": true}]}, "none": null, "<>": ""}`

func decoded(t *testing.T) any {
	t.Helper()
	value, err := Decode([]byte("\ufeff" + document))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestEncode(t *testing.T) {
	const want = `{"<>":"","none":null,"signing":{"keys":[{"a/b":1.50},{"m~n":true}],"secret":"s"}}`
	if got := Encode(decoded(t)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := Decode([]byte("<html>")); err == nil {
		t.Error("HTML was decoded")
	}
}

func TestLeaves(t *testing.T) {
	if got := slices.Sorted(slices.Values(Leaves(decoded(t)))); !slices.Equal(got, []string{"1.50", "s"}) {
		t.Errorf("got %q", got)
	}
}

func TestAt(t *testing.T) {
	for pointer, want := range map[string]any{
		"/signing/secret": "s", "/signing/keys/1/m~0n": true, "/none": nil,
		"/signing/keys/2": false, "/signing/keys/-1": false, "/signing/secret/x": false, "/": false,
	} {
		if got, found := At(decoded(t), pointer); found != (want != false) || found && got != want {
			t.Errorf("%s: got %v, %t", pointer, got, found)
		}
	}
}

func TestPointers(t *testing.T) {
	got := Pointers(decoded(t), func(name string) bool { return name != "a/b" })
	if want := []string{"/<>", "/signing/secret"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
