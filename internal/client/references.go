package client

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// References is the reference data (interface: Retrieve references). Its shape is not documented; lists that were not
// found are empty, and Raw has everything.
type References struct {
	MandateTypes, Countries, DocumentTypes []Reference
	Raw                                    json.RawMessage // no personal data
}

// Reference is one entry of the reference data; what the service did not give is zero.
type Reference struct {
	ID                      int64
	Name, Code, Description string
}

// RetrieveReferences reads country codes, document types and mandate types: GET /ext/references.
// Errors: KindUnreadable if the answer is no JSON object or list.
func (c *Client) RetrieveReferences(ctx context.Context) (*References, error) {
	answer, err := c.do(ctx, call{op: OpRetrieveReferences})
	if err != nil {
		return nil, err
	}
	return parseReferences(answer)
}

// The words by which the three lists are told apart, whatever exactly they are called, and those that tell that a list
// is none of them, such as the states of mandates.
var (
	mandateWords  = []string{"mandate", "application"}
	countryWords  = []string{"countr"}
	documentWords = []string{"document"}
	otherWords    = []string{"status", "state", "reason", "action"}
)

func parseReferences(answer *answer) (*References, error) {
	if len(answer.body) == 0 || answer.body[0] != '{' && answer.body[0] != '[' || !json.Valid(answer.body) {
		return nil, unreadable(answer, "the answer is neither a JSON object nor a list")
	}
	references := &References{Raw: json.RawMessage(answer.body)}
	references.add(references.Raw, 0)
	return references, nil
}

// add finds the lists among the members of an object, or sorts the entries of one list by the member that names their
// type, and looks into what only wraps either.
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
	name = FoldName(name)
	contains := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
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
	if id, ok := parseID(json.RawMessage(m.name)); ok && reference.ID == 0 {
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

// MandateType finds a mandate type by id, by code or by name, whichever is set; code and name without regard to letter
// case. False if it is not in the reference data, or if several are that differ in their ids: a guess would create the
// wrong application.
func (r *References) MandateType(want Reference) (Reference, bool) {
	return FindReference(r.MandateTypes, want)
}

// FindReference looks an entry up by id, by code or by name, whichever want has. False if none fits, or several that are not the
// same.
func FindReference(references []Reference, want Reference) (Reference, bool) {
	matches := MatchReferences(references, want)
	if len(matches) != 1 {
		return Reference{}, false
	}
	return matches[0], true
}

// MatchReferences gives the entries that fit by id, by code or by name, whichever want has; code and name without regard to
// letter case. What the service lists twice is given once.
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

// same goes by the id. Countries often have none; then code and name decide.
func (r Reference) same(other Reference) bool {
	if r.ID != 0 || other.ID != 0 {
		return r.ID == other.ID
	}
	return r.Code == other.Code && r.Name == other.Name
}
