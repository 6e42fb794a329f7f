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

// retryClass says which requests the client may retry.
type retryClass int

const (
	// retryNever: one request, whatever happens. It is the zero value, so that a forgotten entry is safe.
	retryNever retryClass = iota
	// retryIfNotExecuted: retried only if nothing was done: the request did not leave, or met a rate limit.
	retryIfNotExecuted
	// retrySafe: retried after any transient fault; the operation changes nothing.
	retrySafe
)

// operationSpec is what the client knows about an operation. All rules about sending, retrying and reading are here as
// data; no method has rules of its own.
type operationSpec struct {
	method       string // the documented method; empty where the interface shows none
	path         string // below /api/v1; {id} is the one path parameter
	mutates      bool
	emailsPeople bool // sent once, never canceled, never replayed
	bodyOptional bool // any 2xx is success, with whatever body
	retry        retryClass
	deadline     time.Duration // for the operation with its retries and login; 0: Config.RequestTimeout
	maxBody      int64         // of the response, after decompression; a report has its caller's limit
}

const (
	// emailDeadline bounds an operation that e-mails people, and the request itself once more. A shutdown does not cancel
	// the request, so both have to fit into the operator's twenty seconds of shutdown, with time to record the response.
	emailDeadline  = 12 * time.Second
	loginDeadline  = 10 * time.Second
	reportDeadline = 2 * time.Minute
	maxJSON        = 1 << 20
	maxToken       = 64 << 10
	// maxChanged is more than an application of fifty individuals. Responses to changes take nothing of a Budget.
	maxChanged = 256 << 10
	// maxInvited is that of an operation that e-mails somebody and responds with nothing that matters.
	maxInvited = 64 << 10
)

var operations = map[Operation]operationSpec{
	OpToken: {
		method: http.MethodPost, path: "/ext/authentications/token", retry: retryNever, deadline: loginDeadline,
		maxBody: maxToken,
	},
	OpCreateApplication:   emailOperation("/ext/applications", false, maxJSON),
	OpRetrieveApplication: readOperation("/ext/applications/{id}"),
	OpDeleteApplication:   mutatingOperation(http.MethodDelete, "/ext/applications/{id}"),
	OpArchiveApplication:  mutatingOperation(http.MethodPatch, "/ext/applications/{id}/archive"),
	OpCompleteApplication: mutatingOperation("", "/ext/applications/{id}/complete"),
	OpRejectApplication:   mutatingOperation("", "/ext/applications/{id}/reject"),
	OpAcceptCheck:         mutatingOperation(http.MethodPatch, "/check/{id}/accept"),
	OpRejectCheck:         mutatingOperation(http.MethodPatch, "/check/{id}/reject"),
	OpRetrieveIndividual:  readOperation("/ext/individuals/{id}"),
	OpResendInvites:       emailOperation("/ext/individuals/{id}/invites/resend", true, maxInvited),
	OpResetIndividual:     emailOperation("/ext/individuals/{id}/reset", true, maxInvited),
	OpIndividualReport: {
		method: http.MethodGet, path: "/ext/individuals/{id}/report", retry: retrySafe, deadline: reportDeadline,
		maxBody: maxJSON,
	},
	OpRetrieveReferences: readOperation("/ext/references"),
	OpSubscribeWebhook:   mutatingOperation(http.MethodPost, "/ext/webhooks/subscribe"),
	OpRetrieveWebhook:    readOperation("/ext/webhooks/retrieve/{id}"),
}

// maxProblem is the limit of a body with another status than 2xx. Nothing depends on what a read's says.
func (o operationSpec) maxProblem() int64 {
	if o.mutates {
		return o.maxBody
	}
	return smallBody
}

// readOperation is an operation that changes nothing.
func readOperation(path string) operationSpec {
	return operationSpec{method: http.MethodGet, path: path, retry: retrySafe, maxBody: maxJSON}
}

// mutatingOperation is an operation that changes something and e-mails nobody. The shape of its response is not
// documented.
func mutatingOperation(method, path string) operationSpec {
	return operationSpec{
		method: method, path: path, mutates: true, bodyOptional: true, retry: retryIfNotExecuted, maxBody: maxChanged,
	}
}

// emailOperation is an operation that e-mails people.
func emailOperation(path string, bodyOptional bool, maxBody int64) operationSpec {
	return operationSpec{
		method: http.MethodPost, path: path, mutates: true, emailsPeople: true, bodyOptional: bodyOptional,
		retry: retryNever, deadline: emailDeadline, maxBody: maxBody,
	}
}
