package sandbox_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestLogin(t *testing.T) {
	with := func(base url.Values, field, value string) url.Values {
		base.Set(field, value)
		return base
	}
	clientPair := url.Values{
		"grant_type": {"password"}, "client_id": {sandbox.DefaultClientID}, "client_secret": {sandbox.DefaultClientSecret},
	}
	cases := map[string]struct {
		form   url.Values
		status int
	}{
		"user name and password":             {credentials(), 200},
		"client id and secret":               {clientPair, 200},
		"a wrong password":                   {with(credentials(), "password", "x"), 401},
		"an unknown user":                    {with(credentials(), "username", "x"), 401},
		"a wrong secret beside a valid pair": {with(credentials(), "client_secret", "x"), 401},
		"half a pair": {
			url.Values{"grant_type": {"password"}, "username": {sandbox.DefaultUsername}}, 401,
		},
		"nothing but the grant type": {url.Values{"grant_type": {"password"}}, 401},
		"no grant type":              {with(credentials(), "grant_type", ""), 400},
		"another grant type":         {with(credentials(), "grant_type", "client_credentials"), 400},
	}
	s := startSandbox(t, sandbox.Options{})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := s.postForm(c.form, http.Header{})
			if c.status != http.StatusOK {
				wantProblem(t, got, c.status)
				return
			}
			wantEqual(t, "token type", any("Bearer"), got.at("token_type"))
			wantEqual(t, "expires in", any(number("3600")), got.at("expires_in"))
			if token, _ := got.at("access_token").(string); token == "" {
				t.Error("no token")
			}
		})
	}
	stats, err := s.Stats(t.Context())
	noError(t, err)
	wantEqual(t, "logins", int64(3), stats.Logins) // the fixture's own, and two
	wantEqual(t, "token requests", int64(len(cases)+1), stats.Requests(control.Token))
}

func TestEveryOtherOperationNeedsAToken(t *testing.T) {
	requests := []struct{ method, path string }{
		{"POST", "/ext/applications"},
		{"GET", "/ext/applications/1"},
		{"DELETE", "/ext/applications/1"},
		{"PATCH", "/ext/applications/1/archive"},
		{"PATCH", "/ext/applications/1/complete"},
		{"PATCH", "/ext/applications/1/reject"},
		{"PATCH", "/check/1/accept"},
		{"PATCH", "/check/1/reject"},
		{"GET", "/ext/individuals/1"},
		{"POST", "/ext/individuals/1/invites/resend"},
		{"POST", "/ext/individuals/1/reset"},
		{"GET", "/ext/individuals/1/report"},
		{"GET", "/ext/references"},
		{"POST", "/ext/webhooks/subscribe"},
		{"GET", "/ext/webhooks/retrieve/1"},
		{"GET", "/ext/nothing"},
	}
	s := startSandbox(t, sandbox.Options{})
	for _, token := range []string{"", "not-a-token"} {
		s.token = token
		for _, request := range requests {
			got := s.request(request.method, request.path, object{})
			wantProblem(t, got, http.StatusUnauthorized)
			wantEqual(t, request.path, "Bearer", got.header.Get("WWW-Authenticate"))
		}
	}
	stats, err := s.Stats(t.Context())
	noError(t, err)
	for _, op := range control.Operations()[1:] {
		wantEqual(t, string(op), int64(2), stats.Operations[op].Answers["401"])
	}
}

func TestTokensEnd(t *testing.T) {
	cases := map[string]struct {
		revoke func(s *testService) error
		status int
	}{
		"shortly before they expire": {func(s *testService) error {
			_, err := s.Advance(s.t.Context(), time.Minute-10*time.Second)
			return err
		}, 200},
		"expired": {func(s *testService) error {
			_, err := s.Advance(s.t.Context(), time.Minute)
			return err
		}, 401},
		"revoked": {func(s *testService) error {
			revoked, err := s.RevokeTokens(s.t.Context())
			wantEqual(s.t, "revoked", 1, revoked)
			return err
		}, 401},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{TokenLifetime: time.Minute})
			noError(t, c.revoke(s))
			wantEqual(t, "status", c.status, s.request(http.MethodGet, "/ext/references", nil).status)
			s.token = s.login()
			wantEqual(t, "status with a new token", 200, s.request(http.MethodGet, "/ext/references", nil).status)
		})
	}
}
