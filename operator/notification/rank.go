package notification

import (
	"bytes"
	"slices"
	"strings"
)

// rank is how likely it is that a value is what a delivery is about.
type rank int

const (
	rankApplication rank = iota // by its name, it is the id or reference of an application
	rankObject                  // of what the delivery has as its object: {"id": ..., "data": {"id": ...}}
	rankID                      // of anything
	rankOther
	ranks
)

// names of members around a value. What they say depends on the kind of thing that they name last: the id of an
// application_status is no application's.
var (
	// references and ids are the ends of names that identify something; numbers only do so for an application.
	references = []string{"reference", "ref"}
	ids        = []string{"ids", "id"}
	numbers    = []string{"number", "code", "key", "no"}

	applications = []string{"application", "mandate"}
	// objects stand for whatever a delivery is about.
	objects = []string{"data", "object", "resource", "entity", "subject", "target", "payload", "body", "record", "item"}
	// others have ids, too, or numbers that must not be stored.
	others = append([]string{
		"user", "event", "status", "state", "type", "check", "document", "country", "webhook", "subscription", "hook",
		"account", "tenant",
	}, persons...)
	persons = []string{"individual", "person", "people"}
)

// rankOf a value, by the names around it. It also reports whether a number there may be the id of an application that
// is not known, which is read and stored for the Mandate that waits for it. Everything else can be personal.
func rankOf(parent, key []byte) (of rank, mayBeUnknown bool) {
	var lowered [2][maxText]byte
	name := appendLower(lowered[0][:0], key)
	about, isReference := cutSuffix(name, references)
	about, isID := cutSuffix(about, ids)
	about, isNumber := cutSuffix(about, numbers)
	if len(about) == 0 {
		about = appendLower(lowered[1][:0], parent)
	}
	isObject := slices.Contains(objects, string(singular(about)))
	isApplication, isOther := namesLast(about)
	identifies := isReference || isID
	switch {
	case isApplication && (identifies || isNumber || isNamed(about, applications)):
		of = rankApplication
	case isObject && (identifies || len(about) == len(name)):
		of = rankObject
	case identifies:
		of = rankID
	default:
		of = rankOther
	}
	return of, !isOther && !isReference && (of != rankOther || len(key) == 0)
}

// cutSuffix removes the first of the suffixes that a name has, and what separates it from the rest.
func cutSuffix(name []byte, suffixes []string) (rest []byte, found bool) {
	for _, suffix := range suffixes {
		if rest, found = bytes.CutSuffix(name, []byte(suffix)); found {
			return bytes.TrimRight(rest, "_-. "), true
		}
	}
	return name, false
}

func singular(name []byte) []byte { return bytes.TrimSuffix(name, []byte("s")) }

// isNamed reports whether a name ends with one of some words, or with its plural.
func isNamed(name []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.HasSuffix(singular(name), []byte(word)) })
}

// namesLast reports whether the last kind of thing in a name is an application, or another one.
func namesLast(name []byte) (application, other bool) {
	last := func(words []string) (at int) {
		at = -1
		for _, word := range words {
			at = max(at, bytes.LastIndex(name, []byte(word)))
		}
		return at
	}
	applicationAt, otherAt := last(applications), last(others)
	return applicationAt > otherAt, otherAt > applicationAt
}

// namesOther reports whether a name is about something else than an application.
func namesOther(name []byte) bool {
	var lowered [maxText]byte
	_, other := namesLast(appendLower(lowered[:0], name))
	return other
}

// isOfPerson reports whether a value is of an individual, by its names.
func (p memberPath) isOfPerson() bool {
	names := strings.ToLower(p.parent + "." + p.key)
	return slices.ContainsFunc(persons, func(word string) bool { return strings.Contains(names, word) })
}

// appendLower appends a name in lower case.
func appendLower(to, name []byte) []byte {
	for _, letter := range truncateName(name) {
		if 'A' <= letter && letter <= 'Z' {
			letter += 'a' - 'A'
		}
		to = append(to, letter)
	}
	return to
}

// truncateName bounds a name, which is only compared with others of the same delivery.
func truncateName(name []byte) []byte { return name[:min(len(name), maxText)] }
