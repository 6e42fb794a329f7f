package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestShortLivedTokens: 200 callers at the same time with tokens of one second, whatever unit that is said in. Logins
// and answers take their time, so tokens expire under way.
func TestShortLivedTokens(t *testing.T) {
	for unit, expiresIn := range map[string]string{"seconds": "1", "milliseconds": "1000"} {
		for _, latency := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s, answered after %v", unit, latency), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { callWithShortLivedTokens(t, expiresIn, latency) })
			})
		}
	}
}

func callWithShortLivedTokens(t *testing.T, expiresIn string, latency time.Duration) {
	const lifetime, until = time.Second, 3 * time.Second
	tokens := &shortLivedTokens{latency: latency, lifetime: lifetime, expires: map[string]time.Time{}}
	c := newClient(t, Config{
		BaseURL:     "http://127.0.0.1",
		Credentials: Credentials{Username: "user", Password: Hide("password")}, RequestsPerSecond: -1,
	})
	c.bottom.shared.DialContext = serveInMemory(t, tokens)
	c.bottom.dedicated.DialContext = c.bottom.shared.DialContext
	c.tokens.requestToken = func() (*token, *Error) {
		issued := time.Now()
		return &token{value: Hide(tokens.issue()), renew: issued.Add(parseLifetime(expiresIn) / 5 * 4)}, nil
	}
	start := time.Now()
	var callers sync.WaitGroup
	for range 200 {
		callers.Go(func() {
			for time.Since(start) < until {
				if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
					t.Errorf("after %v: %v", time.Since(start), err)
					return
				}
				<-time.After(200 * time.Millisecond)
			}
		})
	}
	callers.Wait()
	if most := 1 + int(time.Since(start)/(lifetime/5*4)); len(tokens.expires) > most {
		t.Errorf("%d logins in %v, want %d at most", len(tokens.expires), time.Since(start), most)
	}
}

// shortLivedTokens is a service that issues tokens and answers 401 to those that have expired.
type shortLivedTokens struct {
	latency, lifetime time.Duration

	mu      sync.Mutex
	expires map[string]time.Time
}

// issue is a login.
func (s *shortLivedTokens) issue() string {
	<-time.After(s.latency)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("token-%d", len(s.expires))
	s.expires["Bearer "+name] = time.Now().Add(s.lifetime)
	return name
}

func (s *shortLivedTokens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-time.After(s.latency)
	s.mu.Lock()
	expires := s.expires[r.Header.Get("Authorization")]
	s.mu.Unlock()
	if time.Now().After(expires) {
		answers(http.StatusUnauthorized, "")(w, r)
		return
	}
	answers(http.StatusOK, someApplication)(w, r)
}

// serveInMemory starts a server without a network, as synctest needs it, and returns how to connect to it.
func serveInMemory(t *testing.T, handler http.Handler) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	listener := memoryListener{connections: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return listener.dial
}

// memoryListener accepts connections that only exist in memory.
type memoryListener struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (l memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.connections <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l memoryListener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.connections:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l memoryListener) Close() error {
	close(l.closed)
	return nil
}

func (l memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
