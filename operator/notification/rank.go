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

// class is what a word of a name says.
type class uint16

const (
	classApplication class = 1 << iota
	classObject            // whatever a delivery is about
	classIndividual        // they have ids, too, and numbers that must not be stored
	classOther             // so have these
	classChange            // an object that is named after a change has the id of what has changed
	classReference         // it ends a name that identifies something
	classIdentifier        // so does this
	classNumber            // and this, but only for an application
	classWrapper           // the value belongs to the name around it
)

// classes of words. What a name says depends on the last kind of thing in it: the id of an application_status is no
// application's.
var classes = func() map[string]class {
	all := map[string]class{}
	for of, words := range map[class]string{
		classApplication: "application mandate mandat",
		classObject:      "data object resource entity subject target payload body record item message",
		classIndividual:  "individual person people",
		classOther: "applicant customer client contact owner holder user citizen check document country webhook " +
			"subscription hook account tenant national tax passport identity license licence social phone mobile birth " +
			"postal zip",
		classChange:     "event status state type",
		classReference:  "ref reference",
		classIdentifier: "id identifier pk",
		classNumber:     "number no nr num nummer code key",
		classWrapper:    "value _ $ #text $numberlong n",
	} {
		for word := range strings.FieldsSeq(words) {
			all[word] = of
		}
	}
	return all
}()

// maxWord is as long as the longest of them in the plural.
const maxWord = 16

// classOf a word, in any letter case, also in the plural.
func classOf(word []byte) class {
	var lowered [maxWord]byte
	if len(word) > maxWord {
		return 0
	}
	word = appendLower(lowered[:0], word)
	if of, known := classes[string(word)]; known {
		return of
	}
	return classes[string(bytes.TrimSuffix(word, []byte("s")))]
}

// appendLower appends a word in lower case.
func appendLower(to, word []byte) []byte {
	for _, letter := range word {
		if isUpper(letter) {
			letter += 'a' - 'A'
		}
		to = append(to, letter)
	}
	return to
}

// rankOf a value, by the names around it. It also reports whether a number there may be the id of an application that
// is not known, which is read and stored for the Mandate that waits for it. Everything else can be personal.
func rankOf(parent, key []byte) (of rank, mayBeUnknown bool) {
	if len(parent) > 0 && classOf(key) == classWrapper {
		parent, key = nil, parent
	}
	var split [2][maxNameWords]class
	name := appendClasses(split[0][:0], key)
	about, isReference := cutLast(name, classReference)
	about, isID := cutLast(about, classIdentifier)
	if len(about) > 1 && about[0] == classIdentifier { // id_application
		about, isID = about[1:], true
	}
	about, isNumber := cutLast(about, classNumber)
	isNamed := len(about) < len(name) && len(about) > 0 || len(name) == 1
	fromParent := len(about) == 0 && len(name) > 0
	if fromParent {
		about = appendClasses(split[1][:0], parent)
	}
	is := kindOf(about, fromParent)
	identifies := isReference || isID
	switch {
	case is == classApplication && (identifies || isNumber || isNamed):
		of = rankApplication
	case is == classObject && (identifies || isNamed && !isNumber):
		of = rankObject
	case identifies:
		of = rankID
	default:
		of = rankOther
	}
	return of, is != classOther && !isReference && (of != rankOther || len(key) == 0)
}

// kindOf gives what a name with some words is about: an application, an object, something other, or 0.
func kindOf(about []class, isObject bool) class {
	for i, word := range slices.Backward(about) {
		switch {
		case word == classApplication && i == len(about)-1, word == classObject && len(about) == 1:
			return word
		case word == classApplication, word == classChange && isObject && slices.Contains(about, classApplication):
			return 0
		case word&(classIndividual|classOther|classChange) != 0:
			return classOther
		}
	}
	return 0
}

// cutLast removes the last word of a name, if it is of a class.
func cutLast(name []class, last class) (rest []class, found bool) {
	if len(name) == 0 || name[len(name)-1] != last {
		return name, false
	}
	return name[:len(name)-1], true
}

// maxNameWords is how many words of a name count.
const maxNameWords = 8

// appendClasses appends what the words of a name say: application_id, applicationId, application-id, or applicationid.
func appendClasses(to []class, name []byte) []class {
	name, start := truncateName(name), 0
	for i := range len(name) + 1 {
		isEnd := i == len(name) || !isLetterOrDigit(name[i])
		isNext := !isEnd && i > start && isUpper(name[i]) && !isUpper(name[i-1])
		if (isEnd || isNext) && i > start && len(to) < maxNameWords-1 {
			to = appendClass(to, name[start:i])
		}
		switch {
		case isEnd:
			start = i + 1
		case isNext:
			start = i
		}
	}
	return to
}

// appendClass appends what a word says. Some are often written as one with what they identify.
func appendClass(to []class, word []byte) []class {
	of := classOf(word)
	stem := bytes.TrimSuffix(bytes.TrimSuffix(word, []byte("s")), []byte("S"))
	if of == 0 && len(stem) > 2 && bytes.EqualFold(stem[len(stem)-2:], []byte("id")) {
		if about := classOf(stem[:len(stem)-2]); about != 0 {
			return append(to, about, classIdentifier)
		}
	}
	return append(to, of)
}

func isUpper(letter byte) bool { return 'A' <= letter && letter <= 'Z' }

// isLetterOrDigit reports whether a byte belongs to a word. Letters beyond ASCII have no other bytes.
func isLetterOrDigit(b byte) bool {
	return b >= 0x80 || isUpper(b) || 'a' <= b && b <= 'z' || '0' <= b && b <= '9'
}

// isOfIndividual reports whether a value is of an individual, by its names.
func (p memberPath) isOfIndividual() bool {
	var split [2 * maxNameWords]class
	names := appendClasses(appendClasses(split[:0], []byte(p.parent)), []byte(p.key))
	return slices.Contains(names, classIndividual)
}

// namesOther reports whether a name is about something else than an application.
func namesOther(name []byte) bool {
	var split [maxNameWords]class
	return kindOf(appendClasses(split[:0], name), false) == classOther
}

// truncateName bounds a name, which is only compared with others of the same delivery.
func truncateName(name []byte) []byte { return name[:min(len(name), maxText)] }
