package notification

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	// maxCandidates is how many values of a delivery are looked at.
	maxCandidates = 20
	// maxText is the length of a reference, in characters.
	maxText = 150
)

// Candidate is a value of a delivery that may be the id of an application or an individual, or a reference. It is a
// hint and never a fact: all that it can cause is a read.
type Candidate struct {
	// Text is the value as the delivery has it, numbers included.
	Text string
	// Number is the id that Text can be, or 0.
	Number int64
	// path is where the delivery has it, and rank how likely that makes it.
	path memberPath
	rank rank
	// mayBeUnknown: by its path, it may be an application whose create had no answer.
	mayBeUnknown bool
}

// memberPath is the name of a member, and of the one that its object belongs to; "" where there is none.
type memberPath struct{ parent, key string }

// Candidates finds at most 20 candidates in the body of a delivery, of which neither shape nor content type is
// documented: JSON of any depth, JSON in strings of JSON, a form, or text. They come by rank, and those of a rank in
// the order of the delivery. Names are no candidates. Beside a copy of strings with JSON in them, it allocates no more
// than the candidates.
func Candidates(contentType string, body []byte) []Candidate {
	var found collector
	scan(contentType, body, found.add)
	return found.candidates()
}

// collector keeps the first values of each rank.
type collector [ranks][]Candidate

func (c *collector) add(v value) {
	of, mayBeUnknown := rankOf(v.parent, v.key)
	switch {
	case v.kind == kindLiteral, v.kind == kindNumber && id(v.text) == 0:
		return
	case v.kind == kindString:
		if kind, number := idInURL(v.text); number != nil {
			ofURL, _ := rankOf(nil, kind)
			isOther := namesOther(kind) || namesOther(v.key) || namesOther(v.parent)
			c.addText(min(of, ofURL, rankID), v, number, ofURL == rankApplication || !isOther)
		}
	}
	c.addText(of, v, v.text, mayBeUnknown)
}

func (c *collector) addText(of rank, v value, text []byte, mayBeUnknown bool) {
	same := func(other Candidate) bool { return other.Text == string(text) }
	i := slices.IndexFunc(c[of], same)
	if len(text) == 0 || i < 0 && len(c[of]) >= maxCandidates || !isText(text) {
		return
	}
	made := Candidate{
		Text: string(text), Number: id(text), rank: of, mayBeUnknown: mayBeUnknown,
		path: memberPath{string(truncateName(v.parent)), string(truncateName(v.key))},
	}
	if i < 0 {
		c[of] = append(c[of], made)
		return
	}
	c[of][i].merge(&made)
}

// merge takes another place of the same text, if only there it may be an application that is not known.
func (c *Candidate) merge(other *Candidate) {
	if other.mayBeUnknown && !c.mayBeUnknown {
		*c = *other
	}
}

// candidates are those of all ranks, each text once.
func (c *collector) candidates() []Candidate {
	var all []Candidate
	for _, of := range c {
		for _, candidate := range of {
			same := func(other Candidate) bool { return other.Text == candidate.Text }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].merge(&candidate)
			} else if len(all) < maxCandidates {
				all = append(all, candidate)
			}
		}
	}
	return all
}

// isText reports whether a value can be a reference.
func isText(text []byte) bool {
	return len(text) <= utf8.UTFMax*maxText && utf8.Valid(text) && utf8.RuneCount(text) <= maxText
}

// id reads a number as ids are written: without sign, fraction, exponent and leading zeros. 0 if it is no id.
func id(text []byte) int64 {
	if len(text) == 0 || len(text) > 19 || text[0] < '1' || len(bytes.Trim(text, "0123456789")) > 0 {
		return 0
	}
	number, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// idInURL is the last part of the path of a URL, if that is an id, and the part before it: a delivery may have a link
// to the application, and nothing else. Otherwise it is nil.
func idInURL(text []byte) (kind, number []byte) {
	scheme, rest, found := bytes.Cut(text, []byte("://"))
	_, path, hasPath := bytes.Cut(rest, []byte("/"))
	if !found || !hasPath || !slices.Contains([]string{"https", "http"}, string(scheme)) {
		return nil, nil
	}
	if query := bytes.IndexAny(path, "?#"); query >= 0 {
		path = path[:query]
	}
	path = bytes.TrimSuffix(path, []byte("/"))
	slash := bytes.LastIndexByte(path, '/')
	if number = path[slash+1:]; slash < 0 || id(number) == 0 {
		return nil, nil
	}
	kind = path[:slash]
	return kind[bytes.LastIndexByte(kind, '/')+1:], number
}

// scan gives all values of a delivery to found.
func scan(contentType string, body []byte, found func(value)) {
	switch body = trimByteOrderMark(body); formatOf(contentType, body) {
	case formatJSON:
		scanJSON(body, found)
	case formatForm:
		scanForm(body, found)
	case formatText:
		scanText(body, found)
	}
}

// trimByteOrderMark removes what editors put around a body: a byte order mark and space.
func trimByteOrderMark(body []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
}

// format of a delivery.
type format string

const (
	mediaForm = "application/x-www-form-urlencoded"

	formatNone format = "empty"
	formatJSON format = "JSON"
	formatForm format = "form"
	formatText format = "text"
)

// formatOf a body without a byte order mark. The content type is a hint, too: JSON is known by how it begins.
func formatOf(contentType string, body []byte) format {
	media, _, _ := mime.ParseMediaType(contentType) // an invalid one is none
	switch {
	case len(body) == 0:
		return formatNone
	case bytes.IndexByte([]byte(`{["`), body[0]) >= 0:
		return formatJSON
	case media == mediaForm,
		bytes.IndexByte(body, '=') > 0 && !bytes.ContainsAny(body, "<> \t\r\n"):
		return formatForm
	default:
		return formatText
	}
}

// scanForm reads a form, whose values can be JSON.
func scanForm(body []byte, found func(value)) {
	documents := 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		name, encoded, _ := bytes.Cut(pair, []byte("="))
		key, err := url.QueryUnescape(string(name))
		text, errText := url.QueryUnescape(string(encoded))
		if err != nil || errText != nil {
			continue
		}
		parent, last := splitBrackets([]byte(key))
		field := value{parent: parent, key: last, text: []byte(text)}
		if documents < maxDocuments && startsDocument(field.text) {
			documents++
			scanJSON(field.text, found)
		}
		found(field)
	}
}

// splitBrackets gives the last two parts of a name such as data[application][id], or ids[].
func splitBrackets(name []byte) (parent, key []byte) {
	for part := range bytes.FieldsFuncSeq(name, func(r rune) bool { return r == '[' || r == ']' }) {
		if id(part) == 0 && !bytes.Equal(part, []byte("0")) {
			parent, key = key, part
		}
	}
	return parent, key
}
