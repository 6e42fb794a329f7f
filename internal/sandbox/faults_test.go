package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestFaults(t *testing.T) {
	const create = control.CreateApplication
	cases := map[string]struct {
		fault  control.Fault
		status int // 0: no answer
		done   int // applications that exist after it
	}{
		"an answer in place of the work":       {control.Fault{Kind: control.Answer}, 500, 0},
		"an answer after the work":             {control.Fault{Kind: control.Answer, Status: 503, AfterWork: true}, 503, 1},
		"a lost response":                      {control.Fault{Kind: control.Close, AfterWork: true}, 0, 1},
		"a connection closed before anything":  {control.Fault{Kind: control.Close}, 0, 0},
		"a connection reset before anything":   {control.Fault{Kind: control.ResetConnection}, 0, 0},
		"a connection reset after the work":    {control.Fault{Kind: control.ResetConnection, AfterWork: true}, 0, 1},
		"garbage in place of the work":         {control.Fault{Kind: control.Garbage}, 200, 0},
		"garbage after the work":               {control.Fault{Kind: control.Garbage, AfterWork: true, Status: 201}, 201, 1},
		"slow":                                 {control.Fault{Kind: control.Slow, DelayMillis: 1}, 200, 1},
		"slow after the work":                  {control.Fault{Kind: control.Slow, DelayMillis: 1, AfterWork: true}, 200, 1},
		"whatever the operation":               {control.Fault{Kind: control.Answer, Operation: control.AnyOperation}, 500, 0},
		"another operation's is not triggered": {control.Fault{Kind: control.Answer, Operation: control.References}, 200, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, sandbox.Options{})
			if c.fault.Operation == "" {
				c.fault.Operation = create
			}
			must0(t, s.Fault(t.Context(), c.fault))
			got, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
			if (err != nil) != (c.status == 0) || got.status != c.status {
				t.Errorf("status %d, error %v; want status %d", got.status, err, c.status)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset != (c.fault.Kind == control.ResetConnection) {
				t.Errorf("connection reset: %t (%v)", reset, err)
			}
			applications, err := s.Applications(t.Context())
			must0(t, err)
			wantEqual(t, "applications", c.done, len(applications))
			wantEqual(t, "e-mails", c.done, len(s.emails()))
			stats, err := s.Stats(t.Context())
			must0(t, err)
			if lost := stats.Operations[create].Answers[control.Lost]; (lost == 1) != (c.status == 0) {
				t.Errorf("%d lost answers", lost)
			}
		})
	}
}

func TestAfterALostResponseTheReferenceIsTaken(t *testing.T) {
	s := serve(t, sandbox.Options{})
	must0(t, s.Fault(t.Context(), control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true}))
	if _, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane")); err == nil {
		t.Fatal("the response was not lost")
	}
	got := s.call(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	wantProblem(t, got, http.StatusBadRequest)
	wantEqual(t, "e-mails", 1, len(s.emails()))
}

func TestFaultsAreUsedUp(t *testing.T) {
	s := serve(t, sandbox.Options{})
	get := func() answer { return s.call(http.MethodGet, "/ext/references", nil) }
	add := func(times, status int) {
		must0(t, s.Fault(t.Context(), control.Fault{
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
	waiting, err := s.Faults(t.Context())
	must0(t, err)
	wantEqual(t, "waiting", 1, len(waiting))
	must0(t, s.ClearFaults(t.Context()))
	wantEqual(t, "status after clearing", 200, get().status)
}

// Over TLS a reset has to reach the TCP connection below, and where a connection
// is shared only the stream may go.
func TestResetOverTLS(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			service := sandbox.New(sandbox.Options{})
			server := httptest.NewUnstartedServer(service)
			server.EnableHTTP2 = http2
			server.StartTLS()
			defer server.Close()
			defer service.Close()
			must0(t, serviceFault(t.Context(), service, `{"operation": "references", "kind": "reset"}`))
			request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+"/api/v1/ext/references", http.NoBody)
			must0(t, err)
			response, err := server.Client().Do(request)
			if err == nil {
				response.Body.Close()
				t.Fatalf("status %d", response.StatusCode)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset == http2 {
				t.Errorf("connection reset: %t (%v)", reset, err)
			}
		})
	}
}

// serviceFault adds a fault without a connection of its own.
func serviceFault(ctx context.Context, service http.Handler, fault string) error {
	recorder := httptest.NewRecorder()
	service.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, http.MethodPost, control.Prefix+"/faults", strings.NewReader(fault)))
	if recorder.Code != http.StatusNoContent {
		return errors.New(recorder.Body.String())
	}
	return nil
}

// A service that is slow does not notice that its caller has gone.
func TestLateCommit(t *testing.T) {
	s := serve(t, sandbox.Options{})
	must0(t, s.Fault(t.Context(), control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 1000}))
	ctx, giveUp := context.WithCancel(t.Context())
	body, err := json.Marshal(mandate("acme", "jane"))
	must0(t, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/ext/applications", bytes.NewReader(body))
	must0(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.token)
	ended := make(chan error)
	go func() {
		_, err := send(request)
		ended <- err
	}()
	s.awaitCreate()
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the caller did not give up: %v", err)
	}
	eventually(t, func() string {
		if len(s.emails()) == 0 {
			return "the application was never created"
		}
		return ""
	})
}

// awaitCreate waits until a create has arrived.
func (s *served) awaitCreate() {
	s.t.Helper()
	eventually(s.t, func() string {
		stats, err := s.Stats(s.t.Context())
		if err != nil || stats.Requests(control.CreateApplication) == 0 {
			return "the request did not arrive"
		}
		return ""
	})
}

func TestCloseEndsDelayedRequests(t *testing.T) {
	service := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(service)
	defer server.Close()
	s := &served{Client: control.New(server.URL), t: t, url: server.URL}
	s.token = s.login()
	must0(t, s.Fault(t.Context(), control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 3_600_000}))
	ended := make(chan error)
	go func() {
		_, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		ended <- err
	}()
	s.awaitCreate()
	service.Close()
	if err := <-ended; err == nil {
		t.Error("the request got an answer")
	}
	wantEqual(t, "e-mails", 0, len(s.emails()))
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	s := serve(t, sandbox.Options{})
	cases := map[string]control.Fault{
		"no operation":         {Kind: control.Close},
		"an unknown operation": {Operation: "list", Kind: control.Close},
		"no kind":              {Operation: control.Token},
		"a negative count":     {Operation: control.Token, Kind: control.Close, Times: -2},
		"a negative delay":     {Operation: control.Token, Kind: control.Slow, DelayMillis: -1},
		"an informal status":   {Operation: control.Token, Kind: control.Answer, Status: 100},
	}
	for name, fault := range cases {
		var refused *control.Error
		if err := s.Fault(t.Context(), fault); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}
