package state

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/config"
)

// References is the account's reference data.
type References struct {
	MandateTypes  []MandateType
	Countries     []config.Country
	DocumentTypes []config.DocumentType
}

// MandateType is a kind of application; it decides which checks its individuals have.
type MandateType struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Code        string `json:"code"`
	Description string `json:"description"`

	checks []checkKind
}

func (t MandateType) hasCheck(name string) bool {
	return slices.ContainsFunc(t.checks, func(kind checkKind) bool { return kind.name == name })
}

// NewReferences returns the reference data of a configuration.
func NewReferences(c config.Account) References {
	references := References{Countries: c.Countries, DocumentTypes: c.DocumentTypes}
	for _, t := range c.MandateTypes {
		kind := MandateType{ID: t.ID, Name: t.Name, Code: t.Code, Description: t.Description}
		for _, name := range t.Checks {
			kind.checks = append(kind.checks, kindOf(name))
		}
		references.MandateTypes = append(references.MandateTypes, kind)
	}
	return references
}

// mandateType returns a zero value if there is none.
func (r References) mandateType(is func(MandateType) bool) (MandateType, bool) {
	i := slices.IndexFunc(r.MandateTypes, is)
	if i < 0 {
		return MandateType{}, false
	}
	return r.MandateTypes[i], true
}

// Action is a possible or completed action.
type Action struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

// checkKind defines a kind of check.
type checkKind struct {
	name, title string
	action      Action
	fields      []checkField
	instance    map[string]string
}

// checkField is a field of a check, with the result of one that failed. The field that fails is the last one.
type checkField struct {
	id      int64
	failure string
}

var (
	documentCheck = checkKind{
		name: config.DocumentCheck, title: "Identity document",
		action:   Action{61, "upload_document", "Photograph an identity document"},
		fields:   []checkField{{3101, "no match"}, {3102, "expired"}, {3107, "signs of alteration"}},
		instance: map[string]string{"document_type": "passport", "country_code": "GB"},
	}
	livenessCheck = checkKind{
		name: config.LivenessCheck, title: "Liveness",
		action:   Action{64, "record_liveness", "Record a short video"},
		fields:   []checkField{{3201, "no face in the video"}},
		instance: map[string]string{"method": "video"},
	}
	addressCheck = checkKind{
		name: config.AddressCheck, title: "Proof of address",
		action:   Action{69, "provide_address", "Give the current address"},
		fields:   []checkField{{3301, "no match"}, {3304, "older than three months"}},
		instance: map[string]string{"source": "utility_bill"},
	}
)

// kindOf returns the kind of check with a name. One of the user's own has one field.
func kindOf(name string) checkKind {
	for _, kind := range []checkKind{documentCheck, livenessCheck, addressCheck} {
		if kind.name == name {
			return kind
		}
	}
	title := strings.ReplaceAll(name, "_", " ")
	title = strings.ToUpper(title[:1]) + title[1:]
	return checkKind{
		name: name, title: title, action: Action{71, "complete_" + name, "Complete: " + title},
		fields: []checkField{{3901, "no match"}},
	}
}
