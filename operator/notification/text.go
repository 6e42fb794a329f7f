package notification

import "bytes"

const (
	// maxWords is how many words a text may have in which a number needs no name.
	maxWords = 4
	// maxElements is how many open elements of XML are remembered.
	maxElements = 16
)

// textScanner reads text of any kind as words, named by the word before them, and XML by its elements and attributes
// as far as that goes without its syntax.
type textScanner struct {
	found    func(value)
	nameless bool // the text has few words, and nothing that looks like a name
	before   []byte
	elements [maxElements][]byte
	depth    int
}

func scanText(body []byte, found func(value)) {
	if isText(body) {
		found(value{text: body})
	}
	count := 0
	for range bytes.FieldsFuncSeq(body, isSeparator) {
		count++
	}
	s := textScanner{found: found, nameless: count <= maxWords && !bytes.ContainsAny(body, ":=<")}
	for rest := body; ; {
		start := bytes.IndexFunc(rest, func(r rune) bool { return !isSeparator(r) })
		if start < 0 {
			return
		}
		separators := rest[:start]
		rest = rest[start:]
		length := bytes.IndexFunc(rest, isSeparator)
		if length < 0 {
			length = len(rest)
		}
		s.word(separators, rest[:length])
		rest = rest[length:]
	}
}

func isSeparator(r rune) bool {
	return r <= ' ' || bytes.ContainsRune([]byte(`,;:=<>"'()[]{}&|`), r)
}

// word reads a word and what is before it.
func (s *textScanner) word(separators, word []byte) {
	v := value{key: s.before, text: word}
	isTag := bytes.IndexByte(separators, '<') >= 0
	isEmpty := bytes.HasSuffix(word, []byte("/")) // <word/>
	switch {
	case word[0] == '/' && (isTag || isEmpty):
		s.depth = max(s.depth-1, 0)
	case isTag && !isEmpty && word[0] != '!' && word[0] != '?':
		if s.depth < maxElements {
			s.elements[s.depth] = word
		}
		s.depth++
	case s.depth > 0 && bytes.IndexByte(separators, '>') >= 0: // its content
		v.parent, v.key = s.element(2), s.element(1)
	case s.depth > 0:
		v.parent = s.element(1) // of an attribute
	}
	if s.nameless {
		if of, _ := rankOf(v.parent, v.key); of == rankOther {
			v.parent, v.key = nil, nil
		}
	}
	s.found(v)
	s.before = word
}

// element gives the last open element, or one around it.
func (s *textScanner) element(n int) []byte {
	if s.depth < n || s.depth > maxElements {
		return nil
	}
	return s.elements[s.depth-n]
}
