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

// statusError classifies an answer that is not 2xx. The rule (research: never Refused for something that may have
// happened): a status is a refusal only if it is decided before the request is carried out, or if the body proves it.
func statusError(op Operation, response *http.Response, body []byte) *Error {
	status := response.StatusCode
	e := &Error{Operation: op, Status: status, Problem: parseProblem(status, body)}
	e.Outcome, e.Kind = classify(op, status, e.Problem)
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		e.RetryAfter = parseRetryAfter(response.Header.Get("Retry-After"), time.Now())
	case status == http.StatusMethodNotAllowed:
		e.allowedMethods = supportedMethods(response.Header.Values("Allow"))
	case status >= 300 && status < 400:
		e.detail = "the service redirects, and redirects are not followed; check the base URL"
	case e.Kind == KindCredentials && op == OpToken:
		e.detail = "the service does not accept the credentials"
	case e.Kind == KindCredentials:
		e.detail = "the service took the login but refuses its token; the user may lack API permissions"
	}
	return e
}

func classify(op Operation, status int, problem *Problem) (Outcome, Kind) {
	emails := operations[op].emailsPeople
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		switch {
		case op == OpToken:
			return Refused, KindCredentials
		case problem == nil && emails: // not a body that the service writes: who knows who answered, and when
			return Unknown, KindServer
		case op == OpCreateApplication && problem.Has("reference"):
			return Refused, KindDuplicateReference
		}
		return Refused, KindInvalid
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
			return Unknown, KindConflict // "already exists" could speak of what this very request made
		}
		return Refused, KindConflict
	case http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType, http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusTooEarly,
		http.StatusUpgradeRequired, http.StatusPreconditionRequired, http.StatusRequestHeaderFieldsTooLarge:
		return Refused, KindRejected
	}
	switch {
	case status < 400:
		return Unknown, KindUnreadable
	case status < 500 && status != http.StatusRequestTimeout && !emails:
		return Refused, KindRejected
	default:
		return Unknown, KindServer
	}
}

// transportError classifies a request that got no answer. What no server can have seen was not sent.
func transportError(ctx context.Context, op Operation, err error, reached bool) *Error {
	outcome := NotSent
	if reached {
		outcome = Unknown
	}
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return contextEnded(ctx, op, outcome, "before the answer was there")
	case !reached:
		return &Error{Operation: op, Outcome: outcome, Kind: KindUnreachable, detail: describeDialError(err)}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Operation: op, Outcome: outcome, Kind: KindTimeout, detail: "no answer in time"}
	default:
		return &Error{Operation: op, Outcome: outcome, Kind: KindConnection, detail: "the connection broke"}
	}
}

// truncated is an answer of which only the beginning arrived.
func truncated(ctx context.Context, op Operation, status int, err error) *Error {
	e := transportError(ctx, op, err, true)
	e.Status = status
	return e
}

func tooLarge(op Operation, status int) *Error {
	return &Error{Operation: op, Kind: KindTooLarge, Status: status, detail: "the answer is larger than allowed"}
}

// unreadable is a 2xx answer that is not what the interface says. What was asked for has probably happened.
func unreadable(answer *answer, detail string) *Error {
	return &Error{Operation: answer.operation, Kind: KindUnreadable, Status: answer.status, detail: detail}
}

func rateLimited(op Operation, wait time.Duration) *Error {
	return &Error{Operation: op, Outcome: NotSent, Kind: KindRateLimited, RetryAfter: wait,
		detail: "held back by the rate limit or by the service's Retry-After"}
}

// errDeadline marks the ends that this package sets itself: a caller whose own context goes on is not told otherwise.
var errDeadline = errors.New("the call's own deadline")

// contextEnded classifies a call that ended with its context.
func contextEnded(ctx context.Context, op Operation, outcome Outcome, when string) *Error {
	e := &Error{Operation: op, Outcome: outcome, Kind: KindCanceled, detail: "the caller gave up " + when}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.detail = KindTimeout, "the time was up "+when
	}
	if !errors.Is(context.Cause(ctx), errDeadline) {
		// One of the two errors of package context, whatever the cause: that could hold a text of others.
		e.contextErr = context.Canceled
		if e.Kind == KindTimeout {
			e.contextErr = context.DeadlineExceeded
		}
	}
	return e
}

// describeDialError finds a fixed sentence for why no connection could be made.
func describeDialError(err error) string {
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
		return "the service's certificate is signed by an authority that is not trusted; give its CA"
	case errors.As(err, &hostname):
		return "the service's certificate is for another host name"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "the service's certificate is not valid"
	case errors.As(err, &record):
		return "the service does not speak TLS; check the base URL"
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &timeout) && timeout.Timeout():
		return "no connection could be made to the service; check the base URL and the network"
	default:
		return "the request could not be sent"
	}
}

// parseRetryAfter reads seconds or an HTTP date; anything else, and the past, is 0.
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
