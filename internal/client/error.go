package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Outcome says what is known about the effect of a call that failed.
type Outcome int

const (
	// Unknown: the request may have been carried out. Everything that is not proven to be one of the others, and so
	// the zero value.
	Unknown Outcome = iota
	// NotSent: the request provably never reached the service.
	NotSent
	// Refused: the service answered, and the answer proves that nothing was done.
	Refused
)

// String gives the constant's name.
func (o Outcome) String() string {
	switch o {
	case NotSent:
		return "NotSent"
	case Refused:
		return "Refused"
	default:
		return "Unknown"
	}
}

// Kind says why a call failed; Outcome says what that means for its effect. Decide by these two, not by texts.
type Kind string

// The kinds of failure.
const (
	KindCanceled           Kind = "Canceled"           // the caller ended it: by its context, by Close, or by a writer that failed
	KindTimeout            Kind = "Timeout"            // no complete answer in time
	KindUnreachable        Kind = "Unreachable"        // no connection: name, dial or TLS
	KindConnection         Kind = "Connection"         // the connection broke, or the answer was cut off
	KindCredentials        Kind = "Credentials"        // login refused, or 401/403 with a fresh token
	KindInvalid            Kind = "Invalid"            // 400 or 422, for what e-mails people only with a problem body; or a wrong argument
	KindDuplicateReference Kind = "DuplicateReference" // 400 or 422 with exception.reference on create (interface: Errors, rule 1)
	KindNotFound           Kind = "NotFound"           // 404, 410
	KindMethodNotAllowed   Kind = "MethodNotAllowed"   // 405
	KindConflict           Kind = "Conflict"           // 409
	KindRateLimited        Kind = "RateLimited"        // 429, or the client's own limit
	KindRejected           Kind = "Rejected"           // another 4xx that proves that nothing was done
	KindServer             Kind = "Server"             // 5xx, 408 and whatever else proves nothing
	KindUnreadable         Kind = "Unreadable"         // an answer that is not what the interface says: redirect, not JSON, no id
	KindTooLarge           Kind = "TooLarge"           // an answer above the limit
)

// Error is what every method of Client returns when a call fails. Its text names the operation, the status, the kind
// and known request fields, and holds nothing else: no body, no URL, no reference, no personal data.
type Error struct {
	Operation Operation
	Outcome   Outcome
	Kind      Kind
	// Status of the answer, 0 if there was none. With Login, the status of the token request's answer.
	Status int
	// Login tells that the token request failed; the operation itself was not sent, or was turned away with 401 before.
	Login bool
	// Problem is the RFC 7807 body, nil if the answer had none.
	Problem *Problem
	// RetryAfter is how long the service, or the client's own limits, ask to wait; 0 if nobody said.
	RetryAfter time.Duration

	detail string   // one of our own fixed sentences
	allowedMethods  []string // of a 405: those of our methods that the service allows
	contextErr    error    // context.Canceled or context.DeadlineExceeded, for errors.Is
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Operation))
	if e.Login {
		b.WriteString(": login failed")
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
		if text := http.StatusText(e.Status); text != "" {
			b.WriteString(" " + text)
		}
	}
	if e.detail != "" {
		b.WriteString(": " + e.detail)
	}
	if fields := e.Problem.Fields(); len(fields) > 0 {
		b.WriteString(": see " + strings.Join(fields, ", "))
	}
	switch e.Outcome {
	case NotSent:
		b.WriteString(" (nothing was sent)")
	case Refused:
		b.WriteString(" (nothing was done)")
	default:
		if operations[e.Operation].mutates {
			b.WriteString(" (it is unknown whether it was carried out)")
		}
	}
	return b.String()
}

// Unwrap gives the context's error if the caller's context ended the call, else nil. Transport errors are not
// unwrapped: their texts hold URLs and addresses.
func (e *Error) Unwrap() error { return e.contextErr }

// OutcomeOf gives the Outcome of an error that a Client method returned, and Unknown for any other error.
func OutcomeOf(err error) Outcome {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}

// KindOf gives the Kind of an error that a Client method returned, and "" for any other error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// IsNotFound tells whether the service itself says that the thing does not exist. A login that met a 404 is not that.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == KindNotFound && !e.Login
}

// IsRefusal tells whether the service refused what was asked: not who asked, how often, or the login before it.
func IsRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Outcome == Refused && !e.Login && e.Kind != KindCredentials && e.Kind != KindRateLimited
}

// RetryAfterOf gives how long to wait before trying again, 0 if nobody said.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// asLoginFailure turns the failure of a login into that of the operation that needed it.
func (e *Error) asLoginFailure(op Operation) *Error {
	outer := *e
	outer.Operation, outer.Outcome, outer.Login = op, NotSent, true
	return &outer
}

// worstOutcome is what is known about the effect of two requests of the same call.
func worstOutcome(one, other Outcome) Outcome {
	switch {
	case one == Unknown || other == Unknown:
		return Unknown
	case one == Refused || other == Refused:
		return Refused
	default:
		return NotSent
	}
}
