// Package config is the configuration of a sandbox: its accounts, and what each of them has at the start. The sandbox
// reads it from a file, and a program that knows how a service answers can write such a file.
package config

import (
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Config is the configuration of a sandbox. The zero value is a sandbox with one account and the usual reference data.
type Config struct {
	// Seed determines every id. 0 selects a random seed.
	Seed uint64 `json:"seed,omitempty"`
	// RecordBodies adds JSON bodies of requests to the journal, with all personal data in them.
	RecordBodies bool `json:"record_bodies,omitempty"`
	// Accounts are the accounts of the service. The first one gets the requests that belong to none. Default: one.
	Accounts []Account `json:"accounts,omitempty"`
}

// Account is one account of the service. Accounts share nothing but the range of their ids.
type Account struct {
	// Name names the account in the control API: lower-case letters, digits and hyphens. Default: default.
	Name string `json:"name,omitempty"`
	// Username with Password, and ClientID with ClientSecret, are the credentials: one pair or both. Without any, the
	// first account has those of DefaultUsername and so on.
	Username     string `json:"username,omitempty"`
	Password     string `json:"password,omitempty"`
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	// TokenLifetimeSeconds is the lifetime of a token on the account's clock. Default: an hour.
	TokenLifetimeSeconds int64 `json:"token_lifetime_seconds,omitempty"`
	// StartTime sets the clock; it runs on from there. Default: the time of this machine.
	StartTime time.Time `json:"start_time,omitzero"`
	// Autoplay plays the individuals. Default: off, and a step every 500 ms when it is switched on.
	Autoplay control.Autoplay `json:"autoplay,omitzero"`
	// Dialect has the switches that do not have their default.
	Dialect dialect.Dialect `json:"dialect,omitzero"`
	// MandateTypes, Countries and DocumentTypes are the reference data. Default of each: a few usual ones.
	MandateTypes  []MandateType  `json:"mandate_types,omitempty"`
	Countries     []Country      `json:"countries,omitempty"`
	DocumentTypes []DocumentType `json:"document_types,omitempty"`
	// Applications exist at the start. Their e-mails are not in the outbox.
	Applications []Application `json:"applications,omitempty"`
	// Faults are injected into the first requests.
	Faults []control.Fault `json:"faults,omitempty"`
}

// MandateType is a kind of application.
type MandateType struct {
	// ID, Code, Name and Description are as in the reference data. ID and Code are unique.
	ID          int64  `json:"id"`
	Code        string `json:"code"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Checks names the checks of its individuals: document, liveness, address, or a name of your own.
	Checks []string `json:"checks"`
}

// Country is a country of documents and addresses.
type Country struct {
	// Code and Name are as in the reference data.
	Code string `json:"code"`
	Name string `json:"name"`
}

// DocumentType is a kind of identity document.
type DocumentType struct {
	// ID, Code and Name are as in the reference data.
	ID   int64  `json:"id"`
	Code string `json:"code"`
	Name string `json:"name"`
}

// Application is an application that exists at the start.
type Application struct {
	// ID is the id. Default: a random one, as of a create.
	ID int64 `json:"id,omitempty"`
	// MandateType is the code of a mandate type.
	MandateType string `json:"mandate_type"`
	// Name, Reference, SuppressEmailNotification and Individuals are as in a create.
	Name                      string       `json:"name"`
	Reference                 string       `json:"reference,omitempty"`
	SuppressEmailNotification bool         `json:"suppress_email_notification,omitempty"`
	Individuals               []Individual `json:"individuals"`
	// State is the name of the state, also one that the documentation does not have. Default: that of a new application.
	State string `json:"state,omitempty"`
	// Result is the result of the checks in later states than in progress: pass, fail or review. Default: pass.
	Result control.Result `json:"result,omitempty"`
	// Archived archives it.
	Archived bool `json:"archived,omitempty"`
}

// Individual has the details of an individual.
type Individual struct {
	// Email to Reference are as in a create. Use invented people.
	Email       string `json:"email"`
	Title       string `json:"title"`
	FirstName   string `json:"first_name"`
	MiddleName  string `json:"middle_name"`
	LastName    string `json:"last_name"`
	DateOfBirth string `json:"date_of_birth"`
	Gender      string `json:"gender"`
	Reference   string `json:"reference"`
}
