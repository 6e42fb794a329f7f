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

	"github.com/mandate-io/idv/internal/testenv/faultproxy"
)

// server counts what reaches it, and streams a line a request to who watches.
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
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
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

func TestCourses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		course   faultproxy.Fault
		requests int32
		status   int // 0: no answer
		body     string
	}{
		"nothing":    {requests: 1, status: 200, body: "got body"},
		"cut before": {course: faultproxy.Fault{Drop: faultproxy.DropRequest}},
		"cut after":  {course: faultproxy.Fault{Drop: faultproxy.DropResponse}, requests: 1},
		"twice":      {course: faultproxy.Fault{Duplicate: true}, requests: 2, status: 200, body: "got body"},
		"instead":    {course: faultproxy.Fault{Replace: &faultproxy.Response{Status: 503, Body: []byte("no")}}, status: 503, body: "no"},
	}
	for name, c := range cases {
		for protocol, secure := range map[string]bool{"HTTP/1.1": false, "HTTP/2 with TLS": true} {
			t.Run(name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				proxy, err := faultproxy.New(faultproxy.Options{
					Target: s.URL, Transport: s.Client().Transport, TLS: secure,
					Inject: func(faultproxy.Request) faultproxy.Fault { return c.course },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer proxy.Close()
				status, body, err := post(t, proxy)
				if (err != nil) != (c.status == 0) || status != c.status || body != c.body {
					t.Errorf("answered %d %q, %v; want %d %q", status, body, err, c.status, c.body)
				}
				if got := s.requests.Load(); got != c.requests {
					t.Errorf("%d requests reached the server, want %d", got, c.requests)
				}
			})
		}
	}
}

// The hooks see the request and the server's answer, and the epoch in which the connection was made.
func TestHooks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var (
		order  []string
		epoch  atomic.Int32
		judged faultproxy.Request
	)
	epoch.Store(7)
	proxy, err := faultproxy.New(faultproxy.Options{
		Target: s.URL, Transport: s.Client().Transport, Epoch: func() int { return int(epoch.Load()) },
		Inject: func(r faultproxy.Request) faultproxy.Fault {
			judged = r
			return faultproxy.Fault{
				OnRequest: func() { order = append(order, "before") },
				OnResponse:  func(a faultproxy.Response) { order = append(order, "after "+string(a.Body)) },
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
	if got := strings.Join(order, ", "); got != "before, after got body" {
		t.Errorf("the hooks were called as %q", got)
	}
	if judged.Method != http.MethodPost || judged.Path != "/x" || string(judged.Body) != "body" || judged.Epoch != 7 {
		t.Errorf("judged was %+v", judged)
	}
}

// What a watch is sent while watches are held arrives when they are released, and not before.
func TestWatchesAreHeld(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	proxy, err := faultproxy.New(faultproxy.Options{Target: s.URL, Transport: s.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	proxy.Watches.Pause()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	line := make(chan string)
	go func() {
		defer close(line)
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
		line <- string(text)
	}()
	for s.requests.Load() == 0 {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case got := <-line:
		t.Errorf("%q came through a gate that is closed", got)
	case <-time.After(50 * time.Millisecond): // long enough for a line that nobody holds
	}
	proxy.Watches.Resume()
	if got := <-line; got != "got " {
		t.Errorf("%q came when the gate opened", got)
	}
}

// A frozen link keeps its connections, and what was sent meanwhile arrives when it thaws.
func TestLink(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	link, err := faultproxy.NewTCPProxy(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	get := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+link.Address, http.NoBody)
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
	link.Pause()
	done := make(chan error, 1)
	go func() { done <- get() }()
	select {
	case err := <-done:
		t.Errorf("a request went through a frozen link (%v)", err)
	case <-time.After(50 * time.Millisecond): // long enough for a request that nothing holds
	}
	link.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := s.requests.Load(); got != 2 {
		t.Errorf("%d requests arrived, want 2", got)
	}
}
