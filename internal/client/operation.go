package client

import (
	"net/http"
	"time"
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

// retryClass says what the client may send again by itself.
type retryClass int

const (
	// retryNever: one request, whatever happens. The zero value, so that a forgotten entry is the safe one.
	retryNever retryClass = iota
	// retryIfNotExecuted: again only when provably nothing was done: the request never left, or was turned away by a rate limit.
	retryIfNotExecuted
	// retrySafe: again after any passing fault; the operation changes nothing.
	retrySafe
)

// operationSpec is what the client knows about an operation. Everything that decides about sending, repeating or reading
// is here as data; no method carries rules of its own.
type operationSpec struct {
	method   string // the documented method; empty where the interface shows none
	path     string // below /api/v1; {id} stands for the one path parameter
	mutates bool
	emailsPeople   bool // real people get mail: sent once, never cut short, never replayed
	bodyOptional     bool // any 2xx is success: the answer's body is read if it can be, and not needed
	retry    retryClass
	deadline time.Duration // for the whole call, retries and login included; 0: Config.RequestTimeout
	maxBody  int64         // of the answer, after decompression; a report's own limit is the caller's
}

const (
	// emailDeadline bounds a call that e-mails people, and once more the request itself. The request is not cut by a
	// shutdown, so it has to fit into the twenty seconds in which the operator ends, with time left to write the answer
	// down.
	emailDeadline  = 12 * time.Second
	loginDeadline  = 10 * time.Second
	reportDeadline = 2 * time.Minute
	maxJSON        = 1 << 20
	maxToken       = 64 << 10
)

var operations = map[Operation]operationSpec{
	OpToken:               {method: http.MethodPost, path: "/ext/authentications/token", retry: retryNever, deadline: loginDeadline, maxBody: maxToken},
	OpCreateApplication:   {method: http.MethodPost, path: "/ext/applications", mutates: true, emailsPeople: true, retry: retryNever, deadline: emailDeadline, maxBody: maxJSON},
	OpRetrieveApplication: {method: http.MethodGet, path: "/ext/applications/{id}", retry: retrySafe, maxBody: maxJSON},
	OpDeleteApplication:   {method: http.MethodDelete, path: "/ext/applications/{id}", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpArchiveApplication:  {method: http.MethodPatch, path: "/ext/applications/{id}/archive", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpCompleteApplication: {path: "/ext/applications/{id}/complete", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpRejectApplication:   {path: "/ext/applications/{id}/reject", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpAcceptCheck:         {method: http.MethodPatch, path: "/check/{id}/accept", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpRejectCheck:         {method: http.MethodPatch, path: "/check/{id}/reject", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpRetrieveIndividual:  {method: http.MethodGet, path: "/ext/individuals/{id}", retry: retrySafe, maxBody: maxJSON},
	OpResendInvites:       {method: http.MethodPost, path: "/ext/individuals/{id}/invites/resend", mutates: true, emailsPeople: true, bodyOptional: true, retry: retryNever, deadline: emailDeadline, maxBody: maxJSON},
	OpResetIndividual:     {method: http.MethodPost, path: "/ext/individuals/{id}/reset", mutates: true, emailsPeople: true, bodyOptional: true, retry: retryNever, deadline: emailDeadline, maxBody: maxJSON},
	OpIndividualReport:    {method: http.MethodGet, path: "/ext/individuals/{id}/report", retry: retrySafe, deadline: reportDeadline, maxBody: maxJSON},
	OpRetrieveReferences:  {method: http.MethodGet, path: "/ext/references", retry: retrySafe, maxBody: maxJSON},
	OpSubscribeWebhook:    {method: http.MethodPost, path: "/ext/webhooks/subscribe", mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxJSON},
	OpRetrieveWebhook:     {method: http.MethodGet, path: "/ext/webhooks/retrieve/{id}", retry: retrySafe, maxBody: maxJSON},
}
