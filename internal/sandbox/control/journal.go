package control

import "time"

// Request is a request of the service's interface, as the journal has it.
type Request struct {
	Sequence  int64     `json:"sequence"`
	Time      time.Time `json:"time"` // on the account's clock
	Account   string    `json:"account"`
	Operation Operation `json:"operation"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	// Status is the status code of the response; 0 means that there is none yet, or that a fault kept it back.
	Status int `json:"status"`
	// Reference is the member reference of the body, which names an application.
	Reference string `json:"reference,omitempty"`
	// BodyDigest is the SHA-256 of a JSON body, in hex. A token request has none.
	BodyDigest string `json:"body_digest,omitempty"`
	// Body is there only if the configuration says record_bodies.
	Body string `json:"body,omitempty"`
}

// RequestQuery selects requests of the journal. Empty fields select all.
type RequestQuery struct {
	Account   string    `json:"account,omitempty"`
	Operation Operation `json:"operation,omitempty"`
	Method    string    `json:"method,omitempty"`
	Path      string    `json:"path,omitempty"`
	Status    int       `json:"status,omitempty"`
	Reference string    `json:"reference,omitempty"`
}

// Matches reports whether the query selects a request.
func (q RequestQuery) Matches(r Request) bool {
	return matches(q.Account, r.Account) && matches(q.Operation, r.Operation) && matches(q.Method, r.Method) &&
		matches(q.Path, r.Path) && matches(q.Status, r.Status) && matches(q.Reference, r.Reference)
}

// EmailQuery selects e-mails of an account's outbox. Empty fields select all.
type EmailQuery struct {
	Address             string    `json:"address,omitempty"`
	Kind                EmailKind `json:"kind,omitempty"`
	Reference           string    `json:"reference,omitempty"`
	IndividualReference string    `json:"individual_reference,omitempty"`
}

// Matches reports whether the query selects an e-mail.
func (q EmailQuery) Matches(e Email) bool {
	return matches(q.Address, e.Address) && matches(q.Kind, e.Kind) && matches(q.Reference, e.Reference) &&
		matches(q.IndividualReference, e.IndividualReference)
}

func matches[T comparable](wanted, got T) bool {
	var all T
	return wanted == all || wanted == got
}

// RequestVerification says how many requests a query must select.
type RequestVerification struct {
	RequestQuery
	Count *int `json:"count"` // required
}

// EmailVerification says how many e-mails a query must select.
type EmailVerification struct {
	EmailQuery
	Count *int `json:"count"` // required
}
