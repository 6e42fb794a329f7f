package client

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

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

// TestPayloadIsFoundOut: what e-mails is sent in one form an operation, and the next operation has another one if the
// service may have refused the form.
func TestPayloadIsFoundOut(t *testing.T) {
	ok := answers(200, "")
	for name, test := range map[string]struct {
		responses []http.HandlerFunc
		want      string // the bodies of four operations
		outcome   Outcome
		kind      Kind // of the last
	}{
		"an object":         {[]http.HandlerFunc{taking("{}", ok)}, "<{}> <{}> <{}> <{}>", Done, ""},
		"none":              {[]http.HandlerFunc{taking("", ok)}, "<{}> <> <> <>", Done, ""},
		"none, but a type":  {[]http.HandlerFunc{taking("", typed(ok))}, "<{}> <> <> <>", Done, ""},
		"none, and no type": {[]http.HandlerFunc{untyped(ok)}, "<{}> <> <untyped> <untyped>", Done, ""},
		"none, said by 415": {[]http.HandlerFunc{answers(415, ""), ok}, "<{}> <> <> <>", Done, ""},
		"none, and not found": {
			[]http.HandlerFunc{taking("", answers(404, aboutNothing))}, "<{}> <> <> <>", Refused, KindNotFound,
		},
		"none, and lost": {
			[]http.HandlerFunc{answers(400, aboutNothing), abort, answers(404, aboutNothing)}, "<{}> <> <> <>", Refused,
			KindNotFound,
		},
		"none of them": {
			[]http.HandlerFunc{answers(400, aboutNothing)}, "<{}> <> <untyped> <{}>", Refused, KindInvalid,
		},
		"a type, said with a field": {
			[]http.HandlerFunc{answers(400, aboutNothing), answers(400, `{"exception":{"email":["x"]}}`)},
			"<{}> <> <> <>", Refused, KindInvalid,
		},
		"object, then refused": {
			[]http.HandlerFunc{ok, answers(400, aboutNothing)}, "<{}> <{}> <{}> <{}>", Refused, KindInvalid,
		},
		"a field is wrong": {
			[]http.HandlerFunc{answers(400, `{"exception":{"email":["x"]}}`)}, "<{}> <{}> <{}> <{}>", Refused, KindInvalid,
		},
		"a bare 400": {
			[]http.HandlerFunc{answers(400, "<html>")}, "<{}> <> <untyped> <{}>", Unknown, KindUnproven,
		},
		"conflict": {[]http.HandlerFunc{answers(409, aboutNothing)}, "<{}> <{}> <{}> <{}>", Refused, KindConflict},
	} {
		for _, op := range []Operation{OpResendInvites, OpResetIndividual} {
			t.Run(string(op)+", "+name, func(t *testing.T) {
				s := newService(t, inSequence(test.responses...), false)
				c := s.signedIn(t)
				var err error
				for i := range 4 {
					err = exampleOf(t, op).run(t.Context(), c)
					s.expect(t, i+1, 0)
				}
				if got := s.bodies(); got != test.want {
					t.Errorf("sent %s, want %s", got, test.want)
				}
				if KindOf(err) != test.kind || OutcomeOf(err) != test.outcome {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// TestAnotherFormIsSaid: the caller, who may try again, is told that it will not be the same again.
func TestAnotherFormIsSaid(t *testing.T) {
	s := newService(t, answers(415, ""), false)
	e := expectFailure(t, exampleOf(t, OpResendInvites).run(t.Context(), s.signedIn(t)), Unknown, KindUnproven)
	if !strings.Contains(e.Error(), "the next one has it") {
		t.Errorf("%v", e)
	}
}

// TestRefusedLoginIsNotAboutTheForm: nor is it about the method of a transition.
func TestRefusedLoginIsNotAboutTheForm(t *testing.T) {
	for _, status := range []int{400, 404, 405, 415, 422} {
		s := newService(t, answers(200, someApplication), false)
		ok := s.login
		s.login = answers(status, aboutNothing)
		c := s.client(t)
		s.references = answers(200, `{}`)
		for _, op := range []Operation{OpResendInvites, OpCompleteApplication, OpDeleteApplication} {
			e := asError(t, exampleOf(t, op).run(t.Context(), c))
			if e.Outcome != NotSent || !e.Login || strings.Contains(e.Error(), "another form") {
				t.Errorf("%d: %v", status, e)
			}
		}
		s.expect(t, 0, len(s.requests))
		s.login = ok
		c = s.client(t)
		s.references = answers(status, aboutNothing) // it checks the token
		_ = exampleOf(t, OpResendInvites).run(t.Context(), c)
		_ = exampleOf(t, OpCompleteApplication).run(t.Context(), c)
		s.references = answers(200, `{}`)
		_ = exampleOf(t, OpResendInvites).run(t.Context(), c)
		if got := s.bodies(); strings.Contains(got, "<>") {
			t.Errorf("%d: sent %s", status, got)
		}
		s.Close()
	}
}

// TestFormsOfOperationsThatAreAlike: what one of them has learned is what the others begin with.
func TestFormsOfOperationsThatAreAlike(t *testing.T) {
	s := newService(t, untyped(answers(200, "")), false)
	c := s.signedIn(t)
	for range 3 {
		_ = exampleOf(t, OpResendInvites).run(t.Context(), c)
	}
	for _, op := range []Operation{OpResetIndividual, OpCompleteApplication, OpRejectApplication} {
		if err := exampleOf(t, op).run(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if got := s.bodies(); got != "<{}> <> <untyped> <untyped> <untyped> <untyped>" {
		t.Errorf("sent %s", got)
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
		"needed":               {[]http.HandlerFunc{typed(answers(204, ""))}, 2, Done, ""},
		"refused":              {[]http.HandlerFunc{untyped(answers(204, ""))}, 3, Done, ""},
		"refused for itself":   {[]http.HandlerFunc{answers(400, aboutNothing)}, 4, Refused, KindInvalid},
		"gone the second time": {[]http.HandlerFunc{answers(204, ""), answers(404, aboutNothing)}, 2, Refused, KindNotFound},
		"refused by a page":    {[]http.HandlerFunc{answers(400, "<html>"), answers(204, "")}, 3, Done, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, inSequence(test.responses...), false)
			c := s.client(t)
			_, _ = c.DeleteApplication(t.Context(), 1)
			_, err := c.DeleteApplication(t.Context(), 1)
			s.expect(t, test.want, 1)
			if KindOf(err) != test.kind || OutcomeOf(err) != test.outcome {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestRefusedThenUnreachableWasSent: the service answers one request, and is gone.
func TestRefusedThenUnreachableWasSent(t *testing.T) {
	for op, status := range map[Operation]string{
		OpDeleteApplication:  "429 Too Many Requests",
		OpRetrieveReferences: "429 Too Many Requests",
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
