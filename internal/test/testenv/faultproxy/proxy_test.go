package faultproxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// server counts its requests, and streams the responses to watches.
type server struct {
	*httptest.Server
	requests atomic.Int32
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.requests.Add(1)
		_, _ = w.Write(append([]byte("got "), body...))
		if r.URL.Query().Has("watch") {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, proxy *faultproxy.Proxy) (int, string, error) {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(proxy.CA)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL+"/x", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	request.GetBody = nil // or the transport sends it again
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func TestFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault    faultproxy.Fault
		requests int32
		status   int // 0: no response
		body     string
	}{
		"nothing":          {requests: 1, status: 200, body: "got body"},
		"request dropped":  {fault: faultproxy.Fault{Drop: faultproxy.DropRequest}},
		"response dropped": {fault: faultproxy.Fault{Drop: faultproxy.DropResponse}, requests: 1},
		"duplicated":       {fault: faultproxy.Fault{Duplicate: true}, requests: 2, status: 200, body: "got body"},
		"replaced": {
			fault:  faultproxy.Fault{Replace: &faultproxy.Response{Status: 503, Body: []byte("no")}},
			status: 503, body: "no",
		},
	}
	for name, tc := range cases {
		for protocol, secure := range map[string]bool{"HTTP/1.1": false, "HTTP/2 with TLS": true} {
			t.Run(name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				proxy, err := faultproxy.New(faultproxy.Options{
					Target: s.URL, Transport: s.Client().Transport, TLS: secure,
					Inject: func(faultproxy.Request) faultproxy.Fault { return tc.fault },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer proxy.Close()
				status, body, err := post(t, proxy)
				if (err != nil) != (tc.status == 0) || status != tc.status || body != tc.body {
					t.Errorf("got %d %q, %v; want %d %q", status, body, err, tc.status, tc.body)
				}
				if got := s.requests.Load(); got != tc.requests {
					t.Errorf("%d requests reached the server, want %d", got, tc.requests)
				}
			})
		}
	}
}

// The hooks get the request, the server's response and the epoch of the connection.
func TestHooks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var (
		hooks []string
		epoch atomic.Int32
		seen  faultproxy.Request
	)
	epoch.Store(7)
	proxy, err := faultproxy.New(faultproxy.Options{
		Target: s.URL, Transport: s.Client().Transport, Epoch: func() int { return int(epoch.Load()) },
		Inject: func(r faultproxy.Request) faultproxy.Fault {
			seen = r
			return faultproxy.Fault{
				OnRequest:  func() { hooks = append(hooks, "before") },
				OnResponse: func(a faultproxy.Response) { hooks = append(hooks, "after "+string(a.Body)) },
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	if err := proxy.WaitForConnections(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := post(t, proxy); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(hooks, ", "); got != "before, after got body" {
		t.Errorf("the hooks ran as %q", got)
	}
	if seen.Method != http.MethodPost || seen.Path != "/x" || string(seen.Body) != "body" || seen.Epoch != 7 {
		t.Errorf("the proxy saw %+v", seen)
	}
}

// What the server streams during a pause arrives after it.
func TestPausedWatches(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	proxy, err := faultproxy.New(faultproxy.Options{Target: s.URL, Transport: s.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	proxy.Watches.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	received := make(chan string)
	go func() {
		defer close(received)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, proxy.URL+"/?watch=true", http.NoBody)
		if err != nil {
			return
		}
		response, err := s.Client().Transport.RoundTrip(request)
		if err != nil {
			return
		}
		defer response.Body.Close()
		text := make([]byte, 4)
		_, _ = io.ReadFull(response.Body, text)
		received <- string(text)
	}()
	for s.requests.Load() == 0 {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case got := <-received:
		t.Errorf("%q arrived during the pause", got)
	case <-time.After(50 * time.Millisecond): // long enough without a pause
	}
	proxy.Watches.Resume()
	if got := <-received; got != "got " {
		t.Errorf("%q arrived after the pause", got)
	}
}

// A pause keeps the connections. What was sent during it arrives after it.
func TestTCPProxy(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	proxy, err := faultproxy.NewTCPProxy(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	get := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+proxy.Address, http.NoBody)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		return err
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	proxy.Pause()
	done := make(chan error, 1)
	go func() { done <- get() }()
	select {
	case err := <-done:
		t.Errorf("a request succeeded during the pause (%v)", err)
	case <-time.After(50 * time.Millisecond): // long enough without a pause
	}
	proxy.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := s.requests.Load(); got != 2 {
		t.Errorf("%d requests arrived, want 2", got)
	}
}
