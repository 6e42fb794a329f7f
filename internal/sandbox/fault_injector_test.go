package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"syscall"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The fault replaces the work, or corrupts its response.
func TestCorruptedResponses(t *testing.T) {
	cases := map[string]struct {
		kind  control.FaultKind
		fails bool // before EOF
		whole bool // the body is valid JSON
	}{
		"truncated":                  {control.Truncate, true, false},
		"a Content-Length too long":  {control.LengthOver, true, true},
		"a Content-Length too short": {control.LengthUnder, false, false},
		"byte by byte":               {control.SlowBody, false, true},
	}
	for name, c := range cases {
		for what, afterWork := range map[string]bool{"in place of the work": false, "after the work": true} {
			t.Run(name+" "+what, func(t *testing.T) {
				s := startSandbox(t, sandbox.Options{})
				noError(t, s.Fault(t.Context(), control.Fault{
					Operation: control.CreateApplication, Kind: c.kind, AfterWork: afterWork, DelayMillis: 1,
				}))
				got, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
				wantEqual(t, "status code", http.StatusOK, got.status)
				wantEqual(t, "fails to be read", c.fails, errors.Is(err, io.ErrUnexpectedEOF))
				wantEqual(t, "valid JSON", c.whole, json.Valid(got.body))
				if len(got.body) == 0 {
					t.Error("nothing came")
				}
				if afterWork && !strings.HasPrefix(string(got.body), `{"id":`) {
					t.Errorf("the response is not of the work: %s", got.body)
				}
				done := 0
				if afterWork {
					done = 1
				}
				wantEqual(t, "e-mails", done, len(s.emails()))
				stats, err := s.Stats(t.Context())
				noError(t, err)
				wantEqual(t, "counted", map[string]int64{"200": 1}, stats.Operations[control.CreateApplication].Answers)
			})
		}
	}
}

func TestAResponseWithoutABodyCannotBeCorrupted(t *testing.T) {
	for _, kind := range []control.FaultKind{control.Truncate, control.LengthOver, control.LengthUnder, control.SlowBody} {
		t.Run(string(kind), func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			path := s.create(mandate("acme", "jane"))
			noError(t, s.Fault(t.Context(), control.Fault{Operation: control.DeleteApplication, Kind: kind, AfterWork: true}))
			if got, err := s.try(http.MethodDelete, path, nil); err == nil {
				t.Errorf("status %d", got.status)
			}
			wantProblem(t, s.request("GET", path, nil), http.StatusNotFound)
		})
	}
}

func TestInformationalResponses(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	noError(t, s.Fault(t.Context(), control.Fault{Operation: control.References, Kind: control.Informational}))
	hints := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			if code == http.StatusEarlyHints {
				hints++
			}
			return nil
		},
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/ext/references", http.NoBody)
	noError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	got, err := send(request)
	noError(t, err)
	wantEqual(t, "status code", http.StatusOK, got.status)
	wantEqual(t, "early hints", 100, hints)
	stats, err := s.Stats(t.Context())
	noError(t, err)
	wantEqual(t, "counted", map[string]int64{"200": 1}, stats.Operations[control.References].Answers)
}

// After the first byte, the rest takes forever. When the client gives up, the sandbox must notice it.
func TestASlowBodyEndsWithItsReaderOrTheSandbox(t *testing.T) {
	for _, who := range []string{"reader", "sandbox"} {
		t.Run(who, func(t *testing.T) {
			service := sandbox.New(sandbox.Options{})
			server := httptest.NewServer(service)
			defer server.Close()
			defer service.Close()
			millis := map[string]string{"reader": "1", "sandbox": "3600000"}[who]
			noError(t, serviceFault(t.Context(), service, `{"operation": "*", "kind": "slow_body", "delay_ms": `+millis+`}`))
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/ext/references", http.NoBody)
			noError(t, err)
			response, err := client.Do(request)
			noError(t, err)
			defer response.Body.Close()
			if _, err := io.ReadFull(response.Body, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if who == "reader" {
				giveUp()
			} else {
				service.Close()
			}
			if _, err := io.ReadAll(response.Body); err == nil {
				t.Error("the rest came")
			}
		})
	}
}

// Over TLS a reset has to reach the TCP connection below, and where a connection
// is shared only the stream may go.
func TestFaultsOverTLS(t *testing.T) {
	cases := map[string]struct {
		fault string
		http2 bool
		reset bool // of the connection
	}{
		"HTTP/1.1":                   {"reset", false, true},
		"HTTP/2":                     {"reset", true, false},
		"a length of HTTP/2's own":   {"length_under", true, false},
		"a truncated body in HTTP/2": {"truncate", true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			service := sandbox.New(sandbox.Options{})
			server := httptest.NewUnstartedServer(service)
			server.EnableHTTP2 = c.http2
			server.StartTLS()
			defer server.Close()
			defer service.Close()
			noError(t, serviceFault(t.Context(), service, `{"operation": "references", "kind": "`+c.fault+`"}`))
			const path = "/api/v1/ext/references"
			request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+path, http.NoBody)
			noError(t, err)
			response, err := server.Client().Do(request)
			if err == nil {
				_, err = io.ReadAll(response.Body)
				response.Body.Close()
			}
			if err == nil {
				t.Fatalf("status %d", response.StatusCode)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset != c.reset {
				t.Errorf("connection reset: %t (%v)", reset, err)
			}
		})
	}
}

// serviceFault adds a fault without a connection of its own.
func serviceFault(ctx context.Context, service http.Handler, fault string) error {
	recorder := httptest.NewRecorder()
	service.ServeHTTP(recorder, httptest.NewRequestWithContext(
		ctx, http.MethodPost, control.Prefix+"/faults", strings.NewReader(fault)))
	if recorder.Code != http.StatusNoContent {
		return errors.New(recorder.Body.String())
	}
	return nil
}

// A slow service does not notice that its client is gone.
func TestLateCommit(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	noError(t, s.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 1000,
	}))
	ctx, giveUp := context.WithCancel(t.Context())
	body, err := json.Marshal(mandate("acme", "jane"))
	noError(t, err)
	const path = "/api/v1/ext/applications"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(body))
	noError(t, err)
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
func (s *testService) awaitCreate() {
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
	s := &testService{Client: control.New(server.URL), t: t, url: server.URL}
	s.token = s.login()
	noError(t, s.Fault(t.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 3_600_000,
	}))
	ended := make(chan error)
	go func() {
		_, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		ended <- err
	}()
	s.awaitCreate()
	service.Close()
	if err := <-ended; err == nil {
		t.Error("the request got a response")
	}
	wantEqual(t, "e-mails", 0, len(s.emails()))
}
