package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// reset makes closing a connection a reset.
func reset(connection net.Conn) { _ = connection.(*net.TCPConn).SetLinger(0) }

// brokenAnswers are what happens to an answer on its way. All of them arrive at a server that has read the request, so
// it may have been carried out.
func brokenAnswers() map[string]func(net.Conn) {
	say := func(text string) func(net.Conn) {
		return func(connection net.Conn) { _, _ = io.WriteString(connection, text) }
	}
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(zip, zeros{}, 4<<20)
	_ = zip.Close()
	faults := map[string]func(net.Conn){
		"closed":                  func(net.Conn) {},
		"reset":                   reset,
		"not HTTP":                say("220 mail.example.com ESMTP\r\n"),
		"status line cut off":     say("HTTP/1.1 2"),
		"headers cut off":         say("HTTP/1.1 200 OK\r\nContent-Type: appl"),
		"headers too large":       say("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"),
		"malformed header":        say("HTTP/1.1 200 OK\r\n: x\r\n\r\n"),
		"endless interim answers": say(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5000)),
		"body cut off":            say("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + someApplication),
		"body longer than said":   say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + someApplication),
		"chunk cut off": say(
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n900\r\n" + someApplication,
		),
		"chunk malformed": say(
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + someApplication,
		),
		"two lengths": say(
			"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 10\r\n\r\n" + someApplication,
		),
		"length that is none": say("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + someApplication),
		"said to be gzip": say(
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + someApplication,
		),
		"gzip bomb": say(fmt.Sprintf(
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", bomb.Len(), bomb.String(),
		)),
		"brotli, which was not asked for": say(
			"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nConnection: close\r\n\r\n\x8b\x00\x80",
		),
		"another protocol": say(
			"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
		),
		"refusal cut off": say("HTTP/1.1 400 Bad Request\r\nContent-Length: 900\r\n\r\n{\"title\":\"x\""),
		"redirect to nowhere": say(
			"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://%zz\r\nContent-Length: 0\r\n\r\n",
		),
	}
	for _, n := range []int{1, 20, 60, 100} {
		faults[fmt.Sprintf("reset after %d bytes", n)] = func(connection net.Conn) {
			_, _ = io.WriteString(connection, plainAnswer(200, someApplication)[:n])
			reset(connection)
		}
	}
	return faults
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestABrokenAnswerIsUnknown holds that also for what e-mails and needs nothing of the answer: only a whole answer is
// one.
func TestABrokenAnswerIsUnknown(t *testing.T) {
	for name, fault := range brokenAnswers() {
		for _, op := range []Operation{OpCreateApplication, OpResendInvites, OpSubscribeWebhook} {
			t.Run(fmt.Sprintf("%s, %s", op, name), func(t *testing.T) {
				s := newRawServer(t)
				s.set(fault)
				c := s.client(t)
				if e := asError(t, exampleOf(t, op).run(t.Context(), c)); e.Outcome != Unknown {
					t.Errorf("%v (%v)", e.Outcome, e)
				}
				if n := s.arrived.Load(); n != 1 {
					t.Errorf("it arrived %d times", n)
				}
			})
		}
	}
}

func TestSwitchingProtocolsDoesNotHang(t *testing.T) {
	s := newRawServer(t)
	done := make(chan struct{})
	defer close(done)
	s.set(func(connection net.Conn) {
		brokenAnswers()["another protocol"](connection)
		<-done
	})
	_, err := s.client(t).CreateApplication(t.Context(), someNewApplication())
	expectFailure(t, err, Unknown, KindUnreadable)
}

func TestNotSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	listener.Close()
	secure := newService(t, answers(200, someApplication), true)
	plain := newService(t, answers(200, someApplication), false)

	for name, test := range map[string]struct {
		config Config
		kind   Kind
		text   string
	}{
		"refused":           {Config{BaseURL: closed}, KindUnreachable, "no connection could be made"},
		"unknown host":      {Config{BaseURL: "https://idv..example"}, KindUnreachable, "cannot be resolved"},
		"unknown authority": {Config{BaseURL: secure.URL}, KindUnreachable, "signed by an unknown authority"},
		"another host's name": {
			Config{BaseURL: strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), CABundle: secure.config().CABundle},
			KindUnreachable, "another host name",
		},
		"HTTP instead of HTTPS": {
			Config{BaseURL: strings.Replace(plain.URL, "http:", "https:", 1)}, KindUnreachable, "does not use TLS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := test.config
			config.Credentials, config.RequestsPerSecond = plain.config().Credentials, -1
			c := newClient(t, config)
			c.limits.retries = rate.NewLimiter(0, 0)
			for _, example := range operationExamples() {
				e := expectFailure(t, example.run(t.Context(), c), NotSent, test.kind)
				if !strings.Contains(e.Error(), test.text) {
					t.Errorf("%q does not say %q", e, test.text)
				}
				if strings.Contains(e.Error(), "127.0.0.1") || strings.Contains(e.Error(), "idv..example") {
					t.Errorf("%q holds an address", e)
				}
			}
			signIn(c)
			expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), c), NotSent, test.kind)
		})
	}
	plain.expect(t, 0, 0)
	secure.expect(t, 0, 0)
}

// TestNotSentIsNeverReportedForWhatArrived ends requests at all moments, over both versions of HTTP.
func TestNotSentIsNeverReportedForWhatArrived(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("secure=%v", secure), func(t *testing.T) {
			var arrived sync.Map
			s := newService(t, func(w http.ResponseWriter, r *http.Request) {
				arrived.Store(r.URL.Path, true)
				answers(http.StatusNoContent, "")(w, r)
			}, secure)
			c := s.client(t)
			signIn(c)
			notSent := map[string]bool{}
			var mu sync.Mutex
			var callers sync.WaitGroup
			for worker := range 4 {
				callers.Go(func() {
					for i := range 150 {
						id := int64(1 + worker*1000 + i)
						ctx, cancel := context.WithTimeout(t.Context(), rand.N(4*time.Millisecond))
						if _, err := c.DeleteApplication(ctx, id); OutcomeOf(err) == NotSent {
							mu.Lock()
							notSent[apiPrefix+"/ext/applications/"+strconv.FormatInt(id, 10)] = true
							mu.Unlock()
						}
						cancel()
					}
				})
			}
			callers.Wait()
			s.Close() // waits for what is still being served
			for path := range notSent {
				if _, ok := arrived.Load(path); ok {
					t.Errorf("%s arrived", path)
				}
			}
			t.Logf("%d of 600 were not sent", len(notSent))
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	target := newService(t, answers(200, someApplication), false)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newService(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) }, false)
		for _, example := range operationExamples()[1:] {
			c := s.client(t)
			c.tokens.current = &token{value: Hide("token"), renew: time.Now().Add(time.Hour)}
			if emailing[example.op] { // else, the redirect could be about the token, and a read would find that out
				c.tokens.current.accept()
			}
			e := expectFailure(t, example.run(t.Context(), c), Unknown, KindUnreadable)
			if !strings.Contains(e.Error(), "redirect") {
				t.Errorf("%q does not say what is wrong", e)
			}
		}
		requests, _ := s.seen()
		requests = slices.DeleteFunc(requests, func(r receivedRequest) bool { return r.path == referencesPath })
		if want := len(operationExamples()) - 2; len(requests) != want { // apart from those about the token
			t.Errorf("%d requests for %d operations", len(requests), want)
		}
	}
	target.expect(t, 0, 0)
}

// TestConnections counts what the kernel sees: reads share connections, everything else has one of its own.
func TestConnections(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for op, want := range map[Operation]int64{
			OpRetrieveApplication: 1,
			OpCreateApplication:   20,
			OpDeleteApplication:   20,
		} {
			t.Run(fmt.Sprintf("%s, secure=%v", op, secure), func(t *testing.T) {
				var connections atomic.Int64
				server := httptest.NewUnstartedServer(answers(200, someApplication))
				server.EnableHTTP2 = true
				server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
					if state == http.StateNew {
						connections.Add(1)
					}
				}
				s := &service{Server: server}
				if secure {
					server.StartTLS()
				} else {
					server.Start()
				}
				defer server.Close()
				c := s.client(t)
				signIn(c)
				example := exampleOf(t, op)
				var callers sync.WaitGroup
				for i := range 20 {
					callers.Go(func() {
						if err := example.run(t.Context(), c); err != nil {
							t.Error(err)
						}
					})
					if op == OpRetrieveApplication || i%2 == 0 { // the others also at the same time
						callers.Wait()
					}
				}
				callers.Wait()
				if got := connections.Load(); got != want {
					t.Errorf("%d connections, want %d", got, want)
				}
			})
		}
	}
}
