package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// personal is what must never come back out of an answer.
const personal = "jane.doe@personal.example"

// testBody is a body that a service, or something between it and us, could answer with.
type testBody struct {
	name, text string
	id         int64 // of the application that it describes beyond doubt; 0 for none
	proof      bool  // as the body of a 400 or 422, it proves that nothing was done
	large      bool  // to be sent with a few statuses only
}

func testBodies() []testBody {
	application := func(id string) string { return `{"id":` + id + `,"name":"` + personal + `","reference":"A-1"}` }
	problem := func(status, more string) string {
		return `{"type":"","title":"` + personal + `","status":` + status + more + `}`
	}
	return []testBody{
		{name: "nothing"},
		{name: "null", text: `null`},
		{name: "list", text: `[]`},
		{name: "string", text: `"` + personal + `"`},
		{name: "number", text: `4711`},
		{name: "empty object", text: `{}`},
		{name: "HTML", text: "<html><body>" + personal + "</body></html>"},
		{name: "invalid UTF-8", text: "{\"id\":\xff\xfe}"},
		{name: "UTF-16", text: "\xff\xfe{\x00\"\x00i\x00d\x00\"\x00:\x007\x00}\x00"},
		{name: "nested deeply", text: strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), large: true},
		{name: "too large", text: `{"id":4711,"` + strings.Repeat("k", 1<<20) + `":1}`, large: true},

		{name: "application", text: application("4711"), id: 4711},
		{name: "application, id as text", text: application(`"4711"`), id: 4711},
		{name: "application after a byte order mark", text: "\ufeff" + application("4711") + "\r\n", id: 4711},
		{name: "application in data", text: `{"data":` + application("4711") + `}`, id: 4711},
		{name: "application in two wrappers", text: `{"result":{"application":` + application("4711") + `}}`, id: 4711},
		{name: "application, same id twice", text: `{"id":4711,"id":4711}`, id: 4711},
		{name: "application, large id", text: application("9007199254740993"), id: 9007199254740993},
		{name: "application, largest id", text: application("9223372036854775807"), id: 9223372036854775807},
		{name: "application, id too large", text: application("9223372036854775808")},
		{name: "application, id 0", text: application("0")},
		{name: "application, id below 0", text: application("-1")},
		{name: "application, id 1e3", text: application("1e3")},
		{name: "application, id 1.5", text: application("1.5")},
		{name: "application, id in a list", text: application("[4711]")},
		{name: "application, id with a sign", text: application(`"+4711"`)},
		{name: "two ids", text: `{"id":4711,"reference":"A-1","id":4712}`},
		{name: "id in two letter cases", text: `{"id":4711,"reference":"A-1","ID":4712}`},
		{name: "two references", text: `{"id":4711,"reference":"A-1","Reference":"A-2"}`},
		{name: "two applications", text: `{"data":{"id":4711},"application":{"id":4712}}`},
		{name: "application cut off", text: `{"id":4711,"name":"` + personal},
		{name: "application and garbage", text: application("4711") + "<br>"},
		{name: "application twice", text: application("4711") + application("4712")},

		{name: "problem", text: problem(`"400"`, `,"exception":{"name":["`+personal+`"]}`), proof: true},
		{
			name: "problem of an individual",
			text: problem(`"400"`, `,"exception":{"individuals":[{},{"reference":["`+personal+`"]}]}`), proof: true,
		},
		{name: "problem, status a number", text: problem(`422`, ``), proof: true},
		{name: "problem without title and type", text: `{"status":"400"}`, proof: true},
		{name: "problem with a detail only", text: `{"detail":"` + personal + `"}`, proof: true},
		{
			name: "problem with an exception only", text: `{"exception":{"mandate_type":{"0":["` + personal + `"]}}}`,
			proof: true,
		},
		{name: "problem with the id of a request", text: problem(`"400"`, `,"id":"req-77"`), proof: true},
		{name: "problem about another answer", text: problem(`"502"`, `,"exception":{"name":["x"]}`)},
		{name: "problem about another answer, in words", text: problem(`"502 Bad Gateway"`, ``)},
		{name: "problem around two things with ids", text: problem(`"400"`, `,"data":{"id":1},"result":{"id":2}`)},
		{name: "problem with a state", text: problem(`{"id":1,"status":"created"}`, ``)},
		{name: "problem with an id", text: problem(`"400"`, `,"id":4711`), id: 4711},
		{name: "problem around an application", text: problem(`"400"`, `,"data":`+application("4711")), id: 4711},
		{name: "problem, empty", text: `{"type":"","title":"","exception":{}}`},
		{name: "something else", text: `{"status":"created","message":"` + personal + `"}`},
		{name: "state of an application", text: `{"status":{"id":1,"status":"created"},"name":"` + personal + `"}`},
	}
}

var testStatuses = []int{
	0, 101, 600, 999,
	200, 201, 202, 203, 204, 206, 299,
	300, 301, 302, 303, 304, 307, 308,
	400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418,
	421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499,
	500, 501, 502, 503, 504, 520, 599,
}

// earlyRefusals are the statuses that are decided before a request is carried out, by the service or by a proxy.
var earlyRefusals = []int{401, 403, 404, 405, 407, 410, 411, 413, 414, 415, 417, 421, 425, 426, 428, 429, 431}

// expected is what a caller must be told; done: no error.
type expected struct {
	done    bool
	outcome Outcome
}

// expectedOf is the rule of the table, written down a second time and from the research, not from the code.
func expectedOf(op Operation, status int, body testBody) expected {
	readable := status != http.StatusNoContent && body.name != "too large"
	switch {
	case status >= 200 && status < 300:
		switch op {
		case OpCreateApplication:
			return expected{done: readable && body.id != 0}
		case OpRetrieveApplication:
			return expected{done: readable && body.id == 4711}
		default:
			return expected{done: true}
		}
	case status < 400, status >= 500, status == http.StatusRequestTimeout:
		return expected{outcome: Unknown}
	case !emailing[op], slices.Contains(earlyRefusals, status), (status == 400 || status == 422) && body.proof:
		return expected{outcome: Refused}
	default:
		return expected{outcome: Unknown}
	}
}

func TestOutcomeOfEveryAnswer(t *testing.T) {
	for _, op := range []Operation{OpCreateApplication, OpResendInvites, OpDeleteApplication, OpRetrieveApplication} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t)
			c := s.client(t)
			c.limits.retries = rate.NewLimiter(0, 0) // one request a cell; retries have their own tests
			example := exampleOf(t, op)
			for _, status := range testStatuses {
				for _, body := range testBodies() {
					if body.large && status%100 != 0 {
						continue
					}
					s.say(plainAnswer(status, body.text))
					err := example.run(t.Context(), c)
					if failure := judge(err, op, status, body); failure != "" {
						t.Errorf("%d, %s: %s", status, body.name, failure)
					}
				}
			}
		})
	}
}

func judge(err error, op Operation, status int, body testBody) string {
	want := expectedOf(op, status, body)
	if err == nil {
		if !want.done {
			return "succeeded"
		}
		return ""
	}
	e, ok := err.(*Error) //nolint:errorlint // it must be one itself
	switch {
	case !ok || e == nil:
		return fmt.Sprintf("an error of type %T", err)
	case want.done:
		return "failed: " + e.Error()
	case e.Outcome != want.outcome:
		return fmt.Sprintf("%v, want %v", e.Outcome, want.outcome)
	case e.Status != status:
		return fmt.Sprintf("the error says status %d", e.Status)
	case e.Kind == "":
		return "no kind"
	case strings.Contains(e.Error(), personal), strings.Contains(e.Error(), "4711"), strings.Contains(e.Error(), "A-1"):
		return "the error repeats the answer: " + e.Error()
	}
	return ""
}

func TestCreatedIDIsThatOfTheResponse(t *testing.T) {
	s := newRawServer(t)
	c := s.client(t)
	for _, body := range testBodies() {
		s.say(plainAnswer(http.StatusOK, body.text))
		application, err := c.CreateApplication(t.Context(), someNewApplication())
		if err == nil && application.ID != body.id {
			t.Errorf("%s: created %d, want %d", body.name, application.ID, body.id)
		}
	}
}

func TestKinds(t *testing.T) {
	duplicate := `{"type":"","title":"x","exception":{"reference":["taken"]},"status":"400"}`
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
		"duplicate reference among others": {
			OpCreateApplication, 400, `{"exception":{"name":["x"],"Reference":"taken"},"code":7}`, KindDuplicateReference,
		},
		"duplicate reference, details in an object": {
			OpCreateApplication, 400, `{"exception":{"reference":[{"code":"unique"}]}}`, KindDuplicateReference,
		},
		"duplicate reference, no text": {
			OpCreateApplication, 400, `{"exception":{"reference":true}}`, KindDuplicateReference,
		},
		"nothing wrong with the reference": {
			OpCreateApplication, 400, `{"exception":{"reference":[],"name":["x"]}}`, KindInvalid,
		},
		"an individual's reference": {
			OpCreateApplication, 400, `{"exception":{"individuals":[{"reference":["taken"]}]}}`, KindInvalid,
		},
		"a conflict may be about this very request": {OpCreateApplication, 409, duplicate, KindConflict},
		"a reference, not create":                   {OpAcceptCheck, 400, duplicate, KindInvalid},
		"not found":                                 {OpRetrieveApplication, 404, ``, KindNotFound},
		"gone":                                      {OpRetrieveApplication, 410, ``, KindNotFound},
		"forbidden":                                 {OpRetrieveApplication, 403, ``, KindCredentials},
		"conflict":                                  {OpArchiveApplication, 409, ``, KindConflict},
		"rate limit":                                {OpSubscribeWebhook, 429, ``, KindRateLimited},
		"redirect":                                  {OpSubscribeWebhook, 307, ``, KindUnreadable},
		"teapot":                                    {OpSubscribeWebhook, 418, ``, KindRejected},
		"server":                                    {OpSubscribeWebhook, 500, ``, KindServer},
		"not JSON":                                  {OpRetrieveReferences, 200, `<html>`, KindUnreadable},
		"too large":                                 {OpRetrieveReferences, 200, strings.Repeat(" ", 2<<20), KindTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(test.status, test.body), false)
			c := s.client(t)
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
		s.login = func(http.ResponseWriter, *http.Request) { cancel(fmt.Errorf("about %s", personal)) }
		e := expectFailure(t, exampleOf(t, OpRetrieveApplication).run(ctx, s.client(t)), NotSent, KindCanceled)
		if got := e.Unwrap(); got != context.Canceled { //nolint:errorlint // it must be the bare one
			t.Errorf("unwraps to %v", got)
		}
	})
	t.Run("own deadline", func(t *testing.T) {
		c := s.client(t, func(config *Config) { config.RequestTimeout = time.Second })
		signIn(c)
		e := expectFailure(t, c.DeleteApplication(t.Context(), 1), Unknown, KindTimeout)
		if e.Unwrap() != nil {
			t.Errorf("unwraps to %v, but the caller's context goes on", e.Unwrap())
		}
	})
	t.Run("caller's deadline", func(t *testing.T) {
		c := s.client(t)
		signIn(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the deadline under test
		defer cancel()
		e := expectFailure(t, c.DeleteApplication(ctx, 1), Unknown, KindTimeout)
		if got := e.Unwrap(); got != context.DeadlineExceeded { //nolint:errorlint // it must be the bare one
			t.Errorf("unwraps to %v", got)
		}
	})
}
