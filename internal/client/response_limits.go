package client

import (
	"encoding/json"
	"errors"
)

// What a response costs when it is read is not bounded by its bytes: a megabyte of {} is 350,000 individuals. Each
// limit here is above what the shapes of the interface reach within maxJSON, so that no plausible response meets it.
const (
	// maxDepth of objects and lists. The deepest value of the interface, in the results of a check of an individual of an
	// application, is in seven; objects around a response add a few.
	maxDepth = 32
	// maxValues in a response. A documented value and its name take more than eight bytes.
	maxValues = maxJSON / 8
	// maxEntries of one object or list. A longest list that is plausible has all countries or all document types.
	maxEntries = 10_000
	// maxItems is the number of individuals, checks and actions of one application together. A documented check with one
	// result takes more than 200 bytes, and an individual more than 400.
	maxItems = maxJSON / 200
	// maxIndividuals of one application, by the same reckoning.
	maxIndividuals = maxJSON / 400
	// maxMandateTypes: people set mandate types up one by one.
	maxMandateTypes = 2_000
	// maxTexts bounds the bytes of all texts that are kept of a response: names of members, ids and everything that is not
	// kept take more than half of a documented one.
	maxTexts = maxJSON / 2
	// maxName is the length of a name of a member that may be one of the interface's, with characters between words.
	maxName = 256
)

// limitError says which limit a response exceeds. It is one of the texts of this package.
type limitError string

// Error implements error.
func (e limitError) Error() string { return string(e) }

// checkSize finds the limits that can be told without decoding. It allocates nothing.
func checkSize(data []byte) error {
	var entries [maxDepth + 1]int // of each object and list that is open
	depth, values := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			depth++
			if depth > maxDepth {
				return limitError("the response is nested too deeply")
			}
			entries[depth] = 0
		case '}', ']':
			depth = max(depth-1, 0)
			continue
		case ',':
		default:
			continue
		}
		entries[depth]++
		values++
		if entries[depth] > maxEntries || values > maxValues {
			return limitError("the response holds too many values")
		}
	}
	return nil
}

// object is the JSON object that a response is.
func (r *response) object() (object, error) {
	if err := checkSize(r.body); err != nil {
		return nil, err
	}
	return parseObject(r.body)
}

// unusable is the error of a response that cannot be read, or that would cost too much.
func unusable(r *response, err error, detail string) *Error {
	if limit, ok := errors.AsType[limitError](err); ok {
		return &Error{Operation: r.operation, Kind: KindTooLarge, Status: r.status, detail: string(limit)}
	}
	return unreadable(r, detail)
}

// decoder counts what it takes over of one response.
type decoder struct{ items, individuals, texts int }

// take counts an item, and reports whether there may be one more.
func (d *decoder) take() bool {
	d.items++
	return d.items <= maxItems
}

// text is that of the object, and is counted.
func (d *decoder) text(o object, names ...string) string {
	text := o.text(names...)
	d.texts += len(text)
	return text
}

func (d *decoder) state(raw json.RawMessage) State {
	state := parseState(raw)
	d.texts += len(state.Name)
	return state
}

func (d *decoder) exceeded() bool { return d.err() != nil }

// err says which limit was exceeded, or nil.
func (d *decoder) err() error {
	switch {
	case d.items > maxItems || d.individuals > maxIndividuals:
		return limitError("the response holds too many individuals, checks or actions")
	case d.texts > maxTexts:
		return limitError("the response holds too much text")
	default:
		return nil
	}
}
