package sandbox_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
)

var authenticationCases = cases{
	"expiresIn=seconds":      wantToken("expires_in", number("3600")),
	"expiresIn=milliseconds": wantToken("expires_in", number("3600000")),
	"expiresIn=string":       wantToken("expires_in", "3600"),
	"expiresIn=float":        wantToken("expires_in", number("3600.0")),
	"expiresIn=absent":       wantToken("expires_in", nil),
	"expiresIn=zero":         wantToken("expires_in", number("0")),
	"expiresIn=absurd":       wantToken("expires_in", number("9e15")),

	"tokenType=capitalised": wantToken("token_type", "Bearer"),
	"tokenType=lower":       wantToken("token_type", "bearer"),
	"tokenType=upper":       wantToken("token_type", "BEARER"),

	"tokenLifetime=0": wantLifetime(time.Hour),
	"tokenLifetime=7": wantLifetime(7 * time.Second),

	"tokenBasic=ignored":     wantLogins(200, 200),
	"tokenBasic=required":    wantLogins(200, 401),
	"tokenBasic=refused":     wantLogins(400, 200),
	"tokenBasic=refused_401": wantLogins(401, 200),

	"credentials=either": wantCredentials(200, 200, 200),
	"credentials=user":   wantCredentials(200, 401, 200),
	"credentials=client": wantCredentials(401, 200, 200),
	"credentials=both":   wantCredentials(401, 401, 200),

	"olderTokens=kept":    wantOlderToken(200),
	"olderTokens=revoked": wantOlderToken(401),

	"apiPermission=granted":   wantPermission(200, 200),
	"apiPermission=403":       wantPermission(200, 403),
	"apiPermission=401":       wantPermission(200, 401),
	"apiPermission=login_400": wantPermission(400, 401),
	"apiPermission=login_401": wantPermission(401, 401),
	"apiPermission=login_403": wantPermission(403, 401),
}

func wantToken(member string, value any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.postForm(credentials(), http.Header{})
		wantEqual(t, member, value, got.at(member))
	}
}

func wantLifetime(lifetime time.Duration) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		token := s.postForm(credentials(), http.Header{})
		wantEqual(t, "expires_in", lifetime.Seconds(), mustFloat(t, token.at("expires_in")))
		_, err := s.Advance(t.Context(), lifetime-2*time.Second)
		noError(t, err)
		wantEqual(t, "shortly before its expiry", 200, s.request("GET", "/ext/references", nil).status)
		_, err = s.Advance(t.Context(), 2*time.Second)
		noError(t, err)
		wantEqual(t, "after it", 401, s.request("GET", "/ext/references", nil).status)
	}
}

func mustFloat(t *testing.T, value any) float64 {
	t.Helper()
	f, err := value.(number).Float64()
	noError(t, err)
	return f
}

func wantLogins(withBasic, without int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		wantEqual(t, "with an Authorization header", withBasic, s.postForm(credentials(), basic()).status)
		wantEqual(t, "without", without, s.postForm(credentials(), http.Header{}).status)
	}
}

func wantCredentials(user, client, both int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		login := func(form url.Values) int { return s.postForm(form, http.Header{}).status }
		secrets := url.Values{
			"grant_type": {"password"}, "client_id": {sandbox.DefaultClientID}, "client_secret": {sandbox.DefaultClientSecret},
		}
		wantEqual(t, "user name and password", user, login(credentials()))
		wantEqual(t, "client id and secret", client, login(secrets))
		maps.Copy(secrets, credentials())
		wantEqual(t, "both pairs", both, login(secrets))
	}
}

func wantOlderToken(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		newer := s.login()
		wantEqual(t, "the older token", status, s.request("GET", "/ext/references", nil).status)
		s.token = newer
		wantEqual(t, "the newer token", 200, s.request("GET", "/ext/references", nil).status)
	}
}

func wantPermission(login, request int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		wantEqual(t, "login", login, s.postForm(credentials(), http.Header{}).status)
		got := s.request("GET", "/ext/references", nil)
		wantEqual(t, "request", request, got.status)
		wantEqual(t, "a challenge", request == 401, got.header.Get("WWW-Authenticate") != "")
	}
}
