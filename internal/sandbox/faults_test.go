package sandbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

func TestFaults(t *testing.T) {
	const create = control.CreateApplication
	cases := map[string]struct {
		fault  control.Fault
		status int // 0: no response
		done   int // applications that exist after it
	}{
		"an answer in place of the work":      {control.Fault{Kind: control.Answer}, 500, 0},
		"an answer after the work":            {control.Fault{Kind: control.Answer, Status: 503, AfterWork: true}, 503, 1},
		"a lost response":                     {control.Fault{Kind: control.Close, AfterWork: true}, 0, 1},
		"a connection closed before anything": {control.Fault{Kind: control.Close}, 0, 0},
		"a connection reset before anything":  {control.Fault{Kind: control.ResetConnection}, 0, 0},
		"a connection reset after the work":   {control.Fault{Kind: control.ResetConnection, AfterWork: true}, 0, 1},
		"garbage in place of the work":        {control.Fault{Kind: control.Garbage}, 200, 0},
		"garbage after the work":              {control.Fault{Kind: control.Garbage, AfterWork: true, Status: 201}, 201, 1},
		"slow":                                {control.Fault{Kind: control.Slow, DelayMillis: 1}, 200, 1},
		"slow after the work":                 {control.Fault{Kind: control.Slow, DelayMillis: 1, AfterWork: true}, 200, 1},
		"a slow body":                         {control.Fault{Kind: control.SlowBody, DelayMillis: 1, Status: 201}, 201, 0},
		"a slow body after the work": {
			control.Fault{Kind: control.SlowBody, DelayMillis: 1, AfterWork: true}, 200, 1,
		},
		"a drip": {control.Fault{Kind: control.Drip, DelayMillis: 100}, 200, 1},
		"whatever the operation": {
			control.Fault{Kind: control.Answer, Operation: control.AnyOperation}, 500, 0,
		},
		"another operation's is not triggered": {control.Fault{Kind: control.Answer, Operation: control.References}, 200, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			if c.fault.Operation == "" {
				c.fault.Operation = create
			}
			noError(t, s.Fault(t.Context(), c.fault))
			got, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
			if (err != nil) != (c.status == 0) || got.status != c.status {
				t.Errorf("status %d, error %v; want status %d", got.status, err, c.status)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset != (c.fault.Kind == control.ResetConnection) {
				t.Errorf("connection reset: %t (%v)", reset, err)
			}
			applications, err := s.Applications(t.Context())
			noError(t, err)
			wantEqual(t, "applications", c.done, len(applications))
			wantEqual(t, "e-mails", c.done, len(s.emails()))
			stats, err := s.Stats(t.Context())
			noError(t, err)
			if lost := stats.Operations[create].Answers[control.Lost]; (lost == 1) != (c.status == 0) {
				t.Errorf("%d lost answers", lost)
			}
		})
	}
}

func TestAfterALostResponseTheReferenceIsReserved(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	noError(t, s.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.Close, AfterWork: true,
	}))
	if _, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane")); err == nil {
		t.Fatal("the response was not lost")
	}
	got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	wantProblem(t, got, http.StatusBadRequest)
	wantEqual(t, "e-mails", 1, len(s.emails()))
}

func TestFaultsAreUsedUp(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	get := func() response { return s.request(http.MethodGet, "/ext/references", nil) }
	add := func(times, status int) {
		noError(t, s.Fault(t.Context(), control.Fault{
			Operation: control.References, Kind: control.Answer, Times: times, Status: status, RetryAfter: "2",
		}))
	}
	add(0, 500)
	add(2, 429)
	var got []int
	for range 4 {
		got = append(got, get().status)
	}
	wantEqual(t, "statuses", []int{500, 429, 429, 200}, got)

	add(control.Always, 429)
	for range 5 {
		wantEqual(t, "Retry-After", "2", get().header.Get("Retry-After"))
	}
	// A date goes out as it is, too.
	const date = "Fri, 31 Jan 2031 12:00:00 GMT"
	noError(t, s.Fault(t.Context(), control.Fault{
		Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 429, RetryAfter: date,
	}))
	wantEqual(t, "Retry-After", date, s.request("GET", "/ext/webhooks/retrieve/1", nil).header.Get("Retry-After"))
	waiting, err := s.Faults(t.Context())
	noError(t, err)
	wantEqual(t, "waiting", 1, len(waiting))
	noError(t, s.ClearFaults(t.Context()))
	wantEqual(t, "status after clearing", 200, get().status)
}

func TestBodiesOfFaultsAreThoseOfTheDialect(t *testing.T) {
	for _, s := range (dialect.Dialect{}).Switches() {
		if s.Name == "errorBody" {
			wantEqual(t, "bodies", s.Values, control.FaultBodies())
		}
	}
}

// A proxy answers without a problem, before or after the service did its work.
func TestAnswersOfAProxy(t *testing.T) {
	for body, contentType := range map[string]string{
		"": "application/problem+json", "html": "text/html; charset=utf-8", "message": "application/json", "empty": "",
	} {
		for _, afterWork := range []bool{false, true} {
			s := startSandbox(t, sandbox.Options{})
			noError(t, s.Fault(t.Context(), control.Fault{
				Operation: control.CreateApplication, Kind: control.Answer, Status: 403, Body: body, AfterWork: afterWork,
			}))
			got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
			wantEqual(t, "response", fmt.Sprint(403, contentType), fmt.Sprint(got.status, got.header.Get("Content-Type")))
			wantEqual(t, "carried out", afterWork, len(s.emails()) == 1)
		}
	}
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	cases := map[string]struct {
		fault control.Fault
		field string
	}{
		"no operation":         {control.Fault{Kind: control.Close}, "operation: "},
		"an unknown operation": {control.Fault{Operation: "list", Kind: control.Close}, "operation: "},
		"no kind":              {control.Fault{Operation: control.Token}, "kind: "},
		"a negative count":     {control.Fault{Operation: control.Token, Kind: control.Close, Times: -2}, "times: "},
		"a negative delay":     {control.Fault{Operation: control.Token, Kind: control.Slow, DelayMillis: -1}, "delay_ms: "},
		"an unknown body":      {control.Fault{Operation: control.Token, Kind: control.Answer, Body: "pdf"}, "body: "},
		"an informal status":   {control.Fault{Operation: control.Token, Kind: control.Answer, Status: 100}, "status: "},
	}
	for name, c := range cases {
		var refused *control.Error
		err := s.Fault(t.Context(), c.fault)
		if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest ||
			!strings.HasPrefix(refused.Message, c.field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
