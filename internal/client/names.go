package client

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldName removes from a name what the interface leaves open: letter case, and the characters that join words
// ('_', '-' and space). Two names are the same if their folded forms are equal. Not documented: our reading. A '.'
// joins no words: "in.review" is a state that the interface does not name, so nothing is decided in it.
func FoldName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if joinsWords(r) {
			return -1
		}
		return r
	}, name))
}

// sameName reports whether two names have the same folded form. It does not allocate for ASCII. A long name is
// none that is asked for.
func sameName(a []byte, b string) bool {
	if len(a) > maxName {
		return false
	}
	i, j := 0, 0
	for {
		for i < len(a) && joinsWords(a[i]) {
			i++
		}
		for j < len(b) && joinsWords(b[j]) {
			j++
		}
		switch {
		case i == len(a) || j == len(b):
			return i == len(a) && j == len(b)
		case a[i] >= utf8.RuneSelf || b[j] >= utf8.RuneSelf:
			return FoldName(string(a)) == FoldName(b)
		case lower(a[i]) != lower(b[j]):
			return false
		}
		i++
		j++
	}
}

func joinsWords[C byte | rune](c C) bool { return c == '_' || c == '-' || c == ' ' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
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
