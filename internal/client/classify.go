package client

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/client/wire"
)

// judge is what the response proves: nil if the operation succeeded.
func (a *answer) judge() *Error {
	problem := parseProblem(a.StatusCode, a.value)
	holds := a.holds(problem)
	outcome, kind := prove(a.effect, a.StatusCode, holds)
	if kind == "" {
		return nil
	}
	failure := &Error{Operation: a.op, Outcome: outcome, Kind: kind, Status: a.StatusCode}
	failure.detail = a.detail(outcome, holds)
	if holds == bodyProblem {
		failure.Problem = problem
	}
	switch {
	case outcome == Candidate:
		failure.Candidate = a.candidate()
	case a.effect == effectCreate && outcome == Refused && failure.Problem.Has("reference") && !problem.ReferenceFormat():
		failure.Kind = KindDuplicateReference
	case a.StatusCode == http.StatusTooManyRequests, a.StatusCode == http.StatusServiceUnavailable:
		failure.RetryAfter = parseRetryAfter(a.Header.Get("Retry-After"), time.Now())
	case a.StatusCode == http.StatusMethodNotAllowed:
		failure.allowedMethods = supportedMethods(a.Header.Values("Allow"))
	}
	if a.failed != nil && a.StatusCode < 300 {
		failure.Kind, failure.contextErr = a.failed.Kind, a.failed.contextErr
	}
	failure.aboutToken = kind == KindUnreadable && (a.StatusCode >= 300 || holds == bodyForeign) ||
		kind == KindForbidden && a.op == OpRetrieveReferences
	return failure
}

// detail says what is special about a failure. Else, its kind says enough.
func (a *answer) detail(outcome Outcome, holds body) string {
	switch {
	case outcome == Candidate:
		return "the response shows an id without the reference that was sent"
	case outcome == Accepted:
		return "the service creates it later, and the response shows no id"
	case a.StatusCode >= 300 && a.StatusCode < 400:
		return "the service redirects, and the client follows no redirects; check the base URL"
	case a.StatusCode >= 300:
		return ""
	case a.failed != nil:
		return a.failed.detail
	case holds == bodyTooLong:
		return a.invalid.Error()
	case holds == bodyForeign:
		return "the response is not JSON"
	case a.effect != effectLogin && holds&(bodyProblem|bodyFailure) != 0:
		return "the response says that the request failed, in spite of its status"
	default:
		return ""
	}
}

func (a *answer) holds(problem *Problem) body {
	_, tooLarge := errors.AsType[wire.LimitError](a.invalid)
	success, creates := a.StatusCode < 300, a.effect == effectCreate && a.StatusCode < 400
	var resource []string
	if a.effect == effectNone { // it may show something that failed, such as the last delivery of a webhook
		resource = []string{"reference", "email", "url"}
	}
	isProblem, isFailure := problem != nil && (!success || a.isProblem()), a.value.ReportsFailure(resource...)
	shown, challenges := a.shown(), strings.Join(a.Header.Values("WWW-Authenticate"), ",")
	switch {
	case creates && shown != nil && !isProblem && !isFailure:
		return bodyCreated
	case creates && (shown != nil || a.located() != 0):
		return bodyCandidate
	case a.failed != nil && a.failed.Kind == KindTooLarge:
		return bodyTooLong
	case a.failed != nil:
		return bodyCutOff
	case !success && problem != nil && problem.contradicts:
		return bodyContradiction
	case isProblem:
		return bodyProblem
	case a.StatusCode == http.StatusUnauthorized && bearerChallenge.MatchString(challenges):
		return bodyChallenge
	case success && a.op == OpIndividualReport:
		return a.holdsFile()
	case tooLarge:
		return bodyTooLong
	case len(a.json) > 0 && a.invalid != nil:
		return bodyForeign
	case isFailure:
		return bodyFailure
	case creates && a.candidate() != 0:
		return bodyCandidate
	case a.value.IsNull():
		return bodyNone
	default:
		return bodyJSON
	}
}

// isProblem reports whether a problem is the body of a 2xx. The members of one are those of other things, too: an
// individual has a title and a status.
func (a *answer) isProblem() bool {
	o := a.value.Object()
	mediaType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	code, _ := o.Get("status").ID()
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/problem+json") ||
		!o.Get("exception").IsNull() ||
		!o.HasID() && (code >= 400 && code < 600 || o.Text("type") != "" || o.Text("detail") != "")
}

var bearerChallenge = regexp.MustCompile(`(?i)(^|,)\s*bearer(\s|,|$)`)

// shown is the one object with an id beside the reference that a create has sent, in usual wrappers, or nil. An id
// beside another reference, or none, may be that of a job, of a request or of another application. Letter case makes
// no difference: a service may normalize it.
func (a *answer) shown() wire.Object {
	return a.only(func(o wire.Object) bool {
		reference, ok := o.Unambiguous("reference")
		text, _ := reference.AsString()
		return ok && strings.EqualFold(text, a.reference)
	})
}

// only is the one object with an id that fits, in usual wrappers, or nil.
func (a *answer) only(fits func(wire.Object) bool) wire.Object {
	var found []wire.Object
	for _, v := range a.value.Layers(true, "application", "mandate") {
		if o := v.Object(); o.ID("id") != 0 && fits(o) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// candidate is the id that the response to a create shows without being the application that was sent; 0 if none.
func (a *answer) candidate() int64 {
	typed := a.only(func(o wire.Object) bool { return !o.Get("mandate_type", "application_type").IsNull() })
	inBody := a.value.Unwrap("application", "mandate").ID("id", "application_id", "mandate_id")
	return cmp.Or(a.shown().ID("id"), a.located(), typed.ID("id"), inBody)
}

var applicationPath = regexp.MustCompile(`^(?:[^?#]*/(?:applications|mandates)/)?(\d+)/?(?:[?#].*)?$`)

// located is the id in the path of the header Location; 0 if there is none.
func (a *answer) located() int64 {
	id, _ := wire.ParseID(applicationPath.ReplaceAllString(a.Header.Get("Location"), "$1"))
	return id
}
