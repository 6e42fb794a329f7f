package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// invalid is the error of a request that is not sent, because of what it would hold.
func invalid(op Operation, detail string) *Error {
	return &Error{Operation: op, Outcome: NotSent, Kind: KindInvalid, detail: detail}
}

// unreadable is the error of a 2xx response that differs from the interface. The request was probably carried out.
func (a *answer) unreadable(detail string) *Error {
	return &Error{Operation: a.op, Kind: KindUnreadable, Status: a.status, detail: detail}
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
	ended := context.Canceled // one of the two errors of package context; the cause itself could hold any text
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.detail = KindTimeout, "the deadline passed "+when
		ended = context.DeadlineExceeded
	}
	if !errors.Is(context.Cause(ctx), errDeadline) {
		e.contextErr = ended
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
