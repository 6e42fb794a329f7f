package provider

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mandate-io/idv/internal/client"
)

// minSecret is the length from which a secret counts wherever it is in a text. A shorter one counts only as a word of
// its own, because most texts contain it by chance.
const minSecret = 4

// containsSecret reports whether a text contains a secret or a word of it, in any letter case: as it is, or encoded as
// in a URL, in JSON or in base64.
func containsSecret(text, secret string) bool {
	text = strings.ToLower(text)
	lower := strings.ToLower(secret)
	if len(secret) < minSecret {
		return slices.Contains(strings.FieldsFunc(text, notInWord), lower)
	}
	parts := slices.Concat([]string{lower}, strings.FieldsFunc(lower, notInWord), encodings(secret))
	return slices.ContainsFunc(parts, func(part string) bool {
		return len(part) >= minSecret && strings.Contains(text, strings.ToLower(part))
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

// containsCredentials reports whether a text contains a password or secret of the client's credentials, or a token that
// it used last.
func containsCredentials(service *client.Client, text string) bool {
	return slices.ContainsFunc(service.Secrets(), func(secret client.Secret) bool {
		return secret.Reveal() != "" && containsSecret(text, secret.Reveal())
	})
}

// hideUser replaces the client's user name and client ID in a text. They are no secrets, but the name may be personal.
// A short one is replaced only as a word of its own.
func hideUser(text string, names ...string) string {
	for _, name := range names {
		pattern := "(?i)" + regexp.QuoteMeta(name)
		switch {
		case name == "":
			continue
		case len(name) < minSecret:
			pattern = `(?i)\b` + regexp.QuoteMeta(name) + `\b`
		}
		text = regexp.MustCompile(pattern).ReplaceAllLiteralString(text, "xxxxx")
	}
	return text
}
