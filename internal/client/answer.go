package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/client/wire"
)

// ErrBusy is for Config.Wrap: reading the body of a response fails with it if there is no memory for it now.
var ErrBusy = errors.New("too many large responses are read at the same time")

// SmallBody is more than a usual response, in bytes.
const SmallBody = 64 << 10

// Raw is JSON of the service as it came. It may have personal data.
type Raw = Sensitive[json.RawMessage]

// answer is a response that was read. To close its Body releases what Config.Wrap has counted for it.
type answer struct {
	*http.Response
	*request

	content    []byte // as it came
	json       []byte // the same without byte order mark and surrounding white space
	value      wire.Value
	invalid    error  // why value is not what the body holds
	failed     *Error // why the body is not whole
	discardRaw bool   // see Config.DiscardRaw
}

func (a *answer) accepted() bool { return a.StatusCode == http.StatusAccepted }

// raw is the body if it is JSON and to be kept, and empty otherwise.
func (a *answer) raw() Raw {
	if a.discardRaw || !json.Valid(a.json) {
		return Raw{}
	}
	return Hide(json.RawMessage(a.json))
}

func (c *Client) read(ctx context.Context, q *request, r *http.Response) *answer {
	a := &answer{Response: r, request: q, discardRaw: c.config.DiscardRaw}
	limit := q.maxBody
	switch {
	case a.StatusCode < 200: // 101: its body is the connection itself, and no context ends a read from it
		return a
	case a.StatusCode >= 300 && !q.effect.mutates(): // nothing depends on what it says
		limit = SmallBody
	}
	a.readBody(ctx, limit)
	a.json = bytes.TrimSpace(bytes.TrimPrefix(a.content, []byte("\ufeff")))
	if a.value, a.invalid = wire.Parse(a.json); a.invalid != nil && q.effect != effectCreate {
		a.value = wire.Value{} // only the id of what was created must not be lost, however large the response is
	}
	return a
}

// readBody reads a body of at most limit bytes, or finds out why there is no whole one.
func (a *answer) readBody(ctx context.Context, limit int64) {
	var read bytes.Buffer
	read.Grow(int(min(max(a.ContentLength, 4<<10), SmallBody)) + bytes.MinRead)
	// Beyond SmallBody, the buffer is made large at once: to let it grow would take three times as much.
	_, err := io.CopyN(&read, a.Body, min(SmallBody, limit)+1)
	if err == nil && limit > SmallBody {
		read.Grow(int(limit) - read.Len() + 1 + bytes.MinRead)
		_, err = read.ReadFrom(io.LimitReader(a.Body, limit+1-int64(read.Len())))
	}
	switch {
	case errors.Is(err, ErrBusy):
		a.failed = &Error{Kind: KindRateLimited, detail: ErrBusy.Error() + "; try again later"}
	case err != nil && err != io.EOF: //nolint:errorlint // io.EOF itself is the end; wrapped, it is a broken connection
		a.failed = transportError(ctx, a.op, err, Unknown)
	case int64(read.Len()) > limit:
		a.failed = &Error{Kind: KindTooLarge, detail: "the response exceeds the size limit"}
	default:
		a.content = read.Bytes()
	}
}

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
	status := o.Get("status")
	_, isText := status.AsString() // the state of a resource is no text with such a number
	isError := slices.Contains([]int{4, 5}, leadingNumber(status.Text())/100)
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/problem+json") ||
		!o.Get("exception").IsNull() ||
		isError && isText || !o.HasID() && (isError || o.Text("type") != "" || o.Text("detail") != "")
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
	o, named := a.value.Unwrap("application", "mandate"), int64(0)
	if o.HasID() { // which may be that of a job
		named = o.Get("application").Object().ID("id")
	}
	return cmp.Or(a.shown().ID("id"), a.located(), typed.ID("id"), o.ID("application_id"), named, o.ID("id", "mandate_id"))
}

var applicationPath = regexp.MustCompile(`^(?:[^?#]*/(?:applications|mandates)/)?(\d+)/?(?:[?#].*)?$`)

// located is the id in the path of the header Location; 0 if there is none.
func (a *answer) located() int64 {
	id, _ := wire.ParseID(applicationPath.ReplaceAllString(a.Header.Get("Location"), "$1"))
	return id
}
