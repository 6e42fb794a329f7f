package client

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// tokenService issues tokens, and refuses those that are not the last one.
type tokenService struct {
	*service
	refuse http.HandlerFunc // of a token that is not valid

	answerReferences http.HandlerFunc // of one that is

	mu     sync.Mutex
	issued int
	valid  string
	log    []string // what came with a valid token, and "refused" for other requests
}

func newTokenService(t *testing.T, refuse, handler http.HandlerFunc) *tokenService {
	t.Helper()
	s := &tokenService{refuse: refuse, answerReferences: answers(http.StatusOK, `{}`)}
	s.service = newService(t, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		valid := r.Header.Get("Authorization") == "Bearer "+s.valid
		name := r.Method + strings.TrimPrefix(r.URL.Path, apiPrefix+"/ext")
		if !valid {
			name = "refused"
		}
		s.log = append(s.log, name)
		s.mu.Unlock()
		switch {
		case !valid:
			s.refuse(w, r)
		case r.URL.Path == referencesPath:
			s.answerReferences(w, r)
		default:
			handler(w, r)
		}
	}, false)
	s.login = func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.issued++
		s.valid = fmt.Sprintf("token-%d", s.issued)
		token := s.valid
		s.log = append(s.log, "login")
		s.mu.Unlock()
		answers(http.StatusOK, `{"access_token":"`+token+`","expires_in":86400}`)(w, r)
	}
	return s
}

func (s *tokenService) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = "none"
}

// did returns what happened since the last time.
func (s *tokenService) did() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := strings.Join(s.log, ", ")
	s.log = nil
	return log
}

// age makes it a minute since the service has accepted the client's token.
func age(c *Client) {
	before := time.Now().Add(-checkInterval)
	c.tokens.current.accepted.Store(&before)
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/login", http.StatusFound)
}

// tokenRefusals are the ways in which a service, or what is before it, refuses a token.
var tokenRefusals = map[string]http.HandlerFunc{
	"401":                answers(401, ""),
	"401 with a problem": answers(401, aboutNothing),
	"403":                answers(403, ""),
	"403 with a problem": answers(403, aboutNothing),
	"redirect":           redirect,
	"page":               answers(200, "<html>Sign in"),
}

const (
	checks  = "GET/references"
	creates = "POST/applications"
)

// TestTokenIsCheckedBeforeAnEMail: what may e-mail people is not what finds out that a token is not good any more. It
// is sent with a token that the service has accepted in the last minute, and a refused token costs one login.
func TestTokenIsCheckedBeforeAnEMail(t *testing.T) {
	for name, refuse := range tokenRefusals {
		t.Run(name, func(t *testing.T) {
			s := newTokenService(t, refuse, answers(http.StatusOK, someApplication))
			c := s.client(t)
			ctx := t.Context()
			for _, step := range []struct {
				when   string
				before func()
				want   string
			}{
				{"first", func() {}, "login, " + checks + ", " + creates},
				{"again", func() {}, creates},
				{"after a minute", func() { age(c) }, checks + ", " + creates},
				{"after a minute and a read", func() {
					age(c)
					_, _ = c.RetrieveApplication(ctx, 4711)
				}, "GET/applications/4711, " + creates},
				{"revoked, after a minute", func() {
					age(c)
					s.revoke()
				}, "refused, login, " + checks + ", " + creates},
				{"old", func() { c.tokens.current.renew = time.Now() }, "login, " + checks + ", " + creates},
			} {
				step.before()
				if _, err := c.CreateApplication(ctx, someNewApplication()); err != nil {
					t.Errorf("%s: %v", step.when, err)
				}
				if got := s.did(); got != step.want {
					t.Errorf("%s: %s; want %s", step.when, got, step.want)
				}
			}
		})
	}
}

// TestTokenThatIsRevokedUnderWay: the request is not sent again, whatever was wrong. Only the service's own word proves
// that nothing was done, and a read tells whether the token was the reason. The next request has another token.
func TestTokenThatIsRevokedUnderWay(t *testing.T) {
	for name, want := range map[string]struct {
		outcome Outcome
		kind    Kind
	}{
		"401":                {Unknown, KindUnproven},
		"401 with a problem": {Refused, KindExpiredToken},
		"403":                {Unknown, KindUnproven},
		"403 with a problem": {Refused, KindExpiredToken},
		"redirect":           {Unknown, KindUnreadable},
		"page":               {Unknown, KindUnreadable},
	} {
		for op := range emailing {
			s := newTokenService(t, tokenRefusals[name], answers(http.StatusOK, someApplication))
			c := s.client(t)
			if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
				t.Fatal(err)
			}
			s.revoke()
			s.did()
			err := exampleOf(t, op).run(t.Context(), c)
			expectFailure(t, err, want.outcome, want.kind)
			if IsRefusal(err) || IsForbidden(err) {
				t.Errorf("%s: %v is not about what was asked", name, err)
			}
			if got := strings.Count(s.did(), "login"); got != 1 {
				t.Errorf("%s, %s: %d logins", name, op, got)
			}
			if err := exampleOf(t, op).run(t.Context(), c); err != nil {
				t.Errorf("%s, %s: %v", name, op, err)
			}
			s.Close()
		}
	}
}

// TestTokenThatIsRevokedOfAUserWithoutReferences: the read that tells whether the token was the reason is forbidden to
// the user, whatever the token. That it has another answer with another token says enough.
func TestTokenThatIsRevokedOfAUserWithoutReferences(t *testing.T) {
	for name, between := range map[string]func(*Client) error{
		"nothing":      func(*Client) error { return nil },
		"another read": func(c *Client) error { return errorOf(c.RetrieveApplication(t.Context(), 4711)) },
	} {
		for _, references := range []http.HandlerFunc{answers(403, aboutNothing), answers(404, aboutNothing)} {
			var s *tokenService
			var c *Client
			refuse := func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					if err := between(c); err != nil {
						t.Error(err)
					}
				}
				answers(401, aboutNothing)(w, r)
			}
			s = newTokenService(t, refuse, answers(http.StatusOK, someApplication))
			s.answerReferences = references
			c = s.client(t)
			if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
				t.Fatal(err)
			}
			s.revoke()
			expectFailure(t, exampleOf(t, OpResendInvites).run(t.Context(), c), Refused, KindExpiredToken)
			if err := exampleOf(t, OpResendInvites).run(t.Context(), c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestForbiddenIsNotAboutTheToken: the read that follows shows that the token is good, so there is no login.
func TestForbiddenIsNotAboutTheToken(t *testing.T) {
	for _, status := range []int{401, 403} {
		for body, outcome := range map[string]Outcome{aboutNothing: Forbidden, "<html>": Unknown} {
			s := newTokenService(t, answers(500, ""), answers(status, body))
			c := s.client(t)
			for i := range 3 {
				err := exampleOf(t, OpResendInvites).run(t.Context(), c)
				if e := asError(t, err); e.Outcome != outcome || IsForbidden(err) != (outcome == Forbidden) {
					t.Errorf("%d %s: %v %v", status, body, e.Outcome, e)
				}
				if got := s.did(); strings.Contains(got, "login") != (i == 0) || strings.Count(got, "POST") != 1 {
					t.Errorf("%d %s: %s", status, body, got)
				}
			}
			s.Close()
		}
	}
}

// TestCheckThatFails: nothing is sent that may e-mail people, unless the user may not read the reference data, which
// says nothing about other requests.
func TestCheckThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		references http.HandlerFunc
		sent       bool
		kind       Kind
	}{
		"server error":      {answers(500, ""), false, KindServer},
		"broken":            {abort, false, KindConnection},
		"unknown path":      {answers(404, "<html>"), false, KindUnproven},
		"page":              {answers(200, "<html>"), false, KindUnreadable},
		"not authorized":    {answers(401, ""), false, KindForbidden},
		"rate limit":        {answers(429, aboutNothing), false, KindRateLimited},
		"forbidden":         {answers(403, aboutNothing), true, ""},
		"forbidden, a page": {answers(403, "<html>"), true, ""},
		"no such thing":     {answers(404, aboutNothing), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, someApplication), false)
			s.references = test.references
			_, err := s.client(t).CreateApplication(t.Context(), someNewApplication())
			requests, logins := s.seen()
			if test.sent {
				if err != nil || len(requests) != 1 {
					t.Errorf("%d requests, %v", len(requests), err)
				}
				return
			}
			e := expectFailure(t, err, NotSent, test.kind)
			if e.Operation != OpCreateApplication || e.Login || !strings.Contains(e.Error(), "a read that checks the token") {
				t.Errorf("%v", e)
			}
			if len(requests) != 0 || len(logins) > 2 {
				t.Errorf("%d requests, %d logins", len(requests), len(logins))
			}
		})
	}
}

// TestUserWithoutPermission: requests that are refused because of the user cause no logins, however many there are.
func TestUserWithoutPermission(t *testing.T) {
	for name, refuse := range tokenRefusals {
		s := newTokenService(t, refuse, nil)
		s.login = answers(http.StatusOK, `{"access_token":"without-permission"}`)
		c := s.client(t)
		for range 10 {
			for _, op := range []Operation{OpCreateApplication, OpRetrieveReferences, OpRetrieveApplication} {
				if err := exampleOf(t, op).run(t.Context(), c); err == nil {
					t.Errorf("%s: %s succeeded", name, op)
				}
			}
		}
		if _, logins := s.seen(); len(logins) > 2 {
			t.Errorf("%s: %d logins", name, len(logins))
		}
		s.Close()
	}
}

// TestReadsGetAnotherToken: a read whose token fails is sent again with another one, once. A 403 about an object may as
// well be about the object, so a read that every user may do tells which.
func TestReadsGetAnotherToken(t *testing.T) {
	for name, refuse := range tokenRefusals {
		for _, op := range []Operation{OpRetrieveReferences, OpRetrieveApplication, OpDeleteApplication} {
			if op == OpDeleteApplication && (name == "redirect" || name == "page") {
				continue // it may have deleted
			}
			t.Run(name+", "+string(op), func(t *testing.T) {
				s := newTokenService(t, refuse, answers(http.StatusOK, someApplication))
				c := s.client(t)
				for range 2 {
					if err := exampleOf(t, op).run(t.Context(), c); err != nil {
						t.Error(err)
					}
					s.revoke()
				}
				checked := op != OpRetrieveReferences && strings.HasPrefix(name, "403")
				if got := s.did(); strings.Count(got, "login") != 2 || strings.Contains(got, "refused, refused") != checked {
					t.Error(got)
				}
			})
		}
	}
}

// TestExpiredTokenAndFailedLogin: the token was the reason although no other one can be had.
func TestExpiredTokenAndFailedLogin(t *testing.T) {
	s := newTokenService(t, answers(401, aboutNothing), answers(http.StatusOK, someApplication))
	c := s.client(t)
	if err := exampleOf(t, OpCreateApplication).run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.revoke()
	s.login = answers(http.StatusBadGateway, "")
	expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), c), Refused, KindExpiredToken)
	expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), c), NotSent, KindServer)
}
