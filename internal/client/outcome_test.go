package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

var testStatuses = []int{
	0, 101, 600, 999,
	200, 201, 202, 203, 204, 206, 299,
	300, 301, 302, 303, 304, 307, 308,
	400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418,
	421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499,
	500, 501, 502, 503, 504, 520, 599,
}

// at is the body of a response with some status: 1xx, 204 and 304 have none.
func (b testBody) at(status int) testBody {
	if status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified {
		return b
	}
	b.text, b.cutOff = "", false
	b.success, b.failure = bodyNone, bodyNone
	b.created, b.id = 0, 0
	if !strings.HasPrefix(b.header, "Location") {
		b.candidate = 0
	}
	return b
}

// kindFor is what the body holds for an operation.
func (b testBody) kindFor(op Operation, status int) body {
	creates := op == OpCreateApplication && status >= 200 && status < 400
	named := strings.HasPrefix(b.header, "Content-Type") && !strings.Contains(b.name, "HTML")
	isFile := b.success == bodyForeign && named || b.success == bodyTooLong && b.name != "too large"
	switch {
	case creates && b.created != 0:
		return bodyCreated
	case creates && b.candidate != 0:
		return bodyCandidate
	case op == OpIndividualReport && status/100 == 2 && isFile,
		b.listed && operations[op].effect == effectNone && op != OpIndividualReport:
		return bodyJSON
	case status < 300:
		return b.success
	case status == http.StatusUnauthorized && b.challenge:
		return bodyChallenge
	default:
		return b.failure
	}
}

// shows reports whether a read finds in a body what it looks for.
func (b testBody) shows(op Operation, status int) bool {
	text := strings.TrimPrefix(b.text, "\ufeff")
	switch op {
	case OpRetrieveApplication:
		return b.id == 4711
	case OpRetrieveIndividual:
		isOne := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") && b.name != "list of two"
		return isOne && (b.id == 0 || b.id == 4711)
	case OpIndividualReport:
		return text != "" && !b.pending(status)
	case OpRetrieveReferences:
		return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	default:
		return true
	}
}

// pending reports whether a response says that a report is being made.
func (b testBody) pending(status int) bool { return status == http.StatusAccepted || b.name == "job" }

// withChallenges adds bodies of responses that ask for a login.
func withChallenges() []testBody {
	bodies := testBodies()
	for header, challenge := range map[string]bool{
		`Bearer realm="x"`: true, `Negotiate, bearer error="invalid_token"`: true, `Bearer`: true, `Basic realm="x"`: false,
		`Digest realm="a bearer"`: false,
	} {
		for _, b := range []testBody{
			{name: "nothing", success: bodyNone, failure: bodyNone},
			{name: "HTML", text: "<html>", success: bodyForeign, failure: bodyForeign},
			{name: "JSON", text: `{"message":"x"}`, success: bodyJSON, failure: bodyJSON},
		} {
			b.name, b.header = b.name+", "+header, "WWW-Authenticate: "+header
			b.challenge = challenge
			bodies = append(bodies, b)
		}
	}
	return bodies
}

// answer writes a response with the body.
func (b testBody) answer(status int) func(net.Conn) {
	header := "Content-Type: application/json\r\n"
	if strings.HasPrefix(b.header, "Content-Type") {
		header = ""
	}
	if b.header != "" {
		header += b.header + "\r\n"
	}
	length := len(b.text)
	if b.cutOff {
		length += 10
	}
	text := fmt.Sprintf(
		"HTTP/1.1 %03d Said\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, header, length, b.text,
	)
	return func(connection net.Conn) { _, _ = connection.Write([]byte(text)) }
}

// TestOutcomeOfEveryAnswer sends every operation, and answers with every status and every body. What must be said of it
// follows from the design alone (designed), and from what each body holds.
func TestOutcomeOfEveryAnswer(t *testing.T) {
	for _, example := range operationExamples() {
		t.Run(string(example.op), func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t)
			switch example.op {
			case OpToken:
				s.plain = tokenPath
			case OpRetrieveReferences:
				s.plain = referencesPath
			}
			c, bodies := s.client(t), withChallenges()
			if !slices.Contains(ofEachEffect, example.op) {
				bodies = oneOfEachKind(bodies)
			}
			for _, status := range testStatuses {
				for _, body := range bodies {
					if body.large && status%100 != 0 {
						continue
					}
					if example.op == OpToken { // a refused login holds the next one off
						c = s.client(t)
					}
					c.limits.retries = rate.NewLimiter(0, 0) // one request a cell; retries have their own tests
					signIn(c)
					if example.op == OpToken {
						c.tokens.current = nil
					}
					s.set(body.answer(status))
					err := example.run(t.Context(), c)
					if failure := body.at(status).judge(err, example.op, status); failure != "" {
						t.Errorf("%d, %s: %s", status, body.name, failure)
					}
				}
			}
		})
	}
}

// ofEachEffect are operations of every effect, and a report, which are answered with all bodies; the others with one of
// each kind.
var ofEachEffect = []Operation{
	OpCreateApplication, OpResendInvites, OpSubscribeWebhook, OpDeleteApplication, OpRetrieveApplication, OpToken,
	OpIndividualReport,
}

func oneOfEachKind(bodies []testBody) []testBody {
	type kind struct {
		success, failure    body
		created, candidate  int64
		challenge, isListed bool
	}
	seen := map[kind]bool{}
	return slices.DeleteFunc(bodies, func(b testBody) bool {
		k := kind{b.success, b.failure, b.created, b.candidate, b.challenge, b.listed}
		wasSeen := seen[k]
		seen[k] = true
		return wasSeen
	})
}

// addresses are those of pointers, which can have any digits.
var addresses = regexp.MustCompile(`0x[0-9a-f]+`)

// judge says what is wrong with the result of an operation.
func (b testBody) judge(err error, op Operation, status int) string {
	want := Unknown
	if status >= 100 {
		want = designed(operations[op].effect, status, b.kindFor(op, status))
	}
	succeeds := want == Done || want == Accepted && (op != OpCreateApplication || b.created != 0)
	isRead := operations[op].effect == effectNone
	switch {
	case isRead && want == Done && !b.shows(op, status):
		succeeds, want = false, Unknown
	case op == OpToken && want == Done: // no test body has a token
		succeeds, want = false, Unknown
	}
	if op == OpIndividualReport && b.pending(status) && status/100 == 2 && KindOf(err) == KindNotReady {
		want = Refused
	}
	if err == nil {
		if !succeeds {
			return "succeeded"
		}
		return ""
	}
	e, ok := err.(*Error) //nolint:errorlint // it must be one itself
	switch {
	case !ok || e == nil:
		return fmt.Sprintf("an error of type %T", err)
	case succeeds:
		return "failed: " + e.Error()
	case e.Outcome != want:
		return fmt.Sprintf("%v %s, want %v", e.Outcome, e.Kind, want)
	case e.Status != status:
		return fmt.Sprintf("the error says status %d", e.Status)
	case e.Kind == "":
		return "no kind"
	case want == Candidate && e.Candidate != max(b.candidate, b.created), want != Candidate && e.Candidate != 0:
		return fmt.Sprintf("the candidate is %d", e.Candidate)
	}
	shown := addresses.ReplaceAllString(fmt.Sprintf("%v %+v %#v", e, *e, e.Problem), "")
	for _, repeated := range []string{personal, "4711", "A-1"} {
		if strings.Contains(shown, repeated) && e.Candidate == 0 {
			return "the error repeats the answer: " + e.Error()
		}
	}
	return ""
}

// TestWhatABodyHolds names the members of each kind of body.
func TestWhatABodyHolds(t *testing.T) {
	s := newRawServer(t)
	seen := map[body]bool{}
	for _, example := range operationExamples() {
		if !slices.Contains([]Operation{OpCreateApplication, OpResendInvites, OpRetrieveApplication}, example.op) {
			continue
		}
		for _, status := range []int{200, 303, 400, 401} {
			for _, b := range withChallenges() {
				var got body
				c := newClient(t, Config{
					BaseURL: s.url, Credentials: Credentials{Username: "u", Password: Hide("p")}, RequestsPerSecond: -1,
				})
				signIn(c)
				q := newRequest(example.op, 1)
				q.method, q.reference = http.MethodGet, "A-1"
				q.maxBody = 1 << 20
				s.set(b.answer(status))
				var sent captured
				_, _ = c.send(t.Context(), &sent, q)
				response, err := c.bottom.shared.RoundTrip(sent.request) //nolint:bodyclose // what read returns closes it
				if err != nil {
					t.Fatal(err)
				}
				a := c.read(t.Context(), q, response)
				got = a.holds(parseProblem(status, a.value))
				_ = a.Body.Close()
				seen[got] = true
				want := b.kindFor(example.op, status)
				if status == 303 && want&(bodyCreated|bodyCandidate) == 0 || b.large && got == bodyTooLong {
					continue // whatever it is, nothing depends on it
				}
				if got != want {
					t.Errorf("%s, %d, %s: body %b, want %b", example.op, status, b.name, got, want)
				}
			}
		}
	}
	for _, kind := range bodyNames {
		if !seen[kind.body] {
			t.Errorf("no body is %s", kind.name)
		}
	}
}

func TestCreatedIDIsThatOfTheResponse(t *testing.T) {
	s := newRawServer(t)
	c := s.client(t)
	for _, status := range []int{200, 201, 202} {
		for _, b := range testBodies() {
			s.set(b.answer(status))
			application, err := c.CreateApplication(t.Context(), someNewApplication())
			switch {
			case (err == nil) != (b.created != 0):
				t.Errorf("%s: %v", b.name, err)
			case err == nil && (application.ID != b.created || application.Accepted != (status == 202)):
				t.Errorf("%s: created %d, accepted %v, want %d", b.name, application.ID, application.Accepted, b.created)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	const duplicate = `{"type":"","title":"x","exception":{"reference":["taken"]},"status":"400"}`
	const page = "<html>"
	for name, test := range map[string]struct {
		op     Operation
		status int
		body   string
		kind   Kind
	}{
		"duplicate reference": {OpCreateApplication, 400, duplicate, KindDuplicateReference},
		"duplicate reference as 422": {
			OpCreateApplication, 422, strings.Replace(duplicate, "400", "422", 1), KindDuplicateReference,
		},
		"duplicate reference as 409": {OpCreateApplication, 409, duplicate, KindDuplicateReference},
		"duplicate reference among others": {
			OpCreateApplication, 400, `{"exception":{"name":["x"],"Reference":"taken"},"code":7}`, KindDuplicateReference,
		},
		"duplicate reference, details in an object": {
			OpCreateApplication, 400, `{"exception":{"reference":[{"code":"unique"}]}}`, KindDuplicateReference,
		},
		"duplicate reference, no text": {
			OpCreateApplication, 400, `{"exception":{"reference":true}}`, KindDuplicateReference,
		},
		"reference in a form that is refused": {
			OpCreateApplication, 400, `{"exception":{"reference":["Only letters and digits, at most 50"]}}`, KindInvalid,
		},
		"nothing wrong with the reference": {
			OpCreateApplication, 400, `{"exception":{"reference":[],"name":["x"]}}`, KindInvalid,
		},
		"an individual's reference": {
			OpCreateApplication, 400, `{"exception":{"individuals":[{"reference":["taken"]}]}}`, KindInvalid,
		},
		"about a reference, and nobody knows what was done": {OpCreateApplication, 500, duplicate, KindServer},
		"about a reference, in a 200":                       {OpCreateApplication, 200, duplicate, KindUnreadable},
		"a reference, not create":                           {OpAcceptCheck, 400, duplicate, KindInvalid},
		"not found":                                         {OpRetrieveApplication, 404, aboutNothing, KindNotFound},
		"gone":                                              {OpRetrieveApplication, 410, aboutNothing, KindNotFound},
		"a path that a proxy does not know":                 {OpRetrieveApplication, 404, page, KindUnproven},
		"forbidden":                                         {OpRetrieveApplication, 403, ``, KindForbidden},
		"not authorized":                                    {OpRetrieveApplication, 401, ``, KindForbidden},
		"forbidden by something else":                       {OpArchiveApplication, 403, page, KindUnproven},
		"no credit":                                         {OpCreateApplication, 402, aboutNothing, KindRejected},
		"conflict":                                          {OpArchiveApplication, 409, aboutNothing, KindConflict},
		"rate limit":                                        {OpSubscribeWebhook, 429, ``, KindRateLimited},
		"redirect":                                          {OpSubscribeWebhook, 307, ``, KindUnreadable},
		"teapot":                                            {OpRetrieveWebhook, 418, ``, KindRejected},
		"server":                                            {OpSubscribeWebhook, 500, ``, KindServer},
		"not JSON":                                          {OpRetrieveReferences, 200, page, KindUnreadable},
		"too large": {
			OpRetrieveReferences, 200, strings.Repeat(" ", 2<<20), KindTooLarge,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(test.status, test.body), false)
			c := s.signedIn(t)
			c.limits.retries = rate.NewLimiter(0, 0)
			if e := asError(t, exampleOf(t, test.op).run(t.Context(), c)); e.Kind != test.kind {
				t.Errorf("kind %s, want %s", e.Kind, test.kind)
			}
		})
	}
}

func TestErrorsOfContextsAreTheCallersOwn(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s := newService(t, hang, false)
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s.login = func(w http.ResponseWriter, r *http.Request) {
			cancel(fmt.Errorf("about %s", personal))
			hang(w, r) // the answer would be another reason to fail
		}
		e := expectFailure(t, exampleOf(t, OpRetrieveApplication).run(ctx, s.client(t)), NotSent, KindCanceled)
		if got := e.Unwrap(); got != context.Canceled { //nolint:errorlint // it must be the bare one
			t.Errorf("unwraps to %v", got)
		}
	})
	t.Run("own deadline", func(t *testing.T) {
		c := s.signedIn(t, func(config *Config) { config.RequestTimeout = time.Second })
		e := expectFailure(t, errorOf(c.DeleteApplication(t.Context(), 1)), Unknown, KindTimeout)
		if e.Unwrap() != nil {
			t.Errorf("unwraps to %v, but the caller's context goes on", e.Unwrap())
		}
	})
	t.Run("caller's deadline", func(t *testing.T) {
		c := s.signedIn(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the deadline under test
		defer cancel()
		e := expectFailure(t, errorOf(c.DeleteApplication(ctx, 1)), Unknown, KindTimeout)
		if got := e.Unwrap(); got != context.DeadlineExceeded { //nolint:errorlint // it must be the bare one
			t.Errorf("unwraps to %v", got)
		}
	})
}
