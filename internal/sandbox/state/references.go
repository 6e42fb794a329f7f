package state

import "slices"

// References is the account's reference data.
type References struct {
	MandateTypes  []MandateType
	Countries     []Country
	DocumentTypes []DocumentType
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

// Country is a country of documents and addresses.
type Country struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// DocumentType is a kind of identity document.
type DocumentType struct {
	ID   int64  `json:"id"`
	Code string `json:"code"`
	Name string `json:"name"`
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
		name: "document", title: "Identity document",
		action:   Action{61, "upload_document", "Photograph an identity document"},
		fields:   []checkField{{3101, "no match"}, {3102, "expired"}, {3107, "signs of alteration"}},
		instance: map[string]string{"document_type": "passport", "country_code": "GB"},
	}
	livenessCheck = checkKind{
		name: "liveness", title: "Liveness",
		action:   Action{64, "record_liveness", "Record a short video"},
		fields:   []checkField{{3201, "no face in the video"}},
		instance: map[string]string{"method": "video"},
	}
	addressCheck = checkKind{
		name: "address", title: "Proof of address",
		action:   Action{69, "provide_address", "Give the current address"},
		fields:   []checkField{{3301, "no match"}, {3304, "older than three months"}},
		instance: map[string]string{"source": "utility_bill"},
	}
)

var references = References{
	MandateTypes: []MandateType{
		{ID: 17, Code: "kyc", Name: "Know your customer", Description: "Document, liveness and proof of address",
			checks: []checkKind{documentCheck, livenessCheck, addressCheck}},
		{ID: 23, Code: "identity", Name: "Identity", Description: "Document and liveness",
			checks: []checkKind{documentCheck, livenessCheck}},
		{ID: 42, Code: "address", Name: "Address", Description: "Proof of address only",
			checks: []checkKind{addressCheck}},
	},
	Countries: []Country{
		{"AU", "Australia"}, {"DE", "Germany"}, {"FR", "France"}, {"GB", "United Kingdom"}, {"US", "United States"},
	},
	DocumentTypes: []DocumentType{
		{31, "passport", "Passport"},
		{32, "driving_licence", "Driving licence"},
		{38, "national_id", "National identity card"},
	},
}

// AllReferences returns the reference data, which is the same for every account.
func AllReferences() References { return references }

func mandateType(id int64) (MandateType, bool) {
	for _, t := range references.MandateTypes {
		if t.ID == id {
			return t, true
		}
	}
	return MandateType{}, false
}
