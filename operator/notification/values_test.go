package notification

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mediaJSON, mediaForm = "application/json", "application/x-www-form-urlencoded"

// shapes are deliveries about application 4711 of the reference team.acme, with their first candidates.
var shapes = map[string]struct {
	contentType, body string
	want              []string // those that come first
}{
	"nested": {
		mediaJSON, `{"event":"application.created","time":"2026-06-01T12:00:00Z","application":{"id":4711,` +
			`"reference":"team.acme","status":{"id":1,"status":"created"}},"individual_id":99}`,
		[]string{"4711", "99", "team.acme", "1"},
	},
	"flat": {
		mediaJSON, `{"event_type":"x","mandate_id":4711,"mandate_reference":"team.acme","mandate_status":"y"}`,
		[]string{"4711", "team.acme"},
	},
	"wrapped": {
		mediaJSON, `{"type":"x","data":{"application":{"id":4711,"reference":"team.acme"}}}`, []string{"4711", "team.acme"},
	},
	"thin":           {mediaJSON, `{"id":4711}`, []string{"4711"}},
	"ids as strings": {mediaJSON, `{"application":{"id":"4711"}}`, []string{"4711"}},
	"list": {
		mediaJSON, `[{"application":{"id":4711}},{"application":{"id":4712}}]`, []string{"4711", "4712"},
	},
	"list of ids":      {mediaJSON, `{"type":"x","application_ids":[4711,4712]}`, []string{"4711", "4712"}},
	"reference only":   {mediaJSON, `{"reference":"team.acme"}`, []string{"team.acme"}},
	"individual only":  {mediaJSON, `{"event":"individual.completed","individual":{"id":99}}`, []string{"99"}},
	"other case":       {mediaJSON, `{"Application":{"ID":4711,"Reference":"team.acme"}}`, []string{"4711", "team.acme"}},
	"camel case":       {mediaJSON, `{"eventType":"x","applicationId":4711}`, []string{"4711"}},
	"form":             {mediaForm, `event=x&application_id=4711&reference=team.acme`, []string{"4711", "team.acme"}},
	"form with JSON":   {mediaForm, `payload=%7B%22application%22%3A%7B%22id%22%3A4711%7D%7D`, []string{"4711"}},
	"unlabeled form":   {"", `application_id=4711&reference=team+acme`, []string{"4711", "team acme"}},
	"JSON in a string": {mediaJSON, `{"message":"{\"application\":{\"id\":4711}}"}`, []string{"4711"}},
	"JSON in a string in a string": {
		mediaJSON, `{"body":"{\"message\":\"{\\\"application_id\\\":4711}\"}"}`, []string{"4711"},
	},
	"a link": {
		mediaJSON, `{"event":"x","href":"https://idv.example.com/api/v1/ext/applications/4711/?a=b"}`, []string{"4711"},
	},
	"text":                   {"text/plain", "4711", []string{"4711"}},
	"text with names":        {"text/plain", "event: updated\napplication_id: 4711\n", []string{"4711"}},
	"JSON with a wrong type": {"text/plain; charset=utf-8", ` {"application_id":4711}`, []string{"4711"}},
	"JSON with a mark":       {mediaJSON, "\ufeff{\"application_id\":4711}", []string{"4711"}},
	"several documents":      {mediaJSON, "{\"mandate_id\":4711}\n{\"mandate_id\":4712}", []string{"4711", "4712"}},
	"cut":                    {mediaJSON, `{"application_id":4711,"name":"Ja`, []string{"4711"}},
	"escaped":                {mediaJSON, `{"reference":"team\u002eacme"}`, []string{"team.acme"}},
	"a number that is a reference": {
		mediaJSON, `{"reference":20260001}`, []string{"20260001"},
	},
	"nothing":   {"", "", nil},
	"empty":     {mediaJSON, "{}", nil},
	"truths":    {mediaJSON, `[true,false,null,1.5,-3,0]`, nil},
	"too large": {mediaJSON, `{"reference":"` + strings.Repeat("x", 151) + `"}`, nil},
	"as large as can be": {
		mediaJSON, `{"reference":"` + strings.Repeat("é", 150) + `"}`, []string{strings.Repeat("é", 150)},
	},
}

func TestCandidates(t *testing.T) {
	for name, c := range shapes {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, candidate := range Candidates(c.contentType, []byte(c.body)) {
				got = append(got, candidate.Text)
			}
			if len(got) > len(c.want) && len(c.want) > 0 {
				got = got[:len(c.want)]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the candidates (-want +got):\n%s", diff)
			}
		})
	}
}

// What is most likely an application is not crowded out by the rest, which comes first.
func TestCandidatesAreRanked(t *testing.T) {
	var others []string
	for i := range 100 {
		others = append(others, fmt.Sprintf(`{"event_id":%d,"text":"%[1]d.x"}`, 100+i))
	}
	body := fmt.Sprintf(`{"events":[%s],"id":4712,"application":{"id":4711}}`, strings.Join(others, ","))
	got := Candidates(mediaJSON, []byte(body))
	if len(got) != maxCandidates || got[0].Number != 4711 || got[1].Number != 4712 {
		t.Errorf("%d candidates, beginning with %+v", len(got), got[:2])
	}
}

func TestIDs(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "4711": 4711, "9007199254740991": 1<<53 - 1,
		"": 0, "0": 0, "007": 0, "-1": 0, "+1": 0, "1.0": 0, "1e3": 0, "1\n": 0, "٣": 0,
		"9007199254740992": 0, "9223372036854775808": 0, "10000000000000000000": 0,
	} {
		if got := id(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

// A hostile body of the greatest length costs little memory.
func TestHostileBodies(t *testing.T) {
	const size = 64 << 10
	deep := `{"a":` + strings.Repeat("[", size) + `4711`
	var nested strings.Builder
	for nested.Len() < size {
		nested.WriteString(`"{\"a\":\"[1]\"}",`)
	}
	for name, body := range map[string]string{
		"brackets": strings.Repeat("[", size), "pairs": strings.Repeat("[]", size/2), "braces": strings.Repeat("{", size),
		"closed": strings.Repeat("}", size), "quotes": strings.Repeat(`"`, size), "numbers": strings.Repeat("1,", size/2),
		"names": "{" + strings.Repeat(`"a":`, size/4), "escapes": `["` + strings.Repeat(`\\`, size/2) + `"]`,
		"blanks": "[" + strings.Repeat(`"" `, size/3), "deep": deep, "nested": "[" + nested.String(),
		"half escapes": `["` + strings.Repeat(`\`, size), "not UTF-8": "[" + strings.Repeat("\"\xff\",", size/4),
		"a form": strings.Repeat("a=1&", size/4), "a form of names": strings.Repeat("a%3D&", size/5),
		"a form of documents": strings.Repeat("a=[&", size/4), "text": deep[:size/2],
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Candidates("", raw)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			if allocated > 16*size {
				t.Errorf("%d bytes are allocated", allocated)
			}
		})
	}
}
