package notification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"unicode/utf8"

	"github.com/mandate-io/idv/internal/client/wire"
)

const (
	// maxShape is how many values a shape has, and maxName how long the names are that it shows.
	maxShape, maxName = 100, 40
)

// shapeOf describes a delivery without its values: the names of members, and the types and lengths of what they have.
// So a person can see what the service sends. A name that is no identifier can be an e-mail address, a phone number or
// the name of a person, so its length is all. Where names and values cannot be told apart, only the delivery has one.
func shapeOf(contentType string, body []byte) (shape []string) {
	media, _, _ := mime.ParseMediaType(contentType)
	trimmed := trimByteOrderMark(body)
	format := formatOf(contentType, trimmed)
	shape = []string{fmt.Sprintf("%s as %q, %d bytes", format, wire.Printable(truncateMedia(media)), len(body))}
	add := func(v value) {
		if len(shape) > maxShape {
			return
		}
		types := map[kind]string{kindString: "string", kindNumber: "number", kindLiteral: "true, false or null"}
		name := shownName(v.parent) + "." + shownName(v.key)
		shape = append(shape, fmt.Sprintf("%s: %s, %d", name, types[v.kind], utf8.RuneCount(v.text)))
	}
	switch {
	case format == formatJSON && json.Valid(trimmed):
		s := scanner{data: trimmed, nested: maxNested, found: add, scanState: new(scanState)}
		s.scan()
	case media == mediaForm:
		for pair := range bytes.SplitSeq(trimmed, []byte("&")) {
			name, encoded, _ := bytes.Cut(pair, []byte("="))
			add(value{key: name, text: encoded})
		}
	}
	return shape
}

// identifier is the form of the names that a program gives to members.
var identifier = regexp.MustCompile(`^[A-Za-z_$@][A-Za-z0-9_-]*$`)

// shownName is a name, if it is an identifier.
func shownName(name []byte) string {
	if len(name) == 0 || len(name) <= maxName && identifier.Match(name) {
		return string(name)
	}
	return fmt.Sprintf("(a name of %d characters)", utf8.RuneCount(name))
}

func truncateMedia(media string) string {
	if runes := []rune(media); len(runes) > maxName {
		return string(runes[:maxName]) + "…"
	}
	return media
}
