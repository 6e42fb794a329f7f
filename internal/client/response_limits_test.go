package client

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestResponseLimits: each limit at its edge and beyond, and what exceeds it is refused as a whole.
func TestResponseLimits(t *testing.T) {
	application := func(members string) string { return `{"id":4711,"reference":"A-1",` + members + `}` }
	individuals := func(n int) string { return application(`"individuals":[` + listed(`{}`, n) + `]`) }
	checks := func(n int) string {
		return application(`"individuals":[{"checks":[` + listed(`{}`, n) + `]}]`)
	}
	types := func(n int) string { return `{"mandate_types":[` + listed(`{}`, n) + `]}` }
	texts := func(n int) string {
		return `{"document_types":[{"description":"` + strings.Repeat("x", n) + `"}]}`
	}
	nested := func(n int) string { return application(`"x":` + strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for name, test := range map[string]struct {
		op   Operation
		body func(n int) string
		most int
	}{
		"individuals":          {OpRetrieveApplication, individuals, maxIndividuals},
		"checks":               {OpRetrieveApplication, checks, maxItems - 1}, // and one individual
		"depth":                {OpRetrieveApplication, nested, maxDepth - 1},
		"depth of what exists": {OpCreateApplication, nested, maxDepth - 1},
		"mandate types":        {OpRetrieveReferences, types, maxMandateTypes},
		"texts":                {OpRetrieveReferences, texts, maxTexts},
		"entries": {OpRetrieveReferences, func(n int) string {
			return `{"countries":[` + listed(`"x"`, n) + `]}`
		}, maxEntries},
		"values": {OpRetrieveReferences, func(n int) string {
			lists := n / 1000
			return `{"x":[` + listed(`[`+listed(`0`, 999)+`]`, lists) + strings.Repeat(`,0`, n-1000*lists) + `]}`
		}, maxValues - 1},
		"webhooks": {OpRetrieveWebhook, func(n int) string { return `[` + listed(`{}`, n) + `]` }, maxEntries},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{test.most, test.most + 1} {
				s := newService(t, answers(http.StatusOK, test.body(n)), false)
				err := exampleOf(t, test.op).run(t.Context(), s.client(t))
				if n == test.most {
					if err != nil {
						t.Errorf("at the limit: %v", err)
					}
					continue
				}
				expectFailure(t, err, Unknown, KindTooLarge)
				s.expect(t, 1, 1) // what is too large now is so the next time
			}
		})
	}
}

// Whatever else is in the answer to a create, its id is read.
func TestCreatedDespiteManyIndividuals(t *testing.T) {
	body := `{"individuals":[` + listed(`{}`, maxEntries) + `],"id":4711}`
	s := newService(t, answers(http.StatusOK, body), false)
	created, err := s.client(t).CreateApplication(t.Context(), someNewApplication())
	if err != nil || created.ID != 4711 || len(created.Individuals) > 0 {
		t.Errorf("created %v, %v", created, err)
	}
}

// TestMemoryOfResponses: what a response leaves behind is a small multiple of its bytes, for all that is accepted.
func TestMemoryOfResponses(t *testing.T) {
	const most = 4 * maxJSON
	fill := func(before, item, after string, n int) string {
		n = min(n, (maxJSON-len(before)-len(after))/(len(item)+1))
		return before + listed(item, n) + after
	}
	const open = `{"id":4711,"individuals":[`
	for name, body := range map[string]string{
		"individuals": fill(open, `{}`, `]}`, maxIndividuals),
		"checks":      fill(open+`{"checks":[`, `{}`, `]}]}`, maxItems-1),
		"actions":     fill(`{"id":4711,"available_actions":[`, `{"name":"x"}`, `]}`, maxItems),
		"members":     fill(open, fill(`{`, `"":0`, `}`, maxEntries-1), `]}`, 12),
		"long names":  fill(`{"id":4711,`, `"`+strings.Repeat("é", 10_000)+`":0`, `}`, maxEntries),
		"values":      fill(open, `{"checks":[{},{},{}],"id":1}`, `]}`, maxIndividuals/2),
	} {
		r := &response{operation: OpRetrieveApplication, status: 200, body: []byte(body), discardRaw: true}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		application, err := parseApplication(r)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*most {
			t.Errorf("%s: %d KiB were allocated", name, used>>10)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most/2 {
			t.Errorf("%s: %d KiB are kept", name, kept>>10)
		}
		runtime.KeepAlive(application)
	}
}

func TestRawIsDiscarded(t *testing.T) {
	for _, discard := range []bool{false, true} {
		s := newService(t, answers(http.StatusOK, `{"id":4711,"individuals":[{"id":1}]}`), false)
		c := s.client(t, func(c *Config) { c.DiscardRaw = discard })
		application, err := c.RetrieveApplication(t.Context(), 4711)
		references, err2 := c.RetrieveReferences(t.Context())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		got := fmt.Sprint(len(application.Raw.Reveal()) == 0, len(references.Raw) == 0)
		if want := fmt.Sprint(discard, discard); got != want {
			t.Errorf("with DiscardRaw=%v, nothing is raw: %s", discard, got)
		}
	}
}
