package notification

import (
	"cmp"
	"encoding/json"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	// maxCandidates is how many values of a delivery are looked up, and maxText how long they are in characters.
	maxCandidates, maxText = 20, 150
	// maxValues is how many values are read of a delivery.
	maxValues = 2000
)

// Candidate is a value of a delivery that may be the id of an application or an individual, or a reference. It is a
// hint and never a fact: all that it can cause is a read.
type Candidate struct {
	// Text is the value as the delivery has it, numbers included, and Number the id that it can be, or 0.
	Text   string
	Number int64
	place  place
}

// place is where a delivery has a value. Only a number at one of the first three may be the id of an application that
// is not known, and is stored. Anything else may be personal: a phone number, a date of birth, a reference.
type place int

const (
	placeApplication place = iota // the id of an application, by its names
	placeObject                   // the id of what the delivery is about, whatever that is
	placeID                       // the id of the delivery itself, or of an element of a list
	placeIndividual               // the id of an individual, by its names
	placeReference                // another id or reference, by its name
	placeOther
)

// allowedNames are those of what a number may be the id of: the interface's own, which uses application and mandate
// alike, and those of what contains it. Names are in any letter case, with or without the characters - _ and dot.
var allowedNames = map[string]place{
	"application": placeApplication, "applications": placeApplication, "idapplication": placeApplication,
	"mandate": placeApplication, "mandates": placeApplication, "idmandate": placeApplication,
	"data": placeObject, "object": placeObject, "resource": placeObject, "entity": placeObject, "payload": placeObject,
	"body": placeObject, "record": placeObject, "item": placeObject, "items": placeObject, "subject": placeObject,
	"message": placeObject, "": placeID,
}

// idNames are those of an id, alone or after the name of what it is the id of.
var idNames = []string{"identifier", "ids", "id", "pk"}

// placeOf a value, by the name of its member, and of the member whose object it belongs to; "" where there is none.
func placeOf(parent, key string) place {
	name, isID := key, key == ""
	for _, suffix := range idNames {
		if cut, found := strings.CutSuffix(key, suffix); found {
			name, isID = cut, true
			break
		}
	}
	if name == "" {
		name = parent
	}
	found, allowed := allowedNames[name]
	switch {
	case allowed && (isID || found == placeApplication):
		return found
	case isID && strings.Contains(parent+key, "individual"):
		return placeIndividual
	case isID, strings.HasSuffix(key, "reference"):
		return placeReference
	default:
		return placeOther
	}
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "")

func normalName(name string) string { return strings.ToLower(separators.Replace(name)) }

// Candidates finds at most 20 candidates in the body of a delivery, of which neither shape nor content type is
// documented: JSON of any depth, JSON in strings of JSON, a form, or text. They come by place. Names are no candidates.
func Candidates(contentType string, body []byte) (all []Candidate) {
	read(contentType, body, func(parent, key, text string) {
		if text != "" && utf8.RuneCountInString(text) <= maxText && utf8.ValidString(text) {
			all = append(all, Candidate{text, id(text), placeOf(normalName(parent), normalName(key))})
		}
	})
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.place, b.place) })
	seen := sets.New[string]()
	all = slices.DeleteFunc(all, func(c Candidate) bool {
		again := seen.Has(c.Text)
		seen.Insert(c.Text)
		return again
	})
	return all[:min(len(all), maxCandidates)]
}

// id reads a number as ids are written: without sign, fraction, exponent and leading zeros. 0 if it is no id.
func id(text string) int64 {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number > v1alpha1.MaxID || text[0] < '1' || text[0] > '9' {
		return 0
	}
	return number
}

// found is called with a value of a delivery, its name, and the name of the object that it belongs to.
type found func(parent, key, text string)

// read finds all values of a delivery, but for true, false and null. The content type is a hint, too. What begins like
// JSON and is none, or has too many values, is text.
func read(contentType string, body []byte, found found) {
	text := strings.TrimSpace(strings.TrimPrefix(string(body), "\ufeff"))
	looksLikeForm := strings.Contains(text, "=") && !strings.ContainsAny(text, "<> \t\r\n")
	switch {
	case text == "" || isJSON(text) && readJSON("", text, found):
	case (isForm(contentType) || looksLikeForm) && strings.Count(text, "&") < maxValues:
		readForm(text, found)
	default:
		readWords(text, found)
	}
}

func isForm(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType) // an invalid one is none
	return media == "application/x-www-form-urlencoded"
}

func isJSON(text string) bool { return text != "" && strings.ContainsRune(`{["`, rune(text[0])) }

// readJSON reports whether a text is JSON that is not too large.
func readJSON(name, text string, found found) bool {
	var value any
	values := strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{")
	if values > maxValues || json.Unmarshal([]byte(text), &value) != nil {
		return false
	}
	readValue("", name, value, found)
	return true
}

func readValue(parent, key string, value any, found found) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			readValue(key, name, value[name], found)
		}
	case []any:
		for _, element := range value {
			readValue(parent, key, element, found)
		}
	case float64: // which has every id as it is
		if text := strconv.FormatFloat(value, 'f', -1, 64); id(text) != 0 {
			found(parent, key, text)
		}
	case string:
		readText(parent, key, value, found)
	}
}

// readText reads a string, which can be JSON, or a link to an application.
func readText(parent, key, text string, found found) {
	if isJSON(text) {
		readJSON(key, text, found)
	}
	if link, err := url.Parse(text); err == nil && strings.HasPrefix(link.Scheme, "http") {
		if parts := strings.Split(strings.Trim(link.Path, "/"), "/"); len(parts) > 1 {
			found(parts[len(parts)-2], "id", parts[len(parts)-1])
		}
	}
	found(parent, key, text)
}

// readForm reads the fields of a form, with names such as data[application][id].
func readForm(text string, found found) {
	fields, _ := url.ParseQuery(text) // without those that are invalid
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		names := strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' })
		names = slices.DeleteFunc(names, func(name string) bool { return name == "0" || id(name) != 0 })
		names = append([]string{"", ""}, names...)
		for _, value := range fields[name] {
			readText(names[len(names)-2], names[len(names)-1], value, found)
		}
	}
}

// readWords reads text, which may be one value. Each word is named by the one before it.
func readWords(text string, found found) {
	found("", "", text)
	isSpace := func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,;:=<>"'()[]{}&|\`, r) }
	words, before := 0, "text"
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		if words == maxValues {
			return
		}
		found("text", before, word)
		before = word
		words++
	}
}
