package notification

import (
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	// maxCandidates is how many values of a delivery are looked up, and maxText how long they are in characters.
	maxCandidates, maxText = 20, 150
	// maxValues and maxDepth bound what is read of a delivery, and maxNested how often JSON may be in a string of JSON.
	// The decoder of such a string takes the memory of documentCost values.
	maxValues, maxDepth     = 2000, 100
	maxNested, documentCost = 3, 10
)

// Candidate is a value of a delivery that may be the id of an application or an individual, or a reference. It is a
// hint and never a fact: all that it can cause is a read.
type Candidate struct {
	// Text is the value as the delivery has it, numbers included, and Number the id that it can be, or 0.
	Text   string
	Number int64
	place  place
	// ofIndividual: its names say so.
	ofIndividual bool
}

// place is where a delivery has a value. Only a number at one of the first three may be the id of an application that
// is not known, and is stored. Anything else may be personal: a phone number, a date of birth, a reference.
type place int

const (
	placeApplication place = iota // the id of an application, by its names
	placeObject                   // the id of what the delivery is about, whatever that is
	placeID                       // the id of the delivery itself, or of an element of a list
	placeReference                // another id or reference, by its name
	placeOther
	places
)

// The names of members that make a value an id: those of the interface, which uses application and mandate alike, and
// of what contains them. Names are in any letter case, with or without the characters - _ and dot.
var (
	applicationNames = []string{"application", "applications", "mandate", "mandates"}
	objectNames      = []string{
		"data", "object", "resource", "entity", "payload", "body", "record", "item", "items", "subject", "message",
	}
	idSuffixes = []string{"identifier", "ids", "id", "pk"}
)

// placeOf a value, by the name of its member, and of the member whose object it belongs to; "" where there is none.
func placeOf(parent, key string) place {
	stem, isID := key, key == ""
	for _, suffix := range idSuffixes {
		if cut, found := strings.CutSuffix(key, suffix); found {
			stem, isID = cut, true
			break
		}
	}
	if stem == "" {
		stem = parent
	}
	switch {
	case slices.Contains(applicationNames, stem), slices.Contains(applicationNames, strings.TrimPrefix(key, "id")):
		return placeApplication
	case isID && slices.Contains(objectNames, stem):
		return placeObject
	case isID && stem == "":
		return placeID
	case isID, strings.HasSuffix(key, "reference"):
		return placeReference
	default:
		return placeOther
	}
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "")

func normalName(name string) string { return strings.ToLower(separators.Replace(name)) }

// Candidates finds at most 20 candidates in the body of a delivery, of which neither shape nor content type is
// documented: JSON of any depth, JSON in strings of JSON, a form, or text. They come by place, and those of a place in
// the order of the delivery. Names are no candidates.
func Candidates(contentType string, body []byte) (all []Candidate) {
	var found [places][]Candidate
	has := func(of []Candidate, text string) bool {
		return slices.ContainsFunc(of, func(c Candidate) bool { return c.Text == text })
	}
	scan(contentType, body, func(parent, key, text string) {
		parent, key = normalName(parent), normalName(key)
		of := &found[placeOf(parent, key)]
		if text == "" || len(*of) == maxCandidates || utf8.RuneCountInString(text) > maxText || has(*of, text) {
			return
		}
		*of = append(*of, Candidate{strings.Clone(text), id(text), placeOf(parent, key), isIndividual(parent, key)})
	})
	for _, of := range found {
		for _, candidate := range of {
			if len(all) < maxCandidates && !has(all, candidate.Text) {
				all = append(all, candidate)
			}
		}
	}
	return all
}

func isIndividual(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "individual") })
}

// id reads a number as ids are written: without sign, fraction, exponent and leading zeros. 0 if it is no id.
func id(text string) int64 {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number > v1alpha1.MaxID || text[0] < '1' || text[0] > '9' {
		return 0
	}
	return number
}

// scan gives all values of a delivery, but for true, false and null, with their names. The content type is a hint, too:
// JSON is known by how it begins.
func scan(contentType string, body []byte, found func(parent, key, text string)) {
	s, text := scanner{found: found}, strings.TrimSpace(strings.TrimPrefix(string(body), "\ufeff"))
	switch {
	case text == "":
	case strings.ContainsRune(`{["`, rune(text[0])):
		s.document("", text)
	case isForm(contentType), strings.Contains(text, "=") && !strings.ContainsAny(text, "<> \t\r\n"):
		s.form(text)
	default:
		s.words(text)
	}
}

func isForm(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType) // an invalid one is none
	return media == "application/x-www-form-urlencoded"
}

// scanner reads one delivery.
type scanner struct {
	found  func(parent, key, text string)
	values int
	nested int
}

var errTooMuch = errors.New("the delivery is too large or too deep")

// document reads JSON, as far as it is some.
func (s *scanner) document(name, text string) {
	s.values += documentCost
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for s.value(decoder, "", name, 0) == nil { // several may follow each other
	}
}

func (s *scanner) value(decoder *json.Decoder, parent, key string, depth int) error {
	token, err := decoder.Token()
	s.values++
	if err != nil || s.values > maxValues || depth > maxDepth {
		return errors.Join(err, errTooMuch)
	}
	switch token := token.(type) {
	case json.Delim:
		for decoder.More() {
			of, name := parent, key
			if token == '{' {
				member, err := decoder.Token()
				if err != nil {
					return err
				}
				of = key
				name, _ = member.(string) // the decoder takes nothing else there
			}
			if err := s.value(decoder, of, name, depth+1); err != nil {
				return err
			}
		}
		_, err = decoder.Token() // the end of it
	case json.Number:
		if id(token.String()) != 0 {
			s.found(parent, key, token.String())
		}
	case string:
		s.text(parent, key, token)
	}
	return err
}

// text reads a string, which can be JSON, or a link to an application.
func (s *scanner) text(parent, key, text string) {
	if s.nested < maxNested && text != "" && strings.ContainsRune("{[", rune(text[0])) {
		s.nested++
		s.document(key, text)
		s.nested--
	}
	if link, err := url.Parse(text); err == nil && strings.HasPrefix(link.Scheme, "http") {
		if parts := strings.Split(strings.Trim(link.Path, "/"), "/"); len(parts) > 1 {
			s.found(parts[len(parts)-2], "id", parts[len(parts)-1])
		}
	}
	s.found(parent, key, text)
}

// form reads the fields of a form, with names such as data[application][id].
func (s *scanner) form(body string) {
	for pair := range strings.SplitSeq(body, "&") {
		name, encoded, _ := strings.Cut(pair, "=")
		name, errName := url.QueryUnescape(name)
		text, errText := url.QueryUnescape(encoded)
		s.values++
		if errName != nil || errText != nil || s.values > maxValues {
			continue
		}
		parts := strings.FieldsFunc(name, func(r rune) bool { return r == '[' || r == ']' })
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "0" || id(part) != 0 })
		parts = append([]string{"", ""}, parts...)
		s.text(parts[len(parts)-2], parts[len(parts)-1], text)
	}
}

// words reads text, which may be one value. Each word is named by the one before it.
func (s *scanner) words(body string) {
	s.found("", "", body)
	isSpace := func(r rune) bool { return r <= ' ' || strings.ContainsRune(`,;:=<>"'()[]{}&|`, r) }
	before := "text"
	for word := range strings.FieldsFuncSeq(body, isSpace) {
		s.values++
		if s.values > maxValues {
			return
		}
		s.found("text", before, word)
		before = word
	}
}
