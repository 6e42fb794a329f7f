package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Outcome says what is known about the effect of an operation that failed.
type Outcome int

const (
	// Unknown: the request may have been carried out. It is the zero value, because it holds for everything that is not
	// confirmed to be one of the others.
	Unknown Outcome = iota
	// NotSent: no request reached the service.
	NotSent
	// Refused: the service responded, and the response proves that nothing was done.
	Refused
)

// String returns the constant's name.
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

// Kind says why an operation failed, and Outcome what that means for its effect. Decide by these two, not by texts.
type Kind string

// The kinds of failure. The interface documents few statuses (interface: Errors); the rest is our reading.
const (
	// KindCanceled: the caller's context was canceled, the client was closed, or the caller's writer failed.
	KindCanceled Kind = "Canceled"
	// KindTimeout: no complete response in time.
	KindTimeout Kind = "Timeout"
	// KindUnreachable: no connection, because of name resolution, dialing or TLS.
	KindUnreachable Kind = "Unreachable"
	// KindConnection: the connection broke, or the response was truncated.
	KindConnection Kind = "Connection"
	// KindCredentials: the login was refused, or a new token was answered with 401 or 403.
	KindCredentials Kind = "Credentials"
	// KindInvalid: 400 or 422 (for operations that e-mail people only with a problem body), or an invalid argument.
	KindInvalid Kind = "Invalid"
	// KindDuplicateReference: 400 or 422 with exception.reference on create (interface: Errors).
	KindDuplicateReference Kind = "DuplicateReference"
	// KindNotFound: 404 or 410.
	KindNotFound Kind = "NotFound"
	// KindMethodNotAllowed: 405.
	KindMethodNotAllowed Kind = "MethodNotAllowed"
	// KindConflict: 409.
	KindConflict Kind = "Conflict"
	// KindRateLimited: 429, or the client's own limits: of its rate, or of large responses at one time (Config.Budget).
	KindRateLimited Kind = "RateLimited"
	// KindRejected: another 4xx that proves that nothing was done.
	KindRejected Kind = "Rejected"
	// KindServer: 5xx, 408, and every other status that proves nothing.
	KindServer Kind = "Server"
	// KindUnreadable: a response that differs from the interface: a redirect, no JSON, no id.
	KindUnreadable Kind = "Unreadable"
	// KindTooLarge: a response above the size limit.
	KindTooLarge Kind = "TooLarge"
)

// Error is what every method of Client returns when an operation fails. Its text names the operation, the status, what
// failed, and known request fields. It holds nothing else: no body, no URL, no reference, no personal data.
type Error struct {
	Operation Operation
	Outcome   Outcome
	Kind      Kind
	// Status of the response, 0 if there was none. With Login, that of the token request's response.
	Status int
	// Login reports that the token request failed. The operation itself was not sent, or was answered with 401 before.
	Login bool
	// Problem is the RFC 7807 body (interface: Errors), nil if the response had none.
	Problem *Problem
	// RetryAfter is how long the service, or the client's own limits, ask to wait; 0 if neither does.
	RetryAfter time.Duration

	detail         string   // one of this package's fixed texts
	allowedMethods []string // of a 405: the transition methods that the service allows
	contextErr     error    // context.Canceled or context.DeadlineExceeded, for errors.Is
}

// Error implements error: what failed, why, and what is known about the effect.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Operation))
	if e.Login {
		b.WriteString(": login failed")
	}
	if e.Status != 0 {
		b.WriteString(": HTTP " + strconv.Itoa(e.Status))
		if text := http.StatusText(e.Status); text != "" {
			b.WriteString(" " + text)
		}
	}
	if e.detail != "" {
		b.WriteString(": " + e.detail)
	}
	if fields := e.Problem.Fields(); len(fields) > 0 {
		b.WriteString("; invalid fields: " + strings.Join(fields[:min(len(fields), maxShownFields)], ", "))
		if more := len(fields) - maxShownFields; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	switch e.Outcome {
	case NotSent:
		b.WriteString(" (nothing was sent)")
	case Refused:
		b.WriteString(" (nothing was done)")
	default:
		if operations[e.Operation].mutates {
			b.WriteString(" (the service may have carried it out)")
		}
	}
	return b.String()
}

// Unwrap returns the context's error if the caller's context ended the operation, else nil. It does not return
// transport errors: their texts hold URLs and addresses.
func (e *Error) Unwrap() error { return e.contextErr }

// OutcomeOf returns the Outcome of an error that a Client method returned, and Unknown for any other error.
func OutcomeOf(err error) Outcome {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return Unknown
}

// KindOf returns the Kind of an error that a Client method returned, and "" for any other error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// IsNotFound reports whether the service itself says that the resource does not exist. A login that met a 404 does not
// count.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == KindNotFound && !e.Login
}

// IsNotFoundProblem reports whether IsNotFound comes with a problem body that has a title (interface: Errors), as the
// service sends it. Without that, the response may be the page of a proxy that does not know the path.
func IsNotFoundProblem(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && IsNotFound(err) && e.Problem != nil && e.Problem.Title.Reveal() != ""
}

// IsRefusal reports whether the service refused the content of a request: not its credentials, its rate, or the login
// before it.
func IsRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Outcome == Refused && !e.Login && e.Kind != KindCredentials && e.Kind != KindRateLimited
}

// RetryAfterOf returns how long to wait before trying again, 0 if the error does not say.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// asLoginFailure converts the failure of a login into that of the operation that needed it.
func (e *Error) asLoginFailure(op Operation) *Error {
	outer := *e
	outer.Operation = op
	outer.Outcome = NotSent
	outer.Login = true
	return &outer
}

// withRetryAfter returns a copy of the error with another RetryAfter.
func (e *Error) withRetryAfter(wait time.Duration) *Error {
	changed := *e
	changed.RetryAfter = wait
	return &changed
}

// worstOutcome is what is known about the effect of two requests of one operation: Unknown, else Refused, else NotSent.
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
