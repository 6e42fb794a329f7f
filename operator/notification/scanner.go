package notification

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxNested is how deep JSON may be in strings of JSON, and maxDocuments how many such strings are read.
	maxNested, maxDocuments = 2, 20
	// maxDepth is how many containers are remembered that a value is in. Deeper values have no names around them.
	maxDepth = 64
)

// value is one value of a delivery, with the names around it. It is a part of the body, and must not be kept.
type value struct {
	parent, key []byte
	kind        kind
	text        []byte
}

// kind is how a value is written.
type kind int

const (
	kindString  kind = iota // a string, or a part of a text or form
	kindNumber              // of JSON
	kindLiteral             // true, false or null
)

// scanner reads JSON without a check of its syntax: what is wrong in one place must not hide what is in another.
// json.Decoder would take eight bytes for each of the brackets that a body may consist of, and a copy of each value.
type scanner struct {
	data   []byte
	nested int
	found  func(value)

	parent, key []byte
	open        [maxDepth]struct{ parent, key []byte } // what was so outside of the containers that are open
	depth       int
	*scanState
}

// scanState is shared by a document and those in its strings.
type scanState struct {
	documents int
	scratch   [maxEncoded]byte // for a string without its escapes
}

func scanJSON(data []byte, found func(value)) {
	s := scanner{data: data, found: found, scanState: new(scanState)}
	s.scan()
}

func (s *scanner) scan() {
	data := s.data
	for i := 0; i < len(data); {
		switch data[i] {
		case '{', '[':
			s.enterContainer(data[i] == '{')
			i++
		case '}', ']':
			s.leaveContainer()
			i++
		case '"':
			i = s.quoted(i)
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			i = s.literal(i)
		}
	}
}

// enterContainer begins an object, whose members are named after it, or a list, whose values are named as it is.
func (s *scanner) enterContainer(isObject bool) {
	if s.depth < maxDepth {
		s.open[s.depth].parent, s.open[s.depth].key = s.parent, s.key
	}
	s.depth++
	if isObject {
		s.parent, s.key = s.key, nil
	}
}

func (s *scanner) leaveContainer() {
	if s.depth == 0 {
		return // one too many
	}
	s.depth--
	s.parent, s.key = nil, nil
	if s.depth < maxDepth {
		s.parent, s.key = s.open[s.depth].parent, s.open[s.depth].key
	}
}

// quoted reads a string, which is a name or a value, and returns where it ends.
func (s *scanner) quoted(start int) int {
	closing := start + 1
	for closing < len(s.data) && s.data[closing] != '"' {
		if s.data[closing] == '\\' {
			closing++
		}
		closing++
	}
	if closing >= len(s.data) {
		return len(s.data) // it was cut
	}
	raw := s.data[start : closing+1]
	next := bytes.TrimLeft(s.data[closing+1:], " \t\r\n")
	if len(next) > 0 && next[0] == ':' {
		s.key = raw[1 : len(raw)-1]
		return closing + 1
	}
	raw = raw[1 : len(raw)-1]
	found := value{parent: s.parent, key: s.key, text: raw}
	switch {
	case s.nested < maxNested && s.documents < maxDocuments && startsDocument(raw):
		s.documents++
		if found.text = unescape(make([]byte, 0, len(raw)), raw); found.text != nil {
			document := scanner{data: found.text, nested: s.nested + 1, found: s.found, scanState: s.scanState}
			document.scan()
		}
	case len(raw) <= maxEncoded: // else it is too long for a candidate, with its escapes or without
		found.text = unescape(s.scratch[:0], raw)
	}
	if found.text != nil {
		s.found(found)
	}
	return closing + 1
}

func startsDocument(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// maxEncoded is the most bytes that a candidate takes in JSON: two escapes such as \u0000 for a character.
const maxEncoded = 2 * 6 * maxText

// unescape appends the text of a string of JSON, or returns nil if an escape in it is wrong.
func unescape(to, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			to = append(to, raw[i])
			continue
		}
		i++ // the end of a string is no escape
		switch at := strings.IndexByte(escapes, raw[i]); {
		case at >= 0:
			to = append(to, escaped[at])
		case raw[i] == 'u':
			r := codeUnit(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && bytes.HasPrefix(raw[min(i+1, len(raw)):], []byte(`\u`)) {
				if pair := utf16.DecodeRune(r, codeUnit(raw[i+3:])); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			if r < 0 {
				return nil
			}
			to = utf8.AppendRune(to, r)
		default:
			return nil
		}
	}
	return to
}

// escapes and what they stand for.
const escapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// codeUnit reads four hexadecimal digits; -1 if that is not what is there.
func codeUnit(digits []byte) rune {
	if len(digits) < 4 {
		return -1
	}
	unit, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}

// literal reads a number, true, false or null, and returns where it ends.
func (s *scanner) literal(start int) int {
	rest := s.data[start:]
	length := bytes.IndexAny(rest, "{}[]\", :\t\r\n")
	if length < 0 {
		length = len(rest)
	}
	found := value{parent: s.parent, key: s.key, kind: kindLiteral, text: rest[:length]}
	switch string(found.text) {
	case "true", "false", "null":
		s.found(found)
	default:
		if found.kind = kindNumber; json.Valid(found.text) {
			s.found(found)
		}
	}
	return start + length
}
