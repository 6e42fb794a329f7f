package client

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/client/wire"
)

// TestResponseLimits: what exceeds a limit is refused as a whole, and not asked for again. Package wire holds each
// limit at its edge.
func TestResponseLimits(t *testing.T) {
	nested := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, test := range map[string]struct {
		op   Operation
		body string
	}{
		"depth":                {OpRetrieveApplication, `{"id":4711,"x":` + nested + `}`},
		"depth of what exists": {OpResendInvites, nested},
		"individuals":          {OpRetrieveApplication, `{"id":4711,"individuals":[` + listed(`{}`, 10_001) + `]}`},
		"objects": {
			OpRetrieveApplication, `{"id":4711,"individuals":[` + listed(`{"checks":[`+listed(`{}`, 9)+`]}`, 2000) + `]}`,
		},
		"countries": {OpRetrieveReferences, `{"countries":[` + listed(`"x"`, 10_001) + `]}`},
		"values":    {OpRetrieveWebhook, `[` + listed(`[`+listed(`0`, 9_999)+`]`, 14) + `]`},
		"bytes":     {OpRetrieveReferences, `{"x":"` + strings.Repeat("x", wire.MaxBytes) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, test.body), false)
			expectFailure(t, exampleOf(t, test.op).run(t.Context(), s.signedIn(t)), Unknown, KindTooLarge)
			s.expect(t, 1, 0) // what is too large now is so the next time
		})
	}
}

// Whatever else is in the answer to a create, its id is read.
func TestCreatedDespiteManyIndividuals(t *testing.T) {
	body := `{"individuals":[` + listed(`{}`, 20_000) + `],"id":4711,"reference":"A-1"}`
	s := newService(t, answers(http.StatusOK, body), false)
	created, err := s.signedIn(t).CreateApplication(t.Context(), someNewApplication())
	if err != nil || created.ID != 4711 || len(created.Individuals) > 0 {
		t.Errorf("created %v, %v", created, err)
	}
}

// TestMemoryOfResponses: what a response leaves behind is a small multiple of its bytes, for all that is accepted.
func TestMemoryOfResponses(t *testing.T) {
	const most = 4 * wire.MaxBytes
	fill := func(before, item, after string, n int) string {
		n = min(n, (wire.MaxBytes-len(before)-len(after))/(len(item)+1))
		return before + listed(item, n) + after
	}
	const open = `{"id":4711,"individuals":[`
	for name, body := range map[string]string{
		"individuals": fill(open, `{}`, `]}`, 10_000),
		"checks":      fill(open+`{"checks":[`, `{}`, `]}]}`, 10_000),
		"both":        fill(open, `{"checks":[`+listed(`{"id":1}`, 15)+`]}`, `]}`, 1_000),
		"actions":     fill(`{"id":4711,"available_actions":[`, `{"name":"x"}`, `]}`, 10_000),
		"members":     fill(open, fill(`{`, `"":0`, `}`, 9_999), `]}`, 12),
		"long names":  fill(`{"id":4711,`, `"`+strings.Repeat("é", 10_000)+`":0`, `}`, 10_000),
		"long texts":  fill(open, `{"reference":"`+strings.Repeat("x", 10_000)+`"}`, `]}`, 10_000),
		"values":      fill(open, `{"checks":[{},{},{}],"id":1}`, `]}`, 4_000),
	} {
		q := newRequest(OpRetrieveApplication, 4711)
		response := &http.Response{
			StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}
		c := &Client{config: Config{DiscardRaw: true}}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		application, err := parseApplication(c.read(t.Context(), q, response))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*most {
			t.Errorf("%s: %d KiB were allocated", name, used>>10)
		}
		q.answer = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most {
			t.Errorf("%s: %d KiB are kept", name, kept>>10)
		}
		runtime.KeepAlive(application)
	}
}

func TestRawIsDiscarded(t *testing.T) {
	for _, discard := range []bool{false, true} {
		s := newService(t, answers(http.StatusOK, `{"id":4711,"individuals":[{"id":1}]}`), false)
		c := s.signedIn(t, func(c *Config) { c.DiscardRaw = discard })
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
