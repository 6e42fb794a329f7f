package notification

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator/connection"
)

// serve runs a Server on loopback until the test ends.
func serve(t *testing.T) (api *apiServer, address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, listener), listener.Addr().String()
}

func serveOn(t *testing.T, listener net.Listener) *apiServer {
	t.Helper()
	api := newAPIServer()
	server, index := NewServer(&Config{
		Services: connection.ServiceReader{Reader: api}, Metadata: api, Observe: func(string) {},
	})
	api.index = index
	ended := make(chan error, 1)
	server.Listener = listener
	go func() { ended <- server.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if server.NeedLeaderElection() {
		t.Error("only the leader receives")
	}
	return api
}

// exchange sends a request as it is, and returns the status of the answer; "" if there is none.
func exchange(t *testing.T, address, request string) string {
	t.Helper()
	return exchangeOn(dial(t, address), request)
}

func exchangeOn(conn net.Conn, request string) string {
	_, _ = io.WriteString(conn, request) // the server may have closed it
	line, _ := bufio.NewReader(conn).ReadString('\n')
	_, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	return status
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if deadline, ok := await.Context(t).Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	return conn
}

func TestServer(t *testing.T) {
	t.Parallel()
	api, address := serve(t)
	api.connect(testKey, goodToken)
	api.store(bound("one", 1))
	post := "POST " + goodPath + " HTTP/1.1\r\nHost: x\r\n"
	for name, c := range map[string]struct{ request, want string }{
		"a delivery":     {post + "Content-Length: 8\r\n\r\n{\"id\":1}", "200 OK"},
		"in chunks":      {post + "Transfer-Encoding: chunked\r\n\r\n8\r\n{\"id\":1}\r\n0\r\n\r\n", "200 OK"},
		"a large length": {post + "Content-Length: 65537\r\n\r\n" + strings.Repeat("x", maxBody+1), "404 Not Found"},
		"a large chunk": {
			post + "Transfer-Encoding: chunked\r\n\r\n10001\r\n" + strings.Repeat("x", 0x10001), "404 Not Found",
		},
		"all of a server": {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found"},
		"a large header": {
			post + "X: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", "431 Request Header Fields Too Large",
		},
	} {
		if got := exchange(t, address, c.request); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	eventually(t, "the Mandate is not annotated", func() bool {
		return api.annotation(t, "one", v1alpha1.ReconcileRequestAnnotation) != ""
	})
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	await.Until(t, func() (bool, string) { return done(), what })
}

// Who sends slowly, or keeps connections open, is cut off, and does not keep others from being served.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	api, address := serve(t)
	api.connect(testKey, goodToken)
	await.Within(t, 15*time.Second, func() { slowClients(t, address) })
}

func slowClients(t *testing.T, address string) {
	t.Helper()
	var open []net.Conn
	for i := range maxRate - 1 {
		conn := dial(t, address)
		request := "POST " + goodPath + " HTTP/1.1\r\nHost: x\r\n"
		if i%2 == 0 {
			request += "Content-Length: 10\r\n\r\n{"
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
	}
	//nolint:forbidigo // a sender is not our client
	response, err := http.DefaultTransport.RoundTrip(newDelivery(t, address))
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("beside slow clients: %v, %v", response, err)
	}
	response.Body.Close()
	for _, conn := range open {
		_, _ = io.Copy(io.Discard, conn)
	}
}

func newDelivery(t *testing.T, address string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+goodPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	return request
}
