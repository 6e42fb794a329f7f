package client

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// minSecret is the length from which a secret counts wherever it is in a text. A shorter one counts only as a word of
// its own, because most texts contain it by chance.
const minSecret = 4

// ContainsSecret reports whether a text contains a secret or a word of it, in any letter case: as it is, or encoded as
// in a URL, in JSON or in base64.
func ContainsSecret(text, secret string) bool {
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

// ContainsCredentials reports whether a text contains a password or secret of the client's credentials, or a token that
// it used last.
func (c *Client) ContainsCredentials(text string) bool {
	secrets := append(c.tokens.recent(), c.credentials.Password, c.credentials.ClientSecret, c.credentials.Basic())
	return slices.ContainsFunc(secrets, func(secret Secret) bool {
		return secret.Reveal() != "" && ContainsSecret(text, secret.Reveal())
	})
}

// HideUser replaces the client's user name and client ID in a text. They are no secrets, but the name may be personal.
// A short one is replaced only as a word of its own.
func (c *Client) HideUser(text string) string {
	for _, name := range []string{c.credentials.Username, c.credentials.ClientID} {
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
