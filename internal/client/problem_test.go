package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client/wire"
)

func problemOf(t *testing.T, status int, text string) *Problem {
	t.Helper()
	value, err := wire.Parse([]byte(text))
	if err != nil {
		value = wire.Value{} // as a response that cannot be read
	}
	return parseProblem(status, value)
}

func TestFieldErrors(t *testing.T) {
	for name, test := range map[string]struct {
		exception string
		want      string // path=messages, in the order of the answer
	}{
		"field":         {`{"name":["too long","odd"]}`, "name=too long|odd"},
		"message alone": {`{"name":"too long"}`, "name=too long"},
		"individuals": {
			`{"individuals":[{},{"reference":["taken"],"email":["bad"]}]}`,
			"individuals[1].reference=taken individuals[1].email=bad",
		},
		"individuals as messages": {`{"individuals":["none given"]}`, "individuals=none given"},
		"both": {
			`{"individuals":["too many",{"email":["bad"]}]}`, "individuals[1].email=bad individuals=too many",
		},
		"other letter case":         {`{"mandateType":["unknown"]}`, "mandate_type=unknown"},
		"field that nobody knows":   {`{"` + personal + `":["x"]}`, "unknown field=x"},
		"in an object":              {`{"reference":{"` + personal + `":["taken"]}}`, "reference.unknown field=taken"},
		"no text":                   {`{"name":[7,true],"reference":false}`, "name= reference="},
		"nothing said":              {`{"name":[],"reference":null,"individuals":[{},null]}`, ""},
		"lists in lists are no use": {`{"name":[["x"]]}`, "name="},
	} {
		t.Run(name, func(t *testing.T) {
			problem := problemOf(t, 400, (`{"title":"x","exception":` + test.exception + `,"status":"400"}`))
			var got []string
			for _, e := range problem.Errors {
				var messages []string
				for _, m := range e.Messages {
					messages = append(messages, m.Reveal())
				}
				got = append(got, e.Path.String()+"="+strings.Join(messages, "|"))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
			e := &Error{Operation: OpCreateApplication, Outcome: Refused, Kind: KindInvalid, Status: 400, Problem: problem}
			if strings.Contains(e.Error()+fmt.Sprintf("%v %+v %#v", problem, problem, *problem), personal) {
				t.Errorf("%v repeats what the service wrote", e)
			}
		})
	}
}

func TestProblemMembers(t *testing.T) {
	p := problemOf(t, 422, `{"type":"about:blank","title":"Invalid","detail":"More","instance":"/x","status":422}`)
	got := []string{p.Type.Reveal(), p.Title.Reveal(), p.Detail.Reveal()}
	if want := "[about:blank Invalid More]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	var none *Problem
	if none.Has("reference") || none.Fields() != nil || none.NamesReference() || none.ReferenceFormat() {
		t.Error("no problem says something")
	}
}

// TestHugeProblem: a hostile answer costs no more than a large one, and cannot push the one field out that decides.
func TestHugeProblem(t *testing.T) {
	individuals := strings.Repeat(
		`{"email":["a"],"first_name":["b"],"last_name":["c"],"date_of_birth":["d"],"gender":["e"],"title":["f"]},`, 50,
	)
	individuals = strings.TrimRight(individuals, ",")
	p := problemOf(t, 400, (`{"exception":{"individuals":[` + individuals + `],"reference":["taken"]}}`))
	if len(p.Errors) != 301 || !p.Has("reference") {
		t.Errorf("%d errors", len(p.Errors))
	}
	for name, test := range map[string]struct {
		exception string
		read      bool
	}{
		"many fields":     {`{` + listed(`"x":["y"]`, 10_000) + `}`, true},
		"too many fields": {`{` + listed(`"x":["y"]`, 10_001) + `}`, false},
		"many items":      {`{"individuals":[` + listed(`{"email":"x"}`, 10_000) + `]}`, true},
		"too many items":  {`{"individuals":[` + listed(`{"email":"x"}`, 10_001) + `]}`, false},
		"many messages":   {`{"email":[` + listed(`"x"`, 10_000) + `]}`, true},
		"depth":           {strings.Repeat(`{"x":`, 31) + `"y"` + strings.Repeat(`}`, 31), true},
		"too deep":        {strings.Repeat(`{"x":`, 32) + `"y"` + strings.Repeat(`}`, 32), false},
	} {
		p := problemOf(t, 400, `{"title":"x","exception":`+test.exception+`}`)
		if (p != nil) != test.read {
			t.Errorf("%s: %v", name, p)
		}
		if p == nil {
			continue
		}
		e := &Error{Operation: OpCreateApplication, Problem: p}
		if len(p.Errors) > maxExceptionLeaves || len(e.Error()) > 1000 {
			t.Errorf("%s: %d errors, a text of %d bytes", name, len(p.Errors), len(e.Error()))
		}
		for _, fieldError := range p.Errors {
			if len(fieldError.Messages) > maxMessages {
				t.Errorf("%s: %d messages", name, len(fieldError.Messages))
			}
		}
	}
}

// TestReferenceFormat: what is said of a reference may be about its form, which is not that it is taken. Where the
// words do not tell, it counts as taken: the reference may be that of an application.
func TestReferenceFormat(t *testing.T) {
	for exception, want := range map[string]struct{ about, format bool }{
		`{"reference":["has already been taken"]}`:                                 {true, false},
		`{"reference":["This reference already exists in another format"]}`:        {true, false},
		`{"reference":["Only letters, digits, - and _"]}`:                          {true, true},
		`{"reference":["May not be longer than 50"]}`:                              {true, true},
		`{"reference":["no"]}`:                                                     {true, false},
		`{"reference":true}`:                                                       {true, false},
		`{"individuals":[{"reference":["invalid format"]}]}`:                       {true, true},
		`{"individuals":[{"reference":["invalid format"]}],"reference":["taken"]}`: {true, false},
		`{"name":["invalid format"]}`:                                              {false, false},
		`{"reference":["no"],"name":["invalid format"]}`:                           {true, false},
	} {
		p := problemOf(t, 400, `{"title":"x","exception":`+exception+`}`)
		if p.NamesReference() != want.about || p.ReferenceFormat() != want.format {
			t.Errorf("%s: names a reference: %v, its format: %v", exception, p.NamesReference(), p.ReferenceFormat())
		}
	}
}

// listed repeats the text of an item.
func listed(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

func TestErrorTexts(t *testing.T) {
	for want, e := range map[string]*Error{
		"create application: HTTP 400 Bad Request; invalid fields: individuals[0].email, reference (nothing was done)": {
			Operation: OpCreateApplication, Outcome: Refused, Kind: KindInvalid, Status: 400,
			Problem: problemOf(t, 400, `{"exception":{"reference":["x"],"individuals":[{"email":["y"]}]}}`)},
		"create application: login failed: HTTP 401 Unauthorized: the service rejected the credentials (nothing was sent)": {
			Operation: OpCreateApplication, Outcome: NotSent, Kind: KindCredentials, Status: 401, Login: true,
			detail: "the service rejected the credentials"},
		"resend invites: HTTP 404 Not Found: the response is not the service's own error body; a proxy or an ingress may " +
			"have sent it (the service may have carried it out)": {
			Operation: OpResendInvites, Kind: KindUnproven, Status: 404,
		},
		"create application: the connection broke (the service may have carried it out)": {
			Operation: OpCreateApplication, Kind: KindConnection, detail: "the connection broke"},
		"retrieve application: HTTP 599": {
			Operation: OpRetrieveApplication, Kind: KindServer, Status: 599,
		},
		"retrieve application: HTTP 502 Bad Gateway": {
			Operation: OpRetrieveApplication, Kind: KindServer, Status: 502,
		},
		"retrieve application: HTTP 404 Not Found (nothing was done)": {
			Operation: OpRetrieveApplication, Outcome: Refused, Kind: KindNotFound, Status: 404,
		},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestErrorsOfOthers(t *testing.T) {
	other := fmt.Errorf("of another package")
	wrapped := fmt.Errorf("while reading: %w", &Error{Outcome: Refused, Kind: KindNotFound, RetryAfter: 7})
	if OutcomeOf(other) != Unknown || KindOf(other) != "" || IsNotFound(other) || RetryAfterOf(other) != 0 ||
		OutcomeOf(nil) != Done || KindOf(nil) != "" || IsForbidden(nil) {
		t.Error("an error of another package is Unknown and nothing else")
	}
	if OutcomeOf(wrapped) != Refused || KindOf(wrapped) != KindNotFound || !IsNotFound(wrapped) ||
		RetryAfterOf(wrapped) != 7 {
		t.Error("a wrapped error is recognised")
	}
	if got := fmt.Sprintln(Unknown, NotSent, Refused, Forbidden, Candidate, Accepted, Done); got !=
		"Unknown NotSent Refused Forbidden Candidate Accepted Done\n" {
		t.Error(got)
	}
}
