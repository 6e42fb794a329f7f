package provider

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// The names of the fields that Terraform may store of a webhook. Guide secrets documents them.
var (
	idFields     = []string{"id", "webhook_id", "subscription_id", "application_id", "mandate_id"}
	urlFields    = client.WebhookURLNames
	eventFields  = client.WebhookEventNames
	statusFields = []string{"status", "state", "active", "enabled", "disabled", "paused"}
	timeFields   = []string{
		"created", "created_at", "created_on", "updated", "updated_at", "updated_on", "modified_at", "subscribed_at",
		"activated_at", "disabled_at", "expires_at", "last_delivery_at", "timestamp",
	}
	secretFields = []string{
		"secret", "secret_key", "signing_secret", "signing_key", "shared_secret", "webhook_secret", "hmac_secret", "hmac_key",
	}
)

// newStateFilter returns a filter for a response about webhooks, without secrets.
func newStateFilter(id, url, events valueRule) *stateFilter {
	f := &stateFilter{rules: map[string]valueRule{}, leftOut: map[string]int{}}
	f.add(id, idFields...)
	f.add(url, urlFields...)
	f.add(events, eventFields...)
	f.add(statusRule, statusFields...)
	f.add(textRule(isTime), timeFields...)
	return f
}

// textRule stores a string or a number that has the given form.
func textRule(valid func(text string) bool) valueRule {
	return func(value any) (any, bool) {
		switch text := value.(type) {
		case string:
			return value, valid(text)
		case json.Number:
			return value, valid(text.String())
		default:
			return nil, false
		}
	}
}

// idPattern matches a number, and a UUID. No number of eleven to fifteen digits is an ID: with the code of their
// country, telephone numbers have that length.
var idPattern = regexp.MustCompile(`^([1-9][0-9]{0,9}|[1-9][0-9]{15,19}|` +
	`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)

func isID(text string) bool { return idPattern.MatchString(text) }

// storedID returns 0 for a number that does not count as an ID.
func storedID(id int64) int64 {
	if isID(strconv.FormatInt(id, 10)) {
		return id
	}
	return 0
}

// firstYear is before every webhook, and after the birth of every individual.
const firstYear = 2015

// isTime reports whether a text is a date with a time of day: a date alone may be that of a birth.
func isTime(text string) bool {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Year() >= firstYear
		}
	}
	return false
}

// secretPattern matches what a service generates: long, without spaces, and with a digit (see isSecret). Names,
// addresses, e-mail addresses, telephone numbers, dates and JSON do not match.
var secretPattern = regexp.MustCompile(`^[A-Za-z0-9_+/=.~-]{16,512}$`)

func isSecret(text string) bool {
	return secretPattern.MatchString(text) && strings.ContainsAny(text, "0123456789") &&
		strings.ContainsAny(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz")
}

func statusRule(value any) (any, bool) {
	if _, ok := value.(bool); ok {
		return value, true
	}
	text, ok := value.(string)
	return value, ok && isServiceWord(text)
}

// eventsRule stores a list of events, or a single one, if every event is valid.
func eventsRule(valid func(event string) bool) valueRule {
	return func(value any) (any, bool) {
		items, ok := value.([]any)
		if !ok {
			items = []any{value}
		}
		invalid := func(item any) bool {
			event, ok := item.(string)
			return !ok || !valid(event)
		}
		return value, !slices.ContainsFunc(items, invalid)
	}
}

// wordsPattern matches words in one of the usual forms, such as application.completed or IN_REVIEW.
var wordsPattern = regexp.MustCompile(`^([A-Za-z]+|\*)([ ._:/-]([A-Za-z]+|\*|v?\d{1,2}))*$`)

var wordPattern = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|\*`)

// serviceWords are the words in the names of events and states. A single unknown word may be the name of a person.
var serviceWords = folded(strings.Fields(`* all ok application applications mandate mandates individual individuals
	check checks verification identity webhook webhooks subscription document documents report reports invite invites
	invitation status event events review created updated changed started submitted pending processing completed finished
	accepted approved verified rejected declined archived deleted removed expired failed error success active inactive
	enabled disabled paused suspended`)...)

// isWords reports whether a text is made of words as the name of an event is.
func isWords(text string) bool { return len(text) <= 64 && wordsPattern.MatchString(text) }

// isServiceWord reports whether a text is the name of an event or of a state.
func isServiceWord(text string) bool {
	return isWords(text) &&
		slices.ContainsFunc(wordPattern.FindAllString(text, -1), func(word string) bool {
			return serviceWords[strings.ToLower(word)]
		})
}

// shownURL is a URL without the parts that often contain a token. It returns false for what is no URL.
func shownURL(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", false
	}
	removeSecrets(u)
	return u.String(), true
}
