package sandbox_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
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
	"tokenBasic=user_required": func(t *testing.T, s *testService) {
		t.Helper()
		wantEqual(t, "with client id and secret", 401, s.postForm(credentials(), basic()).status)
		user := http.Request{Header: http.Header{}}
		user.SetBasicAuth(sandbox.DefaultUsername, sandbox.DefaultPassword)
		wantEqual(t, "with user name and password", 200, s.postForm(credentials(), user.Header).status)
		wantEqual(t, "without", 401, s.postForm(credentials(), http.Header{}).status)
	},

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

	"grantType=password":           wantGrantTypes(200, 400, 400),
	"grantType=client_credentials": wantGrantTypes(400, 200, 400),
	"grantType=either":             wantGrantTypes(200, 200, 400),
	"grantType=any":                wantGrantTypes(200, 200, 200),

	"tokenForm=plain":         wantTokenForm(false),
	"tokenForm=bearer_prefix": wantTokenForm(true),

	"loginRefusal=401":       wantLoginRefusal(401, "title"),
	"loginRefusal=400":       wantLoginRefusal(400, "title"),
	"loginRefusal=403":       wantLoginRefusal(403, "title"),
	"loginRefusal=400_oauth": wantLoginRefusal(400, "error"),
	"loginRefusal=200_error": wantLoginRefusal(200, "error"),

	"tokenRefusal=401":      wantTokenRefusal(401, "Www-Authenticate", "Bearer"),
	"tokenRefusal=403":      wantTokenRefusal(403, "Content-Type", "application/problem+json"),
	"tokenRefusal=redirect": wantTokenRefusal(302, "Location", "/login"),
	"tokenRefusal=html_200": wantTokenRefusal(200, "Content-Type", "text/html; charset=utf-8"),

	"tokensPerHour=0": wantTokens(10),
	"tokensPerHour=3": wantTokens(2), // the fixture's login was one
}

func wantGrantTypes(password, client, other int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for grantType, status := range map[string]int{"password": password, "client_credentials": client, "magic": other} {
			form := credentials()
			form.Set("grant_type", grantType)
			wantEqual(t, grantType, status, s.postForm(form, http.Header{}).status)
		}
	}
}

func wantTokenForm(bearer bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		token, prefixed := strings.CutPrefix(s.login(), "Bearer ")
		wantEqual(t, "a prefix", bearer, prefixed)
		s.token = token
		s.must("GET", "/ext/references", nil)
		s.token = "Bearer " + token
		wantEqual(t, "Bearer twice", 401, s.request("GET", "/ext/references", nil).status)
	}
}

func wantLoginRefusal(status int, member string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		wrong := credentials()
		wrong.Set("password", "wrong")
		got := s.postForm(wrong, http.Header{})
		wantEqual(t, "status code", status, got.status)
		if text, _ := got.at(member).(string); text == "" || got.at("access_token") != nil {
			t.Errorf("the body is %s", got.body)
		}
		wantEqual(t, "the right ones", 200, s.postForm(credentials(), http.Header{}).status)
	}
}

func wantTokenRefusal(status int, header, value string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		_, err := s.RevokeTokens(t.Context())
		noError(t, err)
		got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		wantEqual(t, "status code", status, got.status)
		wantEqual(t, header, value, got.header.Get(header))
		wantEqual(t, "e-mails", 0, len(s.emails()))
		s.token = s.login()
		s.must("GET", "/ext/references", nil)
	}
}

func wantTokens(issued int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		count := func() (n int) {
			for range 10 {
				got := s.postForm(credentials(), http.Header{})
				if got.status == http.StatusOK {
					n++
					continue
				}
				wantProblem(t, got, http.StatusTooManyRequests)
			}
			return n
		}
		wantEqual(t, "tokens", issued, count())
		_, err := s.Advance(t.Context(), time.Hour)
		noError(t, err)
		if later := count(); later < issued {
			t.Errorf("%d tokens in the next hour", later)
		}
		noError(t, s.Reset(t.Context()))
		if afterReset := count(); afterReset < issued {
			t.Errorf("%d tokens after a reset", afterReset)
		}
	}
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
