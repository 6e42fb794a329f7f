package wire

import (
	"strings"
	"unicode"
)

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// FoldName removes from a name what the interface leaves open: letter case, and the characters that join words
// ('_', '-' and space). Two names are the same if their folded forms are equal. Not documented: our reading. A '.'
// joins no words: "in.review" is a state that the interface does not name, so nothing is decided in it.
func FoldName(name string) string { return strings.ToLower(joints.Replace(name)) }

// SameName reports whether two names have the same folded form. A long name is none that is asked for.
func SameName(a, b string) bool {
	return len(a) <= MaxName && (a == b || joints.Replace(strings.ToLower(a)) == joints.Replace(strings.ToLower(b)))
}

// Printable replaces what must not be shown of a text of the service: control characters, which a terminal would obey,
// invisible ones, those that change the direction of a text, and what is no UTF-8. Each becomes U+FFFD: if it were left
// out, two different texts could look the same. Every text of the service that people may see passes through here.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
