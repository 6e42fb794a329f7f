package wire

import "testing"

func TestFoldName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "_- ": "", "id": "id", "_id": "_id", "_First_name": "_firstname",
		"first_name": "firstname", "First-Name": "firstname", "first.name": "first.name",
		"FIRST NAME": "firstname", "mandateType": "mandatetype", "\u00c9tat_1": "\u00e9tat1", "a/b": "a/b",
	} {
		if got := FoldName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzSameName: two names are the same if their folded forms are, except that a long one is none.
func FuzzSameName(f *testing.F) {
	for _, pair := range [][2]string{
		{"first_name", "FirstName"}, {"id", "ID"}, {"İD", "id"}, {"\u017ftatus", "status"},
		{"K", "\u212a"}, {"_", ""}, {"a", "ab"},
		{"\xff", "\xfe"}, {"É", "é"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want := FoldName(a) == FoldName(b) && len(a) <= MaxName
		if got := SameName(a, b); got != want {
			t.Errorf("%q and %q: %v, folded %q and %q", a, b, got, FoldName(a), FoldName(b))
		}
	})
}
