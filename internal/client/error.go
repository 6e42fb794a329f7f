package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Outcome says what is known about the effect of an operation. The table of proof decides it (proof.go).
type Outcome string

// The outcomes. Unknown is the zero value: it holds until another one is proved.
const (
	Unknown   Outcome = ""          // the request may have been carried out
	NotSent   Outcome = "NotSent"   // no request reached the service
	Refused   Outcome = "Refused"   // the service responded, and the response proves that nothing was done
	Forbidden Outcome = "Forbidden" // as Refused: this user may not do what was asked; says nothing about other requests
	// Candidate, of a create: the response shows an id without the reference that was sent (Error.Candidate). The
	// application may exist, with this id or another one.
	Candidate Outcome = "Candidate"
	// Accepted: the service carries it out later, or has done so (interface: Errors, 202 Accepted). Never send it again.
	Accepted Outcome = "Accepted"
	Done     Outcome = "Done" // the service carried it out
)

// String returns the constant's name.
func (o Outcome) String() string { return cmp.Or(string(o), "Unknown") }

// NothingDone reports whether nothing was changed and nobody was e-mailed.
func (o Outcome) NothingDone() bool { return o == NotSent || o == Refused || o == Forbidden }

// Kind says why an operation failed, and Outcome what that means. Decide by these two, not by texts or statuses.
type Kind string

// The kinds of failure. The interface documents few statuses (interface: Errors); the rest is our reading.
const (
	KindCanceled    Kind = "Canceled"    // the caller's context or the client ended, or the caller no longer wants it
	KindTimeout     Kind = "Timeout"     // no complete response in time
	KindUnreachable Kind = "Unreachable" // no connection, because of name resolution, dialing or TLS
	KindConnection  Kind = "Connection"  // the connection broke, or the response was truncated
	KindCredentials Kind = "Credentials" // the service refused the login (Error.Login)
	// KindForbidden: 403, or a 401 after a good login. It is about what was asked: an operation, an object, a mandate
	// type, or what a filter sees in the body.
	KindForbidden Kind = "Forbidden"
	// KindExpiredToken: the service refused the token of a request that is not sent twice. The next request has another.
	KindExpiredToken Kind = "ExpiredToken"
	KindInvalid      Kind = "Invalid" // 400 or 422, or an invalid argument
	// KindDuplicateReference: a refused create, with a message about the application's reference (interface: Errors). A
	// service may refuse the format of a reference in the same place: see Problem.ReferenceFormat.
	KindDuplicateReference Kind = "DuplicateReference"
	KindNotFound           Kind = "NotFound"         // the service says 404 or 410
	KindMethodNotAllowed   Kind = "MethodNotAllowed" // 405
	KindConflict           Kind = "Conflict"         // 409
	KindRateLimited        Kind = "RateLimited"      // 429, the client's own rate limit, or ErrBusy
	KindRejected           Kind = "Rejected"         // another 4xx
	KindUnproven           Kind = "Unproven"         // a 4xx that is not the service's own word; see docs/client.md
	KindNotReady           Kind = "NotReady"         // the report does not exist yet
	KindServer             Kind = "Server"           // 5xx, 408, 425 and 499
	KindUnreadable         Kind = "Unreadable"       // the response differs from the interface: a redirect, no JSON, no id
	KindTooLarge           Kind = "TooLarge"         // the response exceeds the size limit
)

// details say what a kind means to users, where nothing else does.
var details = map[Kind]string{
	KindCredentials:  "the service rejected the credentials; check them",
	KindForbidden:    "the service does not let this user do that; ask for the permission",
	KindExpiredToken: "the token had expired; try again",
	KindUnproven:     "the response is not the service's own error body; a proxy or an ingress may have sent it",
	KindNotReady:     "the report is not ready yet; try again later",
	KindUnreadable:   "the response does not show what it is about",
}

// Error is what every method of Client returns when an operation fails. Its text names the operation, the status, what
// failed, and known request fields. It holds nothing else: no body, no URL, no reference, no personal data.
type Error struct {
	Operation Operation
	Outcome   Outcome
	Kind      Kind

	Status     int           // of the response, 0 if there was none; with Login, that of the token request's response
	Login      bool          // the token request failed: the operation was not sent, or was answered with 401 before
	Candidate  int64         // of a create: an id in the response, 0 if none; a read may show that it is the application's
	Problem    *Problem      // the RFC 7807 body (interface: Errors), nil if the response had none
	RetryAfter time.Duration // how long the service, or the client's own limits, ask to wait; 0 if neither does

	detail         string   // one of this package's fixed texts
	allowedMethods []string // of a 405: the transition methods that the service allows
	aboutToken     bool     // it may be about the token: a redirect, HTML, or a 403 to what every user may do
	contextErr     error    // context.Canceled or context.DeadlineExceeded, for errors.Is
}

// Error implements error: what failed, why, and what is known about the effect.
func (e *Error) Error() string {
	text := strings.Join(append([]string{string(e.Operation)}, e.causes()...), ": ") + e.invalidFields()
	switch {
	case e.Outcome == NotSent:
		return text + " (nothing was sent)"
	case e.Outcome.NothingDone():
		return text + " (nothing was done)"
	case operations[e.Operation].effect.mutates():
		return text + " (the service may have carried it out)"
	default:
		return text
	}
}

// causes says why: in texts of this package.
func (e *Error) causes() (causes []string) {
	if e.Login {
		causes = append(causes, "login failed")
	}
	if e.Status != 0 {
		causes = append(causes, strings.TrimRight("HTTP "+strconv.Itoa(e.Status)+" "+http.StatusText(e.Status), " "))
	}
	if detail := cmp.Or(e.detail, details[e.Kind]); detail != "" {
		causes = append(causes, detail)
	}
	return causes
}

// invalidFields names the fields of a problem, as the end of a text.
func (e *Error) invalidFields() string {
	fields := e.Problem.Fields()
	if len(fields) == 0 {
		return ""
	}
	text := "; invalid fields: " + strings.Join(fields[:min(len(fields), maxShownFields)], ", ")
	if more := len(fields) - maxShownFields; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// CauseOf says why an operation failed, as the text of its Error does: the status, what failed and known request
// fields. It is "" for an error that no Client method returned.
func CauseOf(err error) string {
	e := failureOf(err)
	return strings.Join(e.causes(), ": ") + e.invalidFields()
}

// StatusOf returns the HTTP status of the response that an error is about, 0 if there was none.
func StatusOf(err error) int { return failureOf(err).Status }

// ProblemOf returns the RFC 7807 body of the response that an error is about, nil if there was none.
func ProblemOf(err error) *Problem { return failureOf(err).Problem }

// Unwrap returns the context's error if the caller's context ended the operation, else nil. It does not return
// transport errors: their texts hold URLs and addresses.
func (e *Error) Unwrap() error { return e.contextErr }

// failureOf is the *Error in an error, which every link of the chain returns, or one that says nothing.
func failureOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return new(Error)
}

// OutcomeOf returns the Outcome of an error that a Client method returned, Done for nil, and Unknown for any other.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	return failureOf(err).Outcome
}

// KindOf returns the Kind of an error that a Client method returned, and "" for any other error.
func KindOf(err error) Kind { return failureOf(err).Kind }

// IsNotFound reports whether the service itself says that the resource does not exist. The page of a proxy or ingress
// that does not know the path is no such answer, and neither is a login that met a 404.
func IsNotFound(err error) bool { return KindOf(err) == KindNotFound && !failureOf(err).Login }

// IsUnprovenNotFound reports whether somebody who may not be the service says that the resource does not exist: 404 or
// 410 to a read, without a problem body. A change with such a response may have been carried out.
func IsUnprovenNotFound(err error) bool {
	e := failureOf(err)
	return e.Kind == KindUnproven && e.Outcome == Refused && !e.Login
}

// IsForbidden reports whether the service does not let this user do what was asked.
func IsForbidden(err error) bool { return failureOf(err).Outcome == Forbidden && !failureOf(err).Login }

// IsRefusal reports whether the service refused what was asked: not the login before it, its rate, or an expired token.
// Nor is it one if the last of several requests did not get through.
func IsRefusal(err error) bool {
	e := failureOf(err)
	return (e.Outcome == Refused || e.Outcome == Forbidden) && !e.Login && !IsServiceFault(e) &&
		!slices.Contains([]Kind{KindRateLimited, KindExpiredToken, KindUnproven, KindCanceled}, e.Kind)
}

// IsTurnedAway reports whether a limiter or a gateway, by its status, has kept a request from the service: 429 or 503
// without the service's own word. That proves nothing.
func IsTurnedAway(err error) bool {
	e, statuses := failureOf(err), []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}
	return e.Outcome == Unknown && e.Problem == nil && slices.Contains(statuses, e.Status)
}

// IsServiceFault reports whether a failure is about the service or the way to it: other requests may fail as well.
func IsServiceFault(err error) bool {
	return slices.Contains([]Kind{
		KindCredentials, KindUnreachable, KindConnection, KindTimeout, KindServer, KindUnreadable,
	}, KindOf(err))
}

// RetryAfterOf returns how long to wait before trying again, 0 if the error does not say.
func RetryAfterOf(err error) time.Duration { return failureOf(err).RetryAfter }

// worst is what is known about the effect of two requests of one operation, one after the other.
func (e effect) worst(first, second Outcome) Outcome {
	switch {
	case e.mutates() && (first == Unknown || second == Unknown):
		return Unknown
	case second == NotSent:
		return first
	default:
		return second
	}
}

// invalid is the error of a request that is not sent, because of what it would hold.
func invalid(op Operation, detail string) *Error {
	return &Error{Operation: op, Outcome: NotSent, Kind: KindInvalid, detail: detail}
}

// unreadable is the error of a 2xx response that differs from the interface. The request was probably carried out.
func (a *answer) unreadable(detail string) *Error {
	return &Error{Operation: a.op, Kind: KindUnreadable, Status: a.StatusCode, detail: detail}
}

// transportError is the error of a request without a response. What cannot have reached a server was not sent.
func transportError(ctx context.Context, op Operation, err error, outcome Outcome) *Error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return contextEnded(ctx, op, outcome, "before the response was complete")
	case outcome == NotSent:
		return &Error{Operation: op, Outcome: outcome, Kind: KindUnreachable, detail: describeDialError(err)}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Operation: op, Outcome: outcome, Kind: KindTimeout, detail: "the service did not respond in time"}
	default:
		return &Error{Operation: op, Outcome: outcome, Kind: KindConnection, detail: "the connection broke"}
	}
}

func rateLimited(op Operation, wait time.Duration) *Error {
	return &Error{
		Operation: op, Outcome: NotSent, Kind: KindRateLimited, RetryAfter: wait,
		detail: "the client's rate limit or the service's Retry-After delays it for too long; try again later",
	}
}

// errDeadline marks the deadlines that this package sets. Errors about them do not wrap the context's error, because
// the caller's own context has not ended.
var errDeadline = errors.New("the operation's own deadline")

// contextEnded is the error of an operation that ended with its context.
func contextEnded(ctx context.Context, op Operation, outcome Outcome, when string) *Error {
	e := &Error{Operation: op, Outcome: outcome, Kind: KindCanceled, detail: "canceled " + when}
	e.contextErr = context.Canceled // one of the two errors of package context; the cause itself could hold any text
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.detail = KindTimeout, "the deadline passed "+when
		e.contextErr = context.DeadlineExceeded
	}
	if errors.Is(context.Cause(ctx), errDeadline) {
		e.contextErr = nil
	}
	return e
}

// describeDialError returns a fixed text for why there is no connection. The error's own text holds addresses.
func describeDialError(err error) string {
	var dial *net.OpError
	var timeout net.Error
	switch {
	case is[*net.DNSError](err):
		return "the service's host name cannot be resolved; check the base URL"
	case is[x509.UnknownAuthorityError](err):
		return "the service's certificate is signed by an unknown authority; configure its CA certificate"
	case is[x509.HostnameError](err):
		return "the service's certificate is for another host name; check the base URL"
	case is[*tls.CertificateVerificationError](err):
		return "the service's certificate is not valid"
	case is[tls.RecordHeaderError](err):
		return "the service does not use TLS; check the base URL"
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		return "no connection could be made to the proxy; check the proxy URL"
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &timeout) && timeout.Timeout():
		return "no connection could be made to the service; check the base URL and the network"
	default:
		return "the connection broke"
	}
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// parseRetryAfter reads a header Retry-After: seconds or an HTTP date. Anything else, and the past, is 0.
func parseRetryAfter(value string, now time.Time) time.Duration {
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range, it is the largest number that fits
		return 0
	}
	return time.Duration(min(max(seconds, 0), int64(maxRetryAfter/time.Second))) * time.Second
}
