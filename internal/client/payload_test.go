package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

const aboutNothing = `{"type":"","title":"x","exception":{},"status":"400"}`

// taking answers a body that it does not want with a refusal, and anything else with then.
func taking(wanted string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) != wanted {
			answers(400, aboutNothing)(w, r)
			return
		}
		then(w, r)
	}
}

// typed refuses a request without the header that the interface lists for all.
func typed(then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" {
			answers(400, aboutNothing)(w, r)
			return
		}
		then(w, r)
	}
}

// untyped refuses a request without a body that says of what type it is, as some frameworks do.
func untyped(then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); len(body) > 0 || r.Header.Get("Content-Type") != "" {
			answers(400, aboutNothing)(w, r)
			return
		}
		then(w, r)
	}
}

func (s *service) bodies() string {
	requests, _ := s.seen()
	var bodies []string
	for _, r := range requests {
		body := r.body
		if body == "" && r.header.Get("Content-Type") == "" {
			body = "untyped"
		}
		bodies = append(bodies, "<"+body+">")
	}
	return strings.Join(bodies, " ")
}

func TestPayloadIsFoundOut(t *testing.T) {
	ok := answers(200, "")
	for name, test := range map[string]struct {
		responses []http.HandlerFunc
		want      string // the bodies of two operations
		outcome   Outcome
		kind      Kind // of the second
	}{
		"an object":           {[]http.HandlerFunc{taking("{}", ok)}, "<{}> <{}>", 0, ""},
		"none":                {[]http.HandlerFunc{taking("", ok)}, "<{}> <> <>", 0, ""},
		"none, but a type":    {[]http.HandlerFunc{taking("", typed(ok))}, "<{}> <> <>", 0, ""},
		"none, and no type":   {[]http.HandlerFunc{untyped(ok)}, "<{}> <> <untyped> <untyped>", 0, ""},
		"none, said by 415":   {[]http.HandlerFunc{answers(415, ""), ok}, "<{}> <> <>", 0, ""},
		"none, and not found": {[]http.HandlerFunc{taking("", answers(404, ""))}, "<{}> <> <{}> <>", Refused, KindNotFound},
		"none, and lost": {
			[]http.HandlerFunc{answers(400, aboutNothing), abort, answers(404, "")}, "<{}> <> <{}>", Refused, KindNotFound,
		},
		"none of them": {
			[]http.HandlerFunc{answers(400, aboutNothing)}, "<{}> <> <untyped> <{}> <> <untyped>", Refused, KindInvalid,
		},
		"a type, said with a field": {
			[]http.HandlerFunc{answers(400, aboutNothing), answers(400, `{"exception":{"email":["x"]}}`)},
			"<{}> <> <{}>", Refused, KindInvalid,
		},
		"no type, and not confirmed": {
			[]http.HandlerFunc{answers(400, aboutNothing), answers(400, "<html>")}, "<{}> <> <{}>", Unknown, KindServer,
		},
		"object, then refused": {[]http.HandlerFunc{ok, answers(400, aboutNothing)}, "<{}> <{}>", Refused, KindInvalid},
		"a field is wrong": {
			[]http.HandlerFunc{answers(400, `{"exception":{"email":["x"]}}`)}, "<{}> <{}>", Refused, KindInvalid,
		},
		"not confirmed": {[]http.HandlerFunc{answers(400, "<html>")}, "<{}> <{}>", Unknown, KindServer},
		"conflict":      {[]http.HandlerFunc{answers(409, aboutNothing)}, "<{}> <{}>", Unknown, KindConflict},
	} {
		for _, op := range []Operation{OpResendInvites, OpResetIndividual} {
			t.Run(string(op)+", "+name, func(t *testing.T) {
				s := newService(t, inSequence(test.responses...), false)
				c := s.client(t)
				_ = exampleOf(t, op).run(t.Context(), c)
				err := exampleOf(t, op).run(t.Context(), c)
				if got := s.bodies(); got != test.want {
					t.Errorf("sent %s, want %s", got, test.want)
				}
				if KindOf(err) != test.kind || err != nil && OutcomeOf(err) != test.outcome {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// The interface lists Content-Type for a DELETE too, which has no body.
func TestDeleteWithoutContentType(t *testing.T) {
	for name, test := range map[string]struct {
		responses []http.HandlerFunc
		want      int // requests of two operations
		outcome   Outcome
		kind      Kind // of the second
	}{
		"needed":               {[]http.HandlerFunc{typed(answers(204, ""))}, 2, 0, ""},
		"refused":              {[]http.HandlerFunc{untyped(answers(204, ""))}, 3, 0, ""},
		"refused for itself":   {[]http.HandlerFunc{answers(400, aboutNothing)}, 4, Refused, KindInvalid},
		"gone the second time": {[]http.HandlerFunc{answers(204, ""), answers(404, "")}, 2, Refused, KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, inSequence(test.responses...), false)
			c := s.client(t)
			_ = c.DeleteApplication(t.Context(), 1)
			err := c.DeleteApplication(t.Context(), 1)
			s.expect(t, test.want, 1)
			if KindOf(err) != test.kind || err != nil && OutcomeOf(err) != test.outcome {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestASecondBodyThatIsLostIsUnknown(t *testing.T) {
	s := newService(t, inSequence(answers(400, aboutNothing), abort), false)
	expectFailure(t, exampleOf(t, OpResendInvites).run(t.Context(), s.client(t)), Unknown, KindConnection)
}

// A shutdown between the two requests leaves open what the second would have done: that is no refusal.
func TestASecondBodyThatIsNotSent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		answers(400, aboutNothing)(w, r)
	}, false)
	expectFailure(t, exampleOf(t, OpResendInvites).run(ctx, s.client(t)), NotSent, KindCanceled)
	if got := s.bodies(); got != "<{}>" {
		t.Errorf("sent %s", got)
	}
}

// TestRefusedThenUnreachableWasSent: the service answers one request, and is gone.
func TestRefusedThenUnreachableWasSent(t *testing.T) {
	for op, status := range map[Operation]string{
		OpDeleteApplication:   "429 Too Many Requests",
		OpCompleteApplication: "405 Method Not Allowed",
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				defer connection.Close()
				listener.Close()
				_, _ = connection.Read(make([]byte, 4096))
				_, _ = io.WriteString(connection, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			}()
			c := newClient(t, Config{
				BaseURL:     "http://" + listener.Addr().String(),
				Credentials: Credentials{Username: "u", Password: Hide("p")},
			})
			signIn(c)
			expectFailure(t, exampleOf(t, op).run(t.Context(), c), Refused, KindUnreachable)
			<-gone
		})
	}
}
