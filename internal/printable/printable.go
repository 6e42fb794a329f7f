// Package printable makes texts of the service safe to show to people. Operator, provider and plugin share it: every
// text of the service that people may see passes through here.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text replaces what must not be shown of a text: control characters, which a terminal would obey, invisible ones,
// those that change the direction of a text, and what is no UTF-8. Each becomes U+FFFD: if it were left out, two
// different texts could look the same.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Cut is Text of at most so many characters. A text that was cut ends with "…".
func Cut(text string, characters int) string {
	if utf8.RuneCountInString(text) > characters {
		text = string([]rune(text)[:characters-1]) + "…"
	}
	return Text(text)
}

// MayHaveAddress reports whether a text can have an e-mail address: it has an @, or a wide or small form of it.
func MayHaveAddress(text string) bool { return strings.ContainsAny(text, "@\uff20\ufe6b") }
