package client

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if scheme := os.Getenv(benchServerVariable); scheme != "" {
		serveBenchmark(scheme)
		return
	}
	log.SetOutput(io.Discard) // net/http logs what servers do wrong here on purpose
	goleak.VerifyTestMain(m)
}

const (
	tokenPath      = apiPrefix + "/ext/authentications/token"
	referencesPath = apiPrefix + "/ext/references"
)

// service is a fake of the service: it issues tokens itself and leaves the rest to a handler.
type service struct {
	*httptest.Server
	login http.HandlerFunc
	// references, if set, answers the reads of the reference data, which are then counted apart from other requests.
	references http.HandlerFunc

	mu       sync.Mutex
	requests []receivedRequest
	checks   int // reads of the reference data
}

// receivedRequest is a request as the service received it.
type receivedRequest struct {
	method, path, body string
	header             http.Header
}

// newService starts a service over plain HTTP/1.1, or with secure over TLS, where it uses HTTP/2.
func newService(t *testing.T, handler http.HandlerFunc, secure bool) *service {
	t.Helper()
	s := &service{login: answers(http.StatusOK, `{"access_token":"token","expires_in":3600,"token_type":"Bearer"}`)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		isCheck := s.references != nil && r.URL.Path == referencesPath
		s.mu.Lock()
		if isCheck {
			s.checks++
		} else {
			s.requests = append(s.requests, receivedRequest{r.Method, r.URL.Path, string(body), r.Header.Clone()})
		}
		s.mu.Unlock()
		switch {
		case r.URL.Path == tokenPath:
			s.login(w, r)
		case isCheck:
			s.references(w, r)
		default:
			handler(w, r)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// seen gives the requests so far, logins apart.
func (s *service) seen() (requests, logins []receivedRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.path == tokenPath {
			logins = append(logins, r)
		} else {
			requests = append(requests, r)
		}
	}
	return requests, logins
}

func (s *service) expect(t *testing.T, requests, logins int) {
	t.Helper()
	gotRequests, gotLogins := s.seen()
	if len(gotRequests) != requests || len(gotLogins) != logins {
		t.Errorf("the service received %d requests and %d logins, want %d and %d",
			len(gotRequests), len(gotLogins), requests, logins)
	}
}

func (s *service) config() Config {
	config := Config{
		BaseURL: s.URL, Credentials: Credentials{Username: "user", Password: Hide("password")}, RequestsPerSecond: -1,
	}
	if s.TLS != nil {
		config.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	return config
}

func (s *service) client(t *testing.T, adjust ...func(*Config)) *Client {
	t.Helper()
	config := s.config()
	for _, a := range adjust {
		a(&config)
	}
	return newClient(t, config)
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// signedIn is a client with a token that the service has just accepted.
func (s *service) signedIn(t *testing.T, adjust ...func(*Config)) *Client {
	t.Helper()
	c := s.client(t, adjust...)
	signIn(c)
	return c
}

// signIn gives the client a token that the service has just accepted, for servers that know no login.
func signIn(c *Client) {
	current := &token{value: Hide("token"), renew: time.Now().Add(time.Hour)}
	current.accept()
	c.tokens.current = current
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// inSequence answers each request with the next handler, and repeats the last one.
func inSequence(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handler := handlers[min(next, len(handlers)-1)]
		next++
		mu.Unlock()
		handler(w, r)
	}
}

// revealing compares what Sensitive values hold.
var revealing = cmp.Options{
	cmp.Transformer("Reveal", Secret.Reveal),
	cmp.Transformer("RevealJSON", func(s Sensitive[json.RawMessage]) string { return string(s.Reveal()) }),
}

// asError is the *Error of a failed request.
func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := err.(*Error) //nolint:errorlint // it must be one itself
	if !ok || e == nil {
		t.Fatalf("got %T %[1]v, want an *Error", err)
	}
	return e
}

func expectFailure(t *testing.T, err error, outcome Outcome, kind Kind) *Error {
	t.Helper()
	e := asError(t, err)
	if e.Outcome != outcome || e.Kind != kind {
		t.Errorf("got %v %v (%v), want %v %v", e.Outcome, e.Kind, e, outcome, kind)
	}
	return e
}

// captured is a part of a chain that keeps a request and does not send it.
type captured struct{ request *http.Request }

func (c *captured) RoundTrip(r *http.Request) (*http.Response, error) {
	c.request = r
	return nil, new(Error)
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// answersWith answers with a body of some type, whose length is sent first or not.
func answersWith(contentType, body string, sized bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if sized {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		} else {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, body)
	}
}
