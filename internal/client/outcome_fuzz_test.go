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

// isWord is the rule, from the design and not from the code, for a body that is the service's own word: one JSON object
// with a title or an exception, whose status, if it has one, is a number that says the same as the status line.
func isWord(status int, body []byte) bool {
	_, members := entriesOf(body)
	isProblem := false
	statuses := map[string]bool{}
	for _, m := range members {
		text, isString := scalarOf(m.value)
		switch kind, _ := entriesOf(m.value); {
		case m.named("status") && kind != 0:
			return false // the state of something, not a number of HTTP
		case m.named("status") && string(m.value) != "null":
			statuses[string(m.value)] = true
			digits := regexp.MustCompile(`^\d+`).FindString(text)
			if code, err := strconv.Atoi(digits); digits != "" && (err != nil || code != status && (code/100 != 4 ||
				slices.Contains([]int{408, 425, 499}, code) || slices.Contains([]int{408, 425, 499}, status))) {
				return false
			}
		case m.named("title"):
			isProblem = isProblem || isString && text != ""
		case m.named("exception"):
			isProblem = isProblem || kind == '{'
		}
	}
	return isProblem && len(statuses) < 2
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

// FuzzOutcome: whatever the status, the body and the headers, an answer to what e-mails people is a refusal only if the
// rule says so, and done only if it is a whole answer. The error says nothing of the body but the interface's own field
// names.
func FuzzOutcome(f *testing.F) {
	for _, body := range testBodies() {
		for _, status := range []int{200, 202, 303, 400, 401, 409, 422, 500} {
			if !body.large {
				f.Add(uint8(1), status, []byte(body.text), "7") // create application
				f.Add(uint8(10), status, []byte(body.text), "7")
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
		f.Add(uint8(1), 401, []byte(body), "Bearer")
		f.Add(uint8(1), 201, []byte(body), "/ext/applications/4711")
	}
	ops := make([]Operation, 0, len(operations))
	for _, example := range operationExamples() {
		ops = append(ops, example.op)
	}
	f.Fuzz(func(t *testing.T, which uint8, status int, data []byte, line string) {
		op := ops[int(which)%len(ops)]
		if status < 100 || status > 999 {
			return
		}
		header := http.Header{"Retry-After": {line}, "Allow": {line}, "Location": {line}, "Www-Authenticate": {line}}
		answer := answered(op, status, header, data)
		e := answer.judge()
		if e == nil {
			isJSON := len(answer.json) == 0 || json.Valid(answer.json)
			_, members := entriesOf(answer.json)
			fails := soleID(members) == 0 && slices.ContainsFunc(members, func(m entry) bool {
				text, isString := scalarOf(m.value)
				return m.named("success") && string(m.value) == "false" ||
					m.named("error") && isString && text != "" && text != "0" && !strings.EqualFold(text, "false")
			})
			if status/100 != 2 || operations[op].effect.mutates() && (!isJSON || fails) {
				t.Errorf("%s answered with %d is done", op, status)
			}
			return
		}
		word := answer.failed == nil && answer.invalid == nil && isWord(status, answer.json) ||
			status == 401 && strings.Contains(strings.ToLower(line), "bearer")
		switch {
		case e.Outcome == NotSent, e.Outcome == Done:
			t.Errorf("%s answered with %d is %v", op, status, e.Outcome)
		case operations[op].effect.emails() && e.Outcome.NothingDone() && (!word || status/100 != 4):
			t.Errorf("%s answered with %d is %v, and nothing proves it", op, status, e.Outcome)
		case e.Kind == "", e.Kind == KindDuplicateReference && (!namesReference(answer.json) || e.Outcome != Refused):
			t.Errorf("kind %q", e.Kind)
		case e.RetryAfter < 0, e.RetryAfter > 15*time.Minute, e.RetryAfter > 0 && status != 429 && status != 503:
			t.Errorf("%d asks to wait %v", status, e.RetryAfter)
		}
		without := *e
		without.Problem = nil
		added, ok := strings.CutPrefix(withoutOutcome(e), withoutOutcome(&without))
		if !ok || !seeFields.MatchString(added) || !onlyKnown(added) || !fixedText(e.detail) {
			t.Errorf("the body gave %q to the error's text", e)
		}
	})
}

// fixedText reports whether a text could be one of the package's own: it has words, and no digits or quotes.
func fixedText(text string) bool { return !strings.ContainsAny(text, "0123456789\"<>{}\\") }

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
		e := answered(OpCreateApplication, http.StatusBadRequest, nil, body).judge()
		want := KindInvalid
		if !ofIndividual && (entry{name: field}).named("reference") && !e.Problem.ReferenceFormat() {
			want = KindDuplicateReference
		}
		if e.Outcome != Refused || e.Kind != want || len(e.Problem.Fields()) != 1 {
			t.Errorf("%s is %v %v, want Refused %v; fields %v", body, e.Outcome, e.Kind, want, e.Problem.Fields())
		}
	})
}
