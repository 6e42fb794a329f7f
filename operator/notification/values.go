package notification

import (
	"cmp"
	"encoding/json"
	"mime"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client/wire"
)

const (
	// maxCandidates is how many values of a delivery are looked up, and maxText how long they are in characters.
	maxCandidates, maxText = 20, 150
	// maxDepth is how deep in JSON a value may be, as in responses. Each level costs a pass over what is in it.
	maxDepth = 32
)

// Candidate is a value of a delivery that may be the id of an application or an individual, or a reference. It is a
// hint and never a fact: all that it can cause is a read.
type Candidate struct {
	Text   string // as the delivery has it, numbers included
	Number int64  // the id that it can be, or 0
	place  place
}

// place is where a delivery has a value. Only a number at one of the first three may be the id of an application that
// is not known, and is stored. Anything else may be personal: a phone number, a date of birth, a reference.
type place int

const (
	placeApplication place = iota // the id of an application, by its name
	placeObject                   // the id of what the delivery is about, whatever that is
	placeID                       // the id of the delivery itself, or of an element of a list
	placeIndividual               // the id of an individual, by its name
	placeReference                // a reference by its name, or another number
	placeOther
)

// placeNames are those of members, by the place that they say: in lower case, without the characters - _ and dot, and
// without the s of a plural. The interface uses application and mandate alike.
var placeNames = [...][]string{
	placeApplication: {
		"application", "applicationid", "applicationidentifier", "idapplication",
		"mandate", "mandateid", "mandateidentifier", "idmandate",
	},
	placeObject: {
		"dataid", "objectid", "resourceid", "entityid", "payloadid", "bodyid", "recordid", "itemid", "subjectid", "messageid",
	},
	placeID:         {"id"},
	placeIndividual: {"individualid"},
	placeReference:  {"reference", "applicationreference", "mandatereference", "individualreference"},
}

// idNames are those of the id of the object that has it. A value without a name is in a list, or alone.
var idNames = []string{"", "id", "identifier", "pk"}

func normalName(name string) string {
	return strings.TrimSuffix(strings.ReplaceAll(wire.FoldName(name), ".", ""), "s")
}

// placeOf a value, by the name of its member, and of the member whose object it belongs to; "" where there is none.
func placeOf(parent, key string) place {
	name := normalName(key)
	if slices.Contains(idNames, name) {
		name = normalName(parent) + "id"
	}
	for i, listed := range placeNames {
		if slices.Contains(listed, name) {
			return place(i)
		}
	}
	return placeOther
}

// Candidates finds at most 20 candidates in the body of a delivery: JSON, JSON in strings of JSON, a form, or text.
// They come by place. Names are no candidates.
func Candidates(contentType string, body []byte) (all []Candidate) {
	read(contentType, body, func(parent, key, text string) {
		if text == "" || utf8.RuneCountInString(text) > maxText || !utf8.ValidString(text) {
			return
		}
		c := Candidate{text, id(text), placeOf(parent, key)}
		if c.place == placeOther && c.Number != 0 {
			c.place = placeReference
		}
		better := func(o Candidate) bool { return o.Text == text && o.place <= c.place }
		if len(all) == maxCandidates && all[len(all)-1].place <= c.place || slices.ContainsFunc(all, better) {
			return
		}
		all = append(slices.DeleteFunc(all, func(o Candidate) bool { return o.Text == text }), c)
		slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.place, b.place) })
		all = all[:min(len(all), maxCandidates)]
	})
	return all
}

// id reads a number as ids are written: without sign, fraction, exponent and leading zeros. 0 if it is no id.
func id(text string) int64 {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number > v1alpha1.MaxID {
		return 0
	}
	return number
}

// found is called with a value of a delivery, its name, and the name of the object that it belongs to.
type found func(parent, key, text string)

// read finds all values of a delivery, but for true, false, null, and numbers that are no ids. The content type is a
// hint, too. JSON with a mistake in it is text.
func read(contentType string, body []byte, found found) {
	text := strings.TrimSpace(strings.TrimPrefix(string(body), "\ufeff"))
	looksLikeForm := strings.Contains(text, "=") && !strings.ContainsAny(text, "<> \t\r\n")
	switch {
	case json.Valid([]byte(text)):
		readJSON("", "", gjson.Parse(text), 0, found)
	case isForm(contentType) || looksLikeForm:
		readForm(text, found)
	default:
		readWords(text, found)
	}
}

func isForm(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType) // an invalid one is none
	return media == "application/x-www-form-urlencoded"
}

func readJSON(parent, key string, value gjson.Result, depth int, found found) {
	switch {
	case depth > maxDepth:
	case value.IsObject() || value.IsArray():
		value.ForEach(func(name, member gjson.Result) bool {
			if value.IsObject() {
				readJSON(key, name.String(), member, depth+1, found)
			} else {
				readJSON(parent, key, member, depth+1, found)
			}
			return true
		})
	case value.Type == gjson.String:
		readText(parent, key, value.String(), found)
	default: // an id may be written as 4711.0, as in responses
		whole, fraction, _ := strings.Cut(value.Raw, ".")
		if strings.Trim(fraction, "0") == "" && id(whole) != 0 {
			found(parent, key, whole)
		}
	}
}

// readText reads a string, which can be JSON, or a link to an application.
func readText(parent, key, text string, found found) {
	if strings.IndexAny(text, `{["`) == 0 && json.Valid([]byte(text)) {
		readJSON("", key, gjson.Parse(text), 0, found)
	}
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		link, _, _ := strings.Cut(text, "?")
		link = path.Clean(link)
		found(path.Base(path.Dir(link)), "id", path.Base(link))
	}
	found(parent, key, text)
}

// readForm reads the fields of a form, with names such as data[application][id].
func readForm(text string, found found) {
	for field := range strings.SplitSeq(text, "&") {
		decoded, err := url.QueryUnescape(field)
		if err != nil {
			continue
		}
		name, value, _ := strings.Cut(decoded, "=")
		parent, key := "", ""
		for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '[' || r == ']' }) {
			if part != "0" && id(part) == 0 { // and not the index of a list
				parent, key = key, part
			}
		}
		readText(parent, key, value, found)
	}
}

// readWords reads text, which may be one value. Each word is named by the one before it.
func readWords(text string, found found) {
	before := "text"
	found("", before, text)
	isSpace := func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,;:=<>"'()[]{}&|\`, r) }
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		found("text", before, word)
		before = word
	}
}
