package notification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"unicode/utf8"

	idv "github.com/mandate-io/idv/internal/client"
)

const (
	// maxShape is how many values a shape has, and maxName how long their names are.
	maxShape, maxName = 100, 60
)

// shapeOf describes a delivery without its values: the names of members, and the types and lengths of what they have.
// So a person can see what the service sends, and what is captured holds no personal data, unless the service has it in
// names. Where names and values cannot be told apart, the length is all.
func shapeOf(contentType string, body []byte) (shape []string) {
	media, _, _ := mime.ParseMediaType(contentType)
	trimmed := withoutMark(body)
	format := formatOf(contentType, trimmed)
	shape = []string{fmt.Sprintf("%s as %q, %d bytes", format, idv.Printable(shortened(media)), len(body))}
	add := func(v value) {
		if len(shape) > maxShape {
			return
		}
		types := map[kind]string{text: "string", number: "number", word: "true, false or null"}
		name := idv.Printable(shortened(string(v.parent)) + "." + shortened(string(v.key)))
		shape = append(shape, fmt.Sprintf("%s: %s, %d", name, types[v.kind], utf8.RuneCount(v.text)))
	}
	switch {
	case format == formatJSON && json.Valid(trimmed):
		s := scanner{data: trimmed, nested: maxNested, found: add, shared: new(shared)}
		s.scan()
	case media == mediaForm:
		for pair := range bytes.SplitSeq(trimmed, []byte("&")) {
			name, encoded, _ := bytes.Cut(pair, []byte("="))
			add(value{key: name, text: encoded})
		}
	}
	return shape
}

func shortened(name string) string {
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName]) + "…"
	}
	return name
}
