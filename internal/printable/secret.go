package printable

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// MinSecret is the length from which a secret counts wherever it is in a text. A shorter one counts only as a word of
// its own, because most texts contain it by chance.
const MinSecret = 4

// ContainsSecret reports whether a text contains a secret or a word of it, in any letter case: as it is, or encoded as
// in a URL, in JSON or in base64.
func ContainsSecret(text, secret string) bool {
	text = strings.ToLower(text)
	lower := strings.ToLower(secret)
	if len(secret) < MinSecret {
		return slices.Contains(strings.FieldsFunc(text, notInWord), lower)
	}
	parts := slices.Concat([]string{lower}, strings.FieldsFunc(lower, notInWord), encodings(secret))
	return slices.ContainsFunc(parts, func(part string) bool {
		return len(part) >= MinSecret && strings.Contains(text, strings.ToLower(part))
	})
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

func encodings(secret string) []string {
	quoted := strconv.Quote(secret)
	return []string{
		url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1],
		base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}

// Hide replaces names in a text, in any letter case. A short one is replaced only as a word of its own.
func Hide(text string, names ...string) string {
	for _, name := range names {
		pattern := "(?i)" + regexp.QuoteMeta(name)
		switch {
		case name == "":
			continue
		case len(name) < MinSecret:
			pattern = `(?i)\b` + regexp.QuoteMeta(name) + `\b`
		}
		text = regexp.MustCompile(pattern).ReplaceAllLiteralString(text, "xxxxx")
	}
	return text
}

// WithoutInvisible removes what is not printable, so that nothing invisible separates the parts of a secret.
func WithoutInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
