package printable

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

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
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31m\u202e\u009b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		shown := Text(text)
		if !utf8.ValidString(shown) || Text(shown) != shown ||
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

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "審査中": "審査中", "審査中x": "審査…", "\x1babc": "\ufffda…",
	} {
		if got := Cut(text, 3); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMayHaveAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"jane@example.com": true, "jane＠example.com": true, "jane﹫example.com": true, "passed": false, "": false,
	} {
		if MayHaveAddress(text) != want {
			t.Errorf("%q has an address: %t", text, !want)
		}
	}
}
