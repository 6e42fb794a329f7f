package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// statusError classifies a response that is not 2xx.
func statusError(op Operation, r *http.Response, body []byte) *Error {
	status := r.StatusCode
	e := &Error{Operation: op, Status: status, Problem: parseProblem(status, body)}
	e.Outcome, e.Kind = classify(op, status, e.Problem)
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		e.RetryAfter = ParseRetryAfter(r.Header.Get("Retry-After"), time.Now())
	case status == http.StatusMethodNotAllowed:
		e.allowedMethods = supportedMethods(r.Header.Values("Allow"))
	case status >= 300 && status < 400:
		e.detail = "the service redirects, and the client follows no redirects; check the base URL"
	case e.Kind == KindCredentials && op == OpToken:
		e.detail = "the service rejected the credentials; check them"
	case e.Kind == KindCredentials:
		e.detail = "the login succeeded, but the service rejected its token; check that the user has API permissions"
	}
	return e
}

// refusedBeforeWork are the further statuses that a server decides before it carries a request out.
var refusedBeforeWork = []int{
	http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge,
	http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusExpectationFailed,
	http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusPreconditionRequired,
	http.StatusRequestHeaderFieldsTooLarge,
}

// classify decides what a status means. The rule: a response is a refusal only if servers decide its status before they
// carry the request out, or if its body proves it. What may have happened is never Refused.
func classify(op Operation, status int, problem *Problem) (Outcome, Kind) {
	emails := operations[op].emailsPeople
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return classifyInvalid(op, problem)
	case http.StatusUnauthorized, http.StatusForbidden:
		return Refused, KindCredentials
	case http.StatusNotFound, http.StatusGone:
		return Refused, KindNotFound
	case http.StatusMethodNotAllowed:
		return Refused, KindMethodNotAllowed
	case http.StatusTooManyRequests:
		return Refused, KindRateLimited
	case http.StatusConflict:
		if emails {
			return Unknown, KindConflict // "already exists" could mean what this very request created
		}
		return Refused, KindConflict
	}
	switch {
	case status < 400:
		return Unknown, KindUnreadable
	case slices.Contains(refusedBeforeWork, status):
		return Refused, KindRejected
	case status < 500 && status != http.StatusRequestTimeout && !emails:
		return Refused, KindRejected
	default:
		return Unknown, KindServer
	}
}

func classifyInvalid(op Operation, problem *Problem) (Outcome, Kind) {
	switch {
	case op == OpToken:
		return Refused, KindCredentials
	case problem == nil && operations[op].emailsPeople: // not a body of the service: it proves nothing
		return Unknown, KindServer
	case op == OpCreateApplication && problem.Has("reference"):
		return Refused, KindDuplicateReference
	default:
		return Refused, KindInvalid
	}
}

// transportError classifies a request without a response. What cannot have reached a server was not sent.
func transportError(ctx context.Context, op Operation, err error, mayHaveArrived bool) *Error {
	outcome := NotSent
	if mayHaveArrived {
		outcome = Unknown
	}
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return contextEnded(ctx, op, outcome, "before the response was complete")
	case !mayHaveArrived:
		return &Error{Operation: op, Outcome: outcome, Kind: KindUnreachable, detail: DescribeDialError(err)}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Operation: op, Outcome: outcome, Kind: KindTimeout, detail: "the service did not respond in time"}
	default:
		return &Error{Operation: op, Outcome: outcome, Kind: KindConnection, detail: "the connection broke"}
	}
}

// truncated is a response whose body did not arrive completely.
func truncated(ctx context.Context, op Operation, status int, err error) *Error {
	e := transportError(ctx, op, err, true)
	e.Status = status
	return e
}

func tooLarge(op Operation, status int) *Error {
	return &Error{Operation: op, Kind: KindTooLarge, Status: status, detail: "the response exceeds the size limit"}
}

// unreadable is a 2xx response that differs from the interface. The request was probably carried out.
func unreadable(r *response, detail string) *Error {
	return &Error{Operation: r.operation, Kind: KindUnreadable, Status: r.status, detail: detail}
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

// contextEnded classifies an operation that ended with its context.
func contextEnded(ctx context.Context, op Operation, outcome Outcome, when string) *Error {
	e := &Error{Operation: op, Outcome: outcome, Kind: KindCanceled, detail: "canceled " + when}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind = KindTimeout
		e.detail = "the deadline passed " + when
	}
	if !errors.Is(context.Cause(ctx), errDeadline) {
		// One of the two errors of package context. The cause itself could hold any text.
		e.contextErr = context.Canceled
		if e.Kind == KindTimeout {
			e.contextErr = context.DeadlineExceeded
		}
	}
	return e
}

// DescribeDialError returns a fixed text for why there is no connection. The error's own text holds addresses.
func DescribeDialError(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		dial      *net.OpError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "the service's host name cannot be resolved; check the base URL"
	case errors.As(err, &authority):
		return "the service's certificate is signed by an unknown authority; configure its CA certificate"
	case errors.As(err, &hostname):
		return "the service's certificate is for another host name; check the base URL"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "the service's certificate is not valid"
	case errors.As(err, &record):
		return "the service does not use TLS; check the base URL"
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		return "no connection could be made to the proxy; check the proxy URL"
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &timeout) && timeout.Timeout():
		return "no connection could be made to the service; check the base URL and the network"
	default:
		return "the connection broke"
	}
}

// ParseRetryAfter reads a header Retry-After: seconds or an HTTP date. Anything else, and the past, is 0.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range, it is the largest number that fits
		return 0
	}
	return time.Duration(min(max(seconds, 0), int64(maxRetryAfter/time.Second))) * time.Second
}
