package client

import (
	"crypto/tls"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// What a request waits for comes with its Permit: then it goes out at once, and alone.
func TestPrepare(t *testing.T) {
	s := newTokenService(t, answers(401, ""), answers(http.StatusOK, `{}`))
	c := s.client(t, func(config *Config) { config.RequestsPerSecond, config.MaxRateLimitWait = 0.001, 1 })
	permit, err := c.Prepare(t.Context(), OpResendInvites)
	if err != nil || s.did() != "login, GET/references" {
		t.Fatalf("before the request: %v", err)
	}
	age(c) // what the Permit has is not looked for again
	t.Cleanup(permit.Close)
	look := func() bool {
		t.Error("it looks once more")
		return true
	}
	if _, err := c.ResendInvites(permit.Context(t.Context(), look), 1); err != nil {
		t.Fatal(err)
	}
	if did := s.did(); did != "POST/individuals/1/invites/resend" {
		t.Errorf("with the Permit: %s", did)
	}

	_, err = c.ResendInvites(permit.Context(t.Context(), look), 1) // it is for one
	expectFailure(t, err, NotSent, KindRateLimited)
	_, err = c.Prepare(t.Context(), OpResendInvites)
	expectFailure(t, err, NotSent, KindRateLimited)
	var none *Permit
	_, err = c.ResendInvites(none.Context(t.Context(), look), 1)
	expectFailure(t, err, NotSent, KindRateLimited)
	if did := s.did(); did != "" {
		t.Errorf("without one: %s", did)
	}
}

// A call that cannot be sent is observed like one that was tried.
func TestPrepareFails(t *testing.T) {
	s := newTokenService(t, answers(401, ""), answers(http.StatusOK, `{}`))
	s.login = answers(http.StatusUnauthorized, "")
	var observed []OperationResult
	c := s.client(t, func(config *Config) {
		config.ObserveOperation = func(r OperationResult) { observed = append(observed, r) }
	})
	_, err := c.Prepare(t.Context(), OpCreateApplication)
	failure := expectFailure(t, err, NotSent, KindCredentials)
	if !failure.Login || failure.Operation != OpCreateApplication {
		t.Errorf("login %t of %s", failure.Login, failure.Operation)
	}
	if len(observed) != 1 || observed[0].Operation != OpCreateApplication || observed[0].Err == nil {
		t.Errorf("observed %+v", observed)
	}
}

// orderedService tells handshakes, looks and requests apart by their order.
type orderedService struct {
	*service
	mu  sync.Mutex
	log []string
}

func newOrderedService(t *testing.T, handler http.HandlerFunc, protocol string) *orderedService {
	t.Helper()
	s := &orderedService{}
	s.service = newService(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			s.record(r.Method)
		}
		handler(w, r)
	}, true)
	s.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.record("handshake")
		return nil, nil
	}
	s.TLS.NextProtos = []string{protocol}
	return s
}

func (s *orderedService) record(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, what)
}

// did returns what happened since the last time, in its order.
func (s *orderedService) did() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := strings.Join(s.log, " ")
	s.log = nil
	return log
}

// Between the last look at what orders a request and the request, nothing takes time: neither a connection nor a
// handshake, however slow the service is, and whatever became of the connection meanwhile.
func TestRequestFollowsTheLook(t *testing.T) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		for op := range emailing {
			t.Run(protocol+", "+string(op), func(t *testing.T) {
				example := exampleOf(t, op)
				s := newOrderedService(t, answers(http.StatusOK, example.answer), protocol)
				c := s.client(t)
				signIn(c)
				for _, test := range []struct {
					closed, orders bool
					want           string
				}{
					{false, false, example.method},
					{true, true, "handshake look " + example.method},
					{true, false, "handshake look"},
				} {
					permit, err := c.Prepare(t.Context(), op)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(permit.Close)
					if test.closed {
						ended := make(chan struct{})
						once := sync.OnceFunc(func() { close(ended) })
						permit.conn.SetStateHook(func(conn *http.ClientConn) {
							if conn.Err() != nil {
								once()
							}
						})
						s.CloseClientConnections()
						<-ended
					}
					if did := s.did(); did != "handshake" {
						t.Errorf("Prepare: %s", did)
					}
					err = example.run(permit.Context(t.Context(), func() bool {
						s.record("look")
						return test.orders
					}), c)
					if did := s.did(); did != test.want {
						t.Errorf("%+v: %s", test, did)
					}
					if test.closed && !test.orders {
						expectFailure(t, err, NotSent, KindCanceled)
					} else if err != nil {
						t.Errorf("%+v: %v", test, err)
					}
				}
			})
		}
	}
}

// What completes and rejects may send a second request, which needs a look of its own.
func TestEachRequestFollowsALook(t *testing.T) {
	for _, orders := range []bool{true, false} {
		s := newOrderedService(t, transitions("POST", notAllowed()), "h2")
		c := s.client(t)
		signIn(c)
		permit, err := c.Prepare(t.Context(), OpCompleteApplication)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(permit.Close)
		s.did()
		_, err = c.CompleteApplication(permit.Context(t.Context(), func() bool {
			s.record("look")
			return orders
		}), 4711, inReview)
		want := "PATCH handshake handshake look" // the first is that of the read
		if orders {
			want += " POST"
		}
		if did := s.did(); did != want {
			t.Errorf("%s, want %s", did, want)
		}
		if orders != (err == nil) || !orders && (OutcomeOf(err) != Refused || IsRefusal(err)) {
			t.Errorf("%v", err)
		}
	}
}
