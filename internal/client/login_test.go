package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestLoginSendsWhatIsConfigured(t *testing.T) {
	user := Credentials{Username: "user", Password: Hide("pass word&")}
	app := Credentials{ClientID: "id", ClientSecret: Hide("s:ecret")}
	both := Credentials{Username: "user", Password: Hide("pass word&"), ClientID: "id", ClientSecret: Hide("s:ecret")}
	userForm := url.Values{"grant_type": {"password"}, "username": {"user"}, "password": {"pass word&"}}
	appForm := url.Values{"grant_type": {"password"}, "client_id": {"id"}, "client_secret": {"s:ecret"}}
	bothForm := url.Values{
		"grant_type": {"password"}, "username": {"user"}, "password": {"pass word&"}, "client_id": {"id"},
		"client_secret": {"s:ecret"},
	}
	for name, test := range map[string]struct {
		credentials Credentials
		auth        TokenAuthorization
		form        url.Values
		basic       bool
	}{
		"user":         {user, "", userForm, false},
		"client":       {app, TokenAuthorizationAuto, appForm, true},
		"both":         {both, TokenAuthorizationAuto, bothForm, true},
		"both, None":   {both, TokenAuthorizationNone, bothForm, false},
		"both, Basic":  {both, TokenAuthorizationBasic, bothForm, true},
		"client, None": {app, TokenAuthorizationNone, appForm, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil, false)
			s.login = func(w http.ResponseWriter, r *http.Request) {
				id, secret, ok := r.BasicAuth()
				if ok != test.basic || ok && (id != "id" || secret != "s:ecret") {
					t.Errorf("Authorization %q", r.Header.Get("Authorization"))
				}
				if err := r.ParseForm(); err != nil || r.PostForm.Encode() != test.form.Encode() {
					t.Errorf("form %v, want %v (%v)", r.PostForm, test.form, err)
				}
				answers(200, `{"access_token":"abc","token_type":"BEARER"}`)(w, r)
			}
			c := s.client(
				t, func(config *Config) { config.Credentials, config.TokenAuthorization = test.credentials, test.auth },
			)
			token, err := c.AccessToken(t.Context())
			if err != nil || token.Value.Reveal() != "abc" {
				t.Errorf("got %v, %v", token, err)
			}
		})
	}
}

func TestTokenAnswers(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	for body, want := range map[string]time.Duration{
		`{"access_token":"t","token_type":"bearer","expires_in":3600}`:     hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":"3600"}`:   hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":3600.0}`:   hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":1}`:        time.Second,
		`{"access_token":"t","token_type":"Bearer","expires_in":0.001}`:    time.Second, // not a login per request
		`{"access_token":"t","token_type":"Bearer","expires_in":3600000}`:  day,         // milliseconds
		`{"access_token":"t","token_type":"Bearer","expires_in":1e300}`:    day,
		`{"access_token":"t","token_type":"Bearer","expires_in":"Inf"}`:    day,
		`{"access_token":"t","token_type":"Bearer","expires_in":"NaN"}`:    hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":0}`:        hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":-1}`:       hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":null}`:     hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":"soon"}`:   hour,
		`{"access_token":"t","token_type":"Bearer","expires_in":{"in":1}}`: hour,
		`{"access_token":"t"}`:                                   hour,
		`{"accessToken":"t","expiresIn":3600}`:                   hour,
		`{"data":{"access_token":"t","expires_in":60}}`:          time.Minute,
		`{"access_token":"` + strings.Repeat("t", 30_000) + `"}`: hour,
		`{"access_token":""}`:                                    0,
		`{"access_token":"a b"}`:                                 0,
		`{"access_token":"a\r\nX: y"}`:                           0,
		`{"access_token":7}`:                                     0,
		`{"token":"t"}`:                                          0,
		`{}`:                                                     0,
		`[]`:                                                     0,
		``:                                                       0,
		`<html>sign in</html>`:                                   0,
		`{"access_token":"` + strings.Repeat("t", 70_000) + `"}`: -1, // more than a header could hold
	} {
		t.Run(fmt.Sprintf("%.60s", body), func(t *testing.T) {
			s := newService(t, nil, false)
			s.login = answers(http.StatusOK, body)
			token, err := s.client(t).AccessToken(t.Context())
			switch {
			case want == 0:
				expectFailure(t, err, Unknown, KindUnreadable)
			case want < 0:
				expectFailure(t, err, Unknown, KindTooLarge)
			case err != nil:
				t.Error(err)
			default:
				if got := time.Until(token.RenewAt); got > want*4/5 || got < want*4/5-time.Minute {
					t.Errorf("renewed after %v, want 80 %% of %v", got, want)
				}
			}
		})
	}
}

func TestFailedLogins(t *testing.T) {
	for status, kind := range map[int]Kind{400: KindCredentials, 401: KindCredentials, 403: KindCredentials,
		404: KindNotFound, 405: KindMethodNotAllowed,
		422: KindCredentials, 429: KindRateLimited, 500: KindServer, 302: KindUnreadable} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, someApplication), false)
			s.login = answers(status, `{"title":"`+personal+`","status":"`+fmt.Sprint(status)+`"}`)
			c := s.client(t)
			var err error
			for range 3 {
				_, err = c.CreateApplication(t.Context(), someNewApplication())
			}
			e := expectFailure(t, err, NotSent, kind)
			if !e.Login || e.Operation != OpCreateApplication || e.Status != status ||
				!strings.Contains(e.Error(), "login failed") {
				t.Errorf("the error is %v", e)
			}
			if IsNotFound(err) {
				t.Error("a login that met a 404 says nothing about an application")
			}
			logins := 3
			if kind == KindCredentials {
				logins = 1
			}
			s.expect(t, 0, logins)
		})
	}
}

func TestIsRefusal(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"of what was asked":                 {&Error{Outcome: Refused, Kind: KindInvalid}, true},
		"wrapped":                           {errors.Join(&Error{Outcome: Refused, Kind: KindNotFound}), true},
		"of who asked":                      {&Error{Outcome: Refused, Kind: KindCredentials}, false},
		"of how often":                      {&Error{Outcome: Refused, Kind: KindRateLimited}, false},
		"of the login after a 401":          {&Error{Outcome: Refused, Kind: KindRejected, Login: true}, false},
		"no refusal: it may have been done": {&Error{Outcome: Unknown, Kind: KindServer}, false},
		"no refusal: it was never sent":     {&Error{Outcome: NotSent, Kind: KindUnreachable}, false},
		"another error":                     {errors.ErrUnsupported, false},
		"none":                              {nil, false},
	} {
		if got := IsRefusal(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
