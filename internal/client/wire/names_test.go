package wire

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

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

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"In review, 3/5":             "In review, 3/5",
		"Überprüfung läuft\u00a0: ✓": "Überprüfung läuft\u00a0: ✓",
		"審査中 – проверка – تحت المراجعة": "審査中 – проверка – تحت المراجعة",
		"\x1b[31mred\x1b[0m":                 "\ufffd[31mred\ufffd[0m",
		"\x1b]0;title\a":                     "\ufffd]0;title\ufffd",
		"C1: \u009b31m":                      "C1: \ufffd31m",
		"two\nlines\r\n":                     "two\ufffdlines\ufffd\ufffd",
		"in\treview":                         "in\ufffdreview",
		"evil \u202etxt.exe\u202c":           "evil \ufffdtxt.exe\ufffd",
		"isolate \u2066x\u2069\u200f":        "isolate \ufffdx\ufffd\ufffd",
		"zero\u200bwidth\ufeff":              "zero\ufffdwidth\ufffd",
		"\xff\xfe":                           "\ufffd\ufffd",
		"tag \U000e0041, private \U000f0000": "tag \ufffd, private \ufffd",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31m\u202e\u009b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		shown := Printable(text)
		if !utf8.ValidString(shown) || Printable(shown) != shown ||
			utf8.RuneCountInString(shown) != utf8.RuneCountInString(text) {
			t.Errorf("%q became %q", text, shown)
		}
		for _, r := range shown {
			if unicode.In(r, unicode.C) || r == '\u2028' || r == '\u2029' {
				t.Errorf("%q has %U", shown, r)
			}
		}
	})
}
