package client

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// References is the reference data (interface: Retrieve references). Its shape is not documented: our reading. A list
// that was not found is empty; Raw has everything.
type References struct {
	MandateTypes, Countries, DocumentTypes []Reference
	Raw                                    json.RawMessage // holds no personal data
}

// Reference is one entry of the reference data. What the service left out is zero.
type Reference struct {
	ID                      int64
	Name, Code, Description string
}

// RetrieveReferences reads country codes, document types and mandate types: GET /ext/references. Transient faults are
// retried.
// Errors: KindUnreadable if the response is no JSON object or list.
func (c *Client) RetrieveReferences(ctx context.Context) (*References, error) {
	var references *References
	parse := func(r *response) (err error) {
		references, err = parseReferences(r)
		return err
	}
	_, err := c.do(ctx, request{op: OpRetrieveReferences, parse: parse})
	return references, err
}

// Parts of the names of the three lists, and parts of names that are none of them, such as the states of mandates.
var (
	mandateWords  = []string{"mandate", "application"}
	countryWords  = []string{"countr"}
	documentWords = []string{"document"}
	otherWords    = []string{"status", "state", "reason", "action"}
)

func parseReferences(response *response) (*References, error) {
	body := response.body
	if err := checkSize(body); err != nil {
		return nil, unusable(response, err, "")
	}
	if !json.Valid(body) || body[0] != '{' && body[0] != '[' {
		return nil, unreadable(response, "the response is neither a JSON object nor a list")
	}
	references := &References{Raw: response.raw().Reveal()}
	references.add(body, 0)
	if references.size() > maxTexts || len(references.MandateTypes) > maxMandateTypes {
		return nil, unusable(response, limitError("the response holds too much reference data"), "")
	}
	return references, nil
}

// size is the length of all texts.
func (r *References) size() (bytes int) {
	for _, list := range [][]Reference{r.MandateTypes, r.Countries, r.DocumentTypes} {
		for i := range list {
			bytes += len(list[i].Name) + len(list[i].Code) + len(list[i].Description)
		}
	}
	return bytes
}

// add finds the lists among the members of an object, or sorts the entries of one list by the member that names their
// type. It looks into other objects and lists.
func (r *References) add(raw json.RawMessage, depth int) {
	if depth > 4 {
		return
	}
	if items, ok := asList(raw); ok {
		for _, item := range items {
			o, _ := asObject(item)
			if list := r.list(o.text("type", "kind", "category")); list != nil {
				*list = append(*list, parseReference(o))
			} else {
				r.add(item, depth+1)
			}
		}
		return
	}
	o, _ := asObject(raw)
	for _, m := range o {
		if list := r.list(string(m.name)); list != nil {
			*list = append(*list, parseReferenceList(m.value)...)
		} else {
			r.add(m.value, depth+1)
		}
	}
}

func (r *References) list(name string) *[]Reference {
	if len(name) > maxName {
		return nil
	}
	name = FoldName(name)
	contains := func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
	}
	switch {
	case contains(otherWords):
		return nil
	case contains(documentWords):
		return &r.DocumentTypes
	case contains(countryWords):
		return &r.Countries
	case contains(mandateWords):
		return &r.MandateTypes
	default:
		return nil
	}
}

// parseReferenceList reads a list of objects or strings, alone or wrapped, or a map from code or id to a name, an id or
// an object.
func parseReferenceList(raw json.RawMessage) []Reference {
	var references []Reference
	if items, ok := asList(raw); ok {
		for _, item := range items {
			if o, ok := asObject(item); ok {
				references = append(references, parseReference(o))
			} else if code, ok := parseString(item); ok {
				references = append(references, Reference{Code: code, Name: code})
			}
		}
		return references
	}
	o, _ := asObject(raw)
	for _, m := range o {
		if items, ok := asList(m.value); ok && len(items) > 0 {
			return parseReferenceList(m.value)
		}
		references = append(references, parseReferenceMember(m))
	}
	return references
}

// parseReferenceMember reads one member of a map: "GB": "United Kingdom", "7": "KYC", "kyc": 7, or "kyc": {...}.
func parseReferenceMember(m member) Reference {
	var reference Reference
	if o, ok := asObject(m.value); ok {
		reference = parseReference(o)
	} else if name, ok := parseString(m.value); ok {
		reference.Name = name
	} else {
		reference.ID, _ = parseID(m.value)
	}
	if id, ok := parseDigits(string(m.name)); ok && reference.ID == 0 {
		reference.ID = id
	} else if reference.Code == "" {
		reference.Code = string(m.name)
	}
	return reference
}

func parseReference(o object) Reference {
	return Reference{
		ID: o.id("id", "value"), Code: o.text("code", "key", "iso_code", "country_code"),
		Name: o.text("name", "title", "label", "text"), Description: o.text("description"),
	}
}

// FindReference returns the one entry that matches (MatchReferences). It returns false if none matches, or several do:
// a guess could create the wrong application.
func FindReference(references []Reference, want Reference) (Reference, bool) {
	matches := MatchReferences(references, want)
	if len(matches) != 1 {
		return Reference{}, false
	}
	return matches[0], true
}

// MatchReferences returns the entries whose id, code or name is that of want, each once. Zero fields of want match
// nothing. Letter case makes no difference.
func MatchReferences(references []Reference, want Reference) []Reference {
	var matches []Reference
	for _, have := range references {
		fits := want.ID != 0 && want.ID == have.ID ||
			want.Code != "" && strings.EqualFold(want.Code, have.Code) ||
			want.Name != "" && strings.EqualFold(want.Name, have.Name)
		if fits && !slices.ContainsFunc(matches, have.same) {
			matches = append(matches, have)
		}
	}
	return matches
}

// same reports whether two entries are the same: by id or, for entries without ids such as countries, by code and name.
func (r Reference) same(other Reference) bool {
	if r.ID != 0 || other.ID != 0 {
		return r.ID == other.ID
	}
	return r.Code == other.Code && r.Name == other.Name
}
