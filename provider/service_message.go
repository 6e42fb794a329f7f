package provider

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/printable"
)

// messageFilter decides which texts of the service a diagnostic may show. They can repeat what was sent.
type messageFilter struct {
	// secrets are texts that no diagnostic may repeat.
	secrets []string
	// service knows its credentials and tokens. Without it, no title and no detail of the service is shown.
	service *client.Client
}

const (
	maxMessageLength = 300
	hiddenMessage    = "(not shown, because it repeats a sensitive value)"
)

// show returns a text on one line, and limits its length.
func (f messageFilter) show(message client.Secret) string {
	text := strings.TrimSpace(message.Reveal())
	if f.repeatsSecret(text) || f.repeatsSecret(withoutUnprintable(text)) {
		return hiddenMessage
	}
	if f.service != nil {
		text = hideUser(text, f.service.Usernames()...)
	}
	return printable.Cut(strings.Join(strings.Fields(text), " "), maxMessageLength)
}

// withoutUnprintable is a text in which nothing invisible separates the parts of a secret.
func withoutUnprintable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

func (f messageFilter) repeatsSecret(text string) bool {
	secrets := slices.Clone(f.secrets)
	if f.service != nil {
		for _, secret := range f.service.Secrets() {
			secrets = append(secrets, secret.Reveal())
		}
	}
	return slices.ContainsFunc(secrets, func(secret string) bool { return secret != "" && containsSecret(text, secret) })
}

// aboutNoPerson has the requests whose refusal can say nothing about a person: the user wrote the one, and the other
// asks for lists of types and countries.
var aboutNoPerson = map[client.Operation]bool{client.OpSubscribeWebhook: true, client.OpRetrieveReferences: true}

// summary returns what the service says about a failure, as a sentence that follows another one; "" if nothing.
func (f messageFilter) summary(failure *client.Error) string {
	if failure == nil || f.service == nil || !aboutNoPerson[failure.Operation] || failure.Login || failure.Problem == nil {
		return ""
	}
	var texts []string
	for _, text := range []client.Secret{failure.Problem.Title, failure.Problem.Detail} {
		if shown := strings.TrimRight(f.show(text), "."); shown != "" && !slices.Contains(texts, shown) {
			texts = append(texts, shown)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " Message of the service: " + strings.Join(texts, ": ") + "."
}

// leavesOf returns the strings and numbers in a decoded JSON value.
func leavesOf(value any) []string {
	var leaves []string
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			leaves = append(leaves, leavesOf(field)...)
		}
	case []any:
		for _, item := range value {
			leaves = append(leaves, leavesOf(item)...)
		}
	case string:
		leaves = append(leaves, value)
	case json.Number:
		leaves = append(leaves, value.String())
	}
	return slices.DeleteFunc(leaves, func(leaf string) bool { return leaf == "" })
}

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
