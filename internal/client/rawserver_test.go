package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// rawServer writes HTTP/1.1 byte by byte, one request a connection, so that an answer can be anything. It knows logins
// and reference data, with which the client finds out whether a token is good.
type rawServer struct {
	url     string
	plain   string       // a path that is answered as all others
	arrived atomic.Int64 // requests that were read, apart from those that it knows

	mu     sync.Mutex
	answer func(net.Conn)
}

func newRawServer(t *testing.T) *rawServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + listener.Addr().String()}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() {
				defer connection.Close()
				s.serve(connection)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		connections.Wait()
	})
	return s
}

func (s *rawServer) serve(connection net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(connection))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	switch r.URL.Path {
	case s.plain:
	case tokenPath:
		_, _ = io.WriteString(
			connection, plainAnswer(http.StatusOK, `{"access_token":"another-token","token_type":"bearer"}`),
		)
		return
	case referencesPath:
		_, _ = io.WriteString(connection, plainAnswer(http.StatusOK, `{}`))
		return
	}
	s.arrived.Add(1)
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	answer(connection)
}

// set says what the next requests are answered with.
func (s *rawServer) set(answer func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *rawServer) client(t *testing.T) *Client {
	t.Helper()
	return newClient(
		t,
		Config{BaseURL: s.url, Credentials: Credentials{Username: "user", Password: Hide("password")}, RequestsPerSecond: -1},
	)
}

func plainAnswer(status int, body string) string {
	return fmt.Sprintf(
		"HTTP/1.1 %03d Said\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status,
		len(body), body,
	)
}
