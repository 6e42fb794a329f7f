package client

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// proves is the rule, from the interface and the research and not from the code, for a 400 or 422 to an operation that
// e-mails people: the body is one JSON object with the members of a problem, about this response, and neither it nor
// anything that it wraps has an id.
func proves(status int, body []byte) bool {
	_, members := entriesOf(body)
	if !isObject(body) || holdsID(body, 0) {
		return false
	}
	isProblem := false
	for _, m := range members {
		text, _ := scalarOf(m.value)
		switch kind, _ := entriesOf(m.value); {
		case m.named("status") && kind != 0:
			return false // the state of something, not a number of HTTP
		case m.named("status"):
			if digits := regexp.MustCompile(`^\d+`).FindString(text); digits != "" {
				if code, err := strconv.Atoi(digits); err != nil || code/100 != status/100 {
					return false
				}
				isProblem = true
			}
		case m.named("title", "detail"):
			isProblem = isProblem || text != ""
		case m.named("exception"):
			isProblem = isProblem || kind == '{' && hasContent(m.value, 0)
		}
	}
	return isProblem
}

func holdsID(value []byte, depth int) bool {
	_, members := entriesOf(value)
	if soleID(members) != 0 || len(valuesOf(members, "id")) > 1 {
		return true
	}
	return depth < 3 && slices.ContainsFunc(members, func(m entry) bool {
		return m.named(
			"application", "mandate", "individual", "data", "result", "item",
		) && isObject(m.value) && holdsID(m.value, depth+1)
	})
}

// hasContent reports whether a tree has a leaf that is not null.
func hasContent(value []byte, depth int) bool {
	kind, entries := entriesOf(value)
	if kind == 0 {
		return string(value) != "null"
	}
	return depth < 20 && slices.ContainsFunc(entries, func(e entry) bool {
		nested, _ := entriesOf(e.value)
		return kind == '[' && nested == '[' || hasContent(e.value, depth+1)
	})
}

// namesReference reports whether the exception says something of the application's own reference.
func namesReference(body []byte) bool {
	_, members := entriesOf(body)
	return slices.ContainsFunc(members, func(m entry) bool {
		_, fields := entriesOf(m.value)
		return m.named("exception") && slices.ContainsFunc(
			fields, func(f entry) bool { return f.named("reference") && hasContent(f.value, 0) },
		)
	})
}

// seeFields is all that a body may add to an error's text.
var seeFields = regexp.MustCompile(`^(; invalid fields: (\w|\[|\]|\.|, | )+)?$`)

// FuzzOutcome: whatever the status, the body and the headers, an answer to what e-mails people is Refused only if the
// rule says so, and the error says nothing of the body but the interface's own field names.
func FuzzOutcome(f *testing.F) {
	for _, body := range testBodies() {
		for _, status := range []int{400, 409, 422, 500} {
			if !body.large {
				f.Add(uint8(1), status, []byte(body.text), "7") // create application
			}
		}
	}
	for _, body := range []string{
		`{"title":"x","data":{"id":1},"result":{"id":2}}`,
		`{"title":"x","status":"502 Bad Gateway"}`,
		`{"title":"x","status":"400","Status":"200"}`,
		`{"title":"Ms","status":{"id":1,"status":"created"}}`,
		`{"title":"x","data":{"mandate":{"ID":"4711"}}}`,
		`{"exception":{"reference":[null,{}]}}`,
	} {
		f.Add(uint8(1), 400, []byte(body), "-1")
	}
	ops := make([]Operation, 0, len(operations))
	for _, example := range operationExamples() {
		ops = append(ops, example.op)
	}
	f.Fuzz(func(t *testing.T, which uint8, status int, data []byte, header string) {
		op := ops[int(which)%len(ops)]
		if status < 0 || status > 999 || status/100 == 2 {
			return
		}
		body := trimmed(data).body
		response := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {header}, "Allow": {header}}}
		e := statusError(op, response, body)
		rule := expectedOf(op, status, testBody{proof: proves(status, body)})
		switch {
		case e.Outcome == NotSent:
			t.Errorf("%s answered with %d was sent", op, status)
		case e.Outcome == Refused && rule.outcome != Refused:
			t.Errorf("%s answered with %d is Refused, and nothing proves it", op, status)
		case e.Kind == "", e.Kind == KindDuplicateReference && !namesReference(body):
			t.Errorf("kind %q", e.Kind)
		case e.RetryAfter < 0, e.RetryAfter > 15*time.Minute, e.RetryAfter > 0 && status != 429 && status != 503:
			t.Errorf("%d asks to wait %v", status, e.RetryAfter)
		}
		redacted := withoutOutcome(statusError(op, response, nil))
		if added, ok := strings.CutPrefix(withoutOutcome(e), redacted); !ok || !seeFields.MatchString(added) ||
			!onlyKnown(added) {
			t.Errorf("the body gave %q to the error's text", e)
		}
	})
}

func withoutOutcome(e *Error) string {
	text, _, _ := strings.Cut(e.Error(), " (nothing was done)")
	text, _, _ = strings.Cut(text, " (the service may have carried it out)")
	return text
}

// onlyKnown reports whether all fields of "; invalid fields: a.b[0], c" are the interface's.
func onlyKnown(see string) bool {
	for word := range strings.FieldsFuncSeq(strings.TrimPrefix(see, "; invalid fields: "),
		func(r rune) bool { return strings.ContainsRune(",.[]", r) }) {
		word = strings.TrimSpace(word)
		if _, err := strconv.Atoi(word); err != nil && word != "unknown field" && word != "" &&
			!slices.Contains(requestFields, word) {
			return false
		}
	}
	return true
}

// FuzzDocumentedRefusal: a problem as the interface documents it is a refusal, whatever its texts are.
func FuzzDocumentedRefusal(f *testing.F) {
	f.Add("A request parameter did not validate", "reference", "has been taken", uint8(0), false)
	f.Add("", "Reference", "", uint8(1), true)
	f.Add("x", "email", "\xff", uint8(2), true)
	f.Fuzz(func(t *testing.T, title, field, message string, before uint8, ofIndividual bool) {
		said := map[string]any{field: []string{message}}
		exception := said
		if ofIndividual {
			individuals := make([]map[string]any, int(before)+1)
			individuals[before] = said
			exception = map[string]any{"individuals": individuals}
		}
		body, err := json.Marshal(map[string]any{"type": "", "title": title, "exception": exception, "status": "400"})
		if err != nil {
			t.Fatal(err)
		}
		e := statusError(OpCreateApplication, &http.Response{StatusCode: http.StatusBadRequest}, body)
		want := KindInvalid
		if !ofIndividual && (entry{name: field}).named("reference") {
			want = KindDuplicateReference
		}
		if e.Outcome != Refused || e.Kind != want || len(e.Problem.Fields()) != 1 {
			t.Errorf("%s is %v %v, want Refused %v; fields %v", body, e.Outcome, e.Kind, want, e.Problem.Fields())
		}
	})
}
