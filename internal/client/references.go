package client

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// References is the reference data (interface: Retrieve references). Its shape is our reading; a missing list is empty.
type References struct {
	MandateTypes, Countries, DocumentTypes []Reference

	Complete bool            // the service did not say that there is more
	Raw      json.RawMessage // the whole response, or the list of its pages; it holds no personal data
	next     string          // the query of the next page
}

// Reference is one entry of the reference data. What the service left out is zero.
type Reference struct {
	ID                      int64
	Name, Code, Description string
}

const maxPages = 20

// RetrieveReferences reads country codes, document types and mandate types: GET /ext/references. If the response names
// a next page, the client reads up to 20 pages (not documented: our reading). Transient faults are retried.
// Errors: KindUnreadable if the response is no JSON object or list.
func (c *Client) RetrieveReferences(ctx context.Context) (*References, error) {
	all := &References{}
	var pages []json.RawMessage
	for len(pages) == 0 || all.next != "" && len(pages) < maxPages {
		q := newRequest(OpRetrieveReferences, 0)
		q.query = all.next
		if _, err := do(ctx, c, q, all.addPage); err != nil {
			return nil, err
		}
		pages = append(pages, all.Raw)
	}
	if len(pages) > 1 {
		all.Raw, _ = json.Marshal(pages) //nolint:errchkjson // each is valid JSON
	}
	return all, nil
}

// addPage finds the lists among the members of objects, and sorts the entries of one list by their type.
func (r *References) addPage(a *answer) (*References, error) {
	if !a.value.IsObject() && !a.value.IsList() {
		return nil, a.unreadable("the response is neither a JSON object nor a list")
	}
	next, more := a.value.NextPage(a.Header)
	r.Complete, r.next = !more, next
	r.Raw = a.raw().Reveal()
	a.value.Walk(5, func(m wire.Member) bool {
		list := r.list(m.Name)
		if list != nil {
			*list = append(*list, parseReferenceList(m.Value)...)
		} else if m.Name == "" {
			if list = r.list(m.Value.Object().Text("type", "kind", "category")); list != nil {
				*list = append(*list, parseReference(m.Value))
			}
		}
		return list == nil
	})
	return r, nil
}

// What the folded names of the three lists have in them, and of others, such as the states of mandates.
var (
	mandateList = regexp.MustCompile(`^(mandate|application)s?$|` +
		`(mandate|application).*(type|kind|categor)|(type|kind|categor).*(mandate|application)`)
	documentList = regexp.MustCompile(`document`)
	countryList  = regexp.MustCompile(`countr`)
	otherList    = regexp.MustCompile(`status|state|reason|action|role|channel|source`)
	// aroundLists are names beside lists in an answer, and none of a group of entries.
	aroundLists = regexp.MustCompile(`^((state|reason|action|role|channel|source|link|error)s?|status(es)?|meta(data)?)$`)
)

func (r *References) list(name string) *[]Reference {
	if len(name) > wire.MaxName {
		return nil
	}
	switch folded := wire.FoldName(name); {
	case otherList.MatchString(folded):
		return nil
	case documentList.MatchString(folded):
		return &r.DocumentTypes
	case countryList.MatchString(folded):
		return &r.Countries
	case mandateList.MatchString(folded):
		return &r.MandateTypes
	default:
		return nil
	}
}

// parseReferenceList reads a list, alone, wrapped or in groups, or a map from code or id to a name, an id or an object.
func parseReferenceList(value wire.Value) []Reference {
	var references []Reference
	for _, item := range value.List() {
		if code, ok := item.AsString(); ok {
			references = append(references, Reference{Code: code, Name: code})
		} else if item.IsObject() {
			references = append(references, parseReference(item))
		}
	}
	var grouped []Reference
	for _, m := range value.Object() {
		if len(m.Value.List()) > 0 && !aroundLists.MatchString(wire.FoldName(m.Name)) {
			grouped = append(grouped, parseReferenceList(m.Value)...)
		}
		references = append(references, parseReferenceMember(m))
	}
	if grouped != nil {
		return grouped
	}
	return references
}

// parseReferenceMember reads one member of a map: "GB": "United Kingdom", "7": "KYC", "kyc": 7, or "kyc": {...}.
func parseReferenceMember(m wire.Member) Reference {
	reference := parseReference(m.Value)
	if name, ok := m.Value.AsString(); ok {
		reference = Reference{Name: name}
	}
	if id, ok := wire.ParseID(m.Name); ok && reference.ID == 0 {
		reference.ID = id
	} else if reference.Code == "" {
		reference.Code = strings.Clone(m.Name) // not a part of the whole response
	}
	return reference
}

// parseReference reads an object, or an id alone.
func parseReference(value wire.Value) Reference {
	id, _ := value.ID()
	o := value.Object()
	return Reference{
		ID: cmp.Or(id, o.ID("id", "value")), Code: o.Text("code", "key", "iso_code", "country_code"),
		Name: o.Text("name", "title", "label", "text"), Description: o.Text("description"),
	}
}

// MatchReferences returns the entries whose id, code or name is that of want, each once. Zero fields of want match
// nothing. Letter case makes no difference. With several matches, a guess could create the wrong application.
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
	return r.ID == other.ID && (r.ID != 0 || r.Code == other.Code && r.Name == other.Name)
}
