package client

import (
	"net/http"
	"time"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Operation names one documented operation of the service (interface: Endpoints, Summary).
type Operation string

// The operations, in the order of the interface's summary.
const (
	OpToken               Operation = "get access token"
	OpCreateApplication   Operation = "create application"
	OpRetrieveApplication Operation = "retrieve application"
	OpDeleteApplication   Operation = "delete application"
	OpArchiveApplication  Operation = "archive application"
	OpCompleteApplication Operation = "complete application"
	OpRejectApplication   Operation = "reject application"
	OpAcceptCheck         Operation = "accept check"
	OpRejectCheck         Operation = "reject check"
	OpRetrieveIndividual  Operation = "retrieve individual"
	OpResendInvites       Operation = "resend invites"
	OpResetIndividual     Operation = "reset individual"
	OpIndividualReport    Operation = "get individual report"
	OpRetrieveReferences  Operation = "retrieve references"
	OpSubscribeWebhook    Operation = "subscribe to webhook"
	OpRetrieveWebhook     Operation = "retrieve webhook"
)

// effect is what an operation does at the service. How often it is sent, what its answer has to prove, and whether a
// shutdown may cut it short follow from it.
type effect int

// The effects. The zero value is effectEmails: a forgotten entry is safe.
const (
	effectEmails     effect = iota // it may e-mail people: one request, whatever happens
	effectCreate                   // effectEmails, and the answer has to show what was created
	effectLasts                    // it e-mails nobody and cannot be undone: sent again only if nothing was done
	effectRepeatable               // it e-mails nobody, and to repeat it changes nothing more
	effectNone                     // it changes nothing: sent again after any transient fault
	effectLogin                    // it gets a token: one request, because wrong passwords may lock a user
)

func (e effect) emails() bool  { return e == effectEmails || e == effectCreate }
func (e effect) mutates() bool { return e < effectNone }

const (
	// emailDeadline bounds an operation that may e-mail people, and the request itself once more. A shutdown does not
	// cancel it, so both have to fit into the operator's twenty seconds of shutdown, with time to record the response.
	emailDeadline  = 12 * time.Second
	loginDeadline  = 10 * time.Second
	reportDeadline = 2 * time.Minute
	maxToken       = 64 << 10
	maxChanged     = 256 << 10 // more than an application of fifty individuals
)

// effects are the bounds of an operation, by its effect. A report has bounds of its own.
var effects = map[effect]struct {
	deadline time.Duration // for the operation with its retries and login; 0: Config.RequestTimeout
	maxBody  int64         // of the response, after decompression
}{
	effectEmails:     {emailDeadline, maxChanged},
	effectCreate:     {emailDeadline, wire.MaxBytes},
	effectLasts:      {0, maxChanged},
	effectRepeatable: {0, maxChanged},
	effectNone:       {0, wire.MaxBytes},
	effectLogin:      {loginDeadline, maxToken},
}

// operationSpec is what the client knows about an operation. All rules about sending, retrying and reading follow from
// its effect, here and in the table of proof (proof.go). No method has rules of its own.
type operationSpec struct {
	method string // the documented method; empty where the interface shows none
	path   string // below /api/v1; {id} is the one path parameter
	effect effect
}

// The service may e-mail people after a decision (interface: "may trigger follow-up actions") or an archiving.
var operations = map[Operation]operationSpec{
	OpToken:               {http.MethodPost, "/ext/authentications/token", effectLogin},
	OpCreateApplication:   {http.MethodPost, "/ext/applications", effectCreate},
	OpRetrieveApplication: {http.MethodGet, "/ext/applications/{id}", effectNone},
	OpDeleteApplication:   {http.MethodDelete, "/ext/applications/{id}", effectRepeatable},
	OpArchiveApplication:  {http.MethodPatch, "/ext/applications/{id}/archive", effectEmails},
	OpCompleteApplication: {"", "/ext/applications/{id}/complete", effectEmails},
	OpRejectApplication:   {"", "/ext/applications/{id}/reject", effectEmails},
	OpAcceptCheck:         {http.MethodPatch, "/check/{id}/accept", effectEmails},
	OpRejectCheck:         {http.MethodPatch, "/check/{id}/reject", effectEmails},
	OpRetrieveIndividual:  {http.MethodGet, "/ext/individuals/{id}", effectNone},
	OpResendInvites:       {http.MethodPost, "/ext/individuals/{id}/invites/resend", effectEmails},
	OpResetIndividual:     {http.MethodPost, "/ext/individuals/{id}/reset", effectEmails},
	OpIndividualReport:    {http.MethodGet, "/ext/individuals/{id}/report", effectNone},
	OpRetrieveReferences:  {http.MethodGet, "/ext/references", effectNone},
	OpSubscribeWebhook:    {http.MethodPost, "/ext/webhooks/subscribe", effectLasts},
	OpRetrieveWebhook:     {http.MethodGet, "/ext/webhooks/retrieve/{id}", effectNone},
}
