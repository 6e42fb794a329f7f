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
	grantForm := url.Values{"grant_type": {"client_credentials"}, "client_id": {"id"}, "client_secret": {"s:ecret"}}
	for name, test := range map[string]struct {
		credentials Credentials
		grant       GrantType
		auth        TokenAuthorization
		form        url.Values
		basic       string // user name and password of HTTP Basic
	}{
		"user":               {user, "", "", userForm, ""},
		"user, UserBasic":    {user, GrantPassword, TokenAuthorizationUserBasic, userForm, "user:pass word&"},
		"client":             {app, "", TokenAuthorizationAuto, appForm, "id:s:ecret"},
		"both":               {both, "", TokenAuthorizationAuto, bothForm, "id:s:ecret"},
		"both, None":         {both, "", TokenAuthorizationNone, bothForm, ""},
		"both, Basic":        {both, "", TokenAuthorizationBasic, bothForm, "id:s:ecret"},
		"both, UserBasic":    {both, "", TokenAuthorizationUserBasic, bothForm, "user:pass word&"},
		"client, None":       {app, "", TokenAuthorizationNone, appForm, ""},
		"client grant":       {app, GrantClientCredentials, "", grantForm, "id:s:ecret"},
		"client grant, both": {both, GrantClientCredentials, TokenAuthorizationNone, grantForm, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil, false)
			s.login = func(w http.ResponseWriter, r *http.Request) {
				user, password, ok := r.BasicAuth()
				if ok != (test.basic != "") || ok && user+":"+password != test.basic {
					t.Errorf("Authorization %q", r.Header.Get("Authorization"))
				}
				if err := r.ParseForm(); err != nil || r.PostForm.Encode() != test.form.Encode() {
					t.Errorf("form %v, want %v (%v)", r.PostForm, test.form, err)
				}
				answers(200, `{"access_token":"abc","token_type":"BEARER"}`)(w, r)
			}
			c := s.client(t, func(config *Config) {
				config.Credentials, config.TokenAuthorization = test.credentials, test.auth
				config.GrantType = test.grant
			})
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
		`{"token":{"access_token":"t","expires_in":60}}`:         time.Minute,
		`{"access_token":"Bearer t","expires_in":60}`:            time.Minute,
		`{"access_token":"` + strings.Repeat("t", 30_000) + `"}`: hour,
		`{"access_token":""}`:                                    0,
		`{"access_token":"a b"}`:                                 0,
		`{"access_token":"a\r\nX: y"}`:                           0,
		`{"access_token":7}`:                                     0,
		`{"access_token":"Basic t"}`:                             0,
		`{"access_token":"Bearer a b"}`:                          0,
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
				if value := token.Value.Reveal(); strings.Trim(value, "t") != "" {
					t.Errorf("the token is %q", value)
				}
				if got := time.Until(token.RenewAt); got > want*4/5 || got < want*4/5-time.Minute {
					t.Errorf("renewed after %v, want 80 %% of %v", got, want)
				}
			}
		})
	}
}

func TestFailedLogins(t *testing.T) {
	problem := func(status int) string { return `{"title":"` + personal + `","status":"` + fmt.Sprint(status) + `"}` }
	for name, test := range map[string]struct {
		status int
		body   string
		kind   Kind
		logins int // of three operations
	}{
		"400":                 {400, problem(400), KindCredentials, 1},
		"400 of OAuth":        {400, `{"error":"invalid_grant"}`, KindCredentials, 1},
		"400 of a page":       {400, "<html>", KindInvalid, 1},
		"401":                 {401, problem(401), KindCredentials, 1},
		"401 of a page":       {401, "<html>", KindCredentials, 1},
		"403":                 {403, problem(403), KindCredentials, 1},
		"403, not this host":  {403, "<html>", KindForbidden, 1},
		"404":                 {404, problem(404), KindNotFound, 3},
		"404 of a page":       {404, "<html>", KindUnproven, 3},
		"405":                 {405, problem(405), KindMethodNotAllowed, 3},
		"422":                 {422, problem(422), KindCredentials, 1},
		"429":                 {429, problem(429), KindRateLimited, 3},
		"500":                 {500, problem(500), KindServer, 3},
		"302":                 {302, "", KindUnreadable, 3},
		"200 with an error":   {200, `{"error":"invalid_grant","error_description":"x"}`, KindCredentials, 1},
		"200 with a problem":  {200, `{"type":"about:blank","title":"x","status":401}`, KindCredentials, 1},
		"200 without a token": {200, `{"message":"x"}`, KindUnreadable, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, someApplication), false)
			s.login = answers(test.status, test.body)
			c := s.client(t)
			var err error
			for range 3 {
				_, err = c.CreateApplication(t.Context(), someNewApplication())
			}
			e := expectFailure(t, err, NotSent, test.kind)
			if !e.Login || e.Operation != OpCreateApplication || e.Status != test.status ||
				!strings.Contains(e.Error(), "login failed") || strings.Contains(e.Error(), personal) {
				t.Errorf("the error is %v", e)
			}
			if IsNotFound(err) || IsForbidden(err) || IsRefusal(err) {
				t.Error("a login that fails says nothing about an application")
			}
			s.expect(t, 0, test.logins)
		})
	}
}

func TestWhatAnErrorIsAbout(t *testing.T) {
	type is struct{ refusal, forbidden, notFound, fault bool }
	for name, c := range map[string]struct {
		err  error
		want is
	}{
		"of what was asked": {&Error{Outcome: Refused, Kind: KindInvalid}, is{refusal: true}},
		"wrapped": {
			errors.Join(&Error{Outcome: Refused, Kind: KindNotFound}), is{refusal: true, notFound: true},
		},
		"of who asked for it": {
			&Error{Outcome: Forbidden, Kind: KindForbidden}, is{refusal: true, forbidden: true},
		},
		"of the login":                      {&Error{Outcome: NotSent, Kind: KindCredentials, Login: true}, is{fault: true}},
		"of how often":                      {&Error{Outcome: Refused, Kind: KindRateLimited}, is{}},
		"of the token":                      {&Error{Outcome: Refused, Kind: KindExpiredToken}, is{}},
		"of somebody between":               {&Error{Outcome: Refused, Kind: KindUnproven}, is{}},
		"of the login after a 401":          {&Error{Outcome: Forbidden, Kind: KindNotFound, Login: true}, is{}},
		"no refusal: it may have been done": {&Error{Outcome: Unknown, Kind: KindServer}, is{fault: true}},
		"no refusal: the next was not sent": {&Error{Outcome: Refused, Kind: KindUnreachable}, is{fault: true}},
		"no refusal: the next was too late": {&Error{Outcome: Refused, Kind: KindCanceled}, is{}},
		"no refusal: it was never sent":     {&Error{Outcome: NotSent, Kind: KindUnreachable}, is{fault: true}},
		"no refusal: it may be done later":  {&Error{Outcome: Accepted, Kind: KindUnreadable}, is{fault: true}},
		"another error":                     {errors.ErrUnsupported, is{}},
		"none":                              {nil, is{}},
	} {
		got := is{IsRefusal(c.err), IsForbidden(c.err), IsNotFound(c.err), IsServiceFault(c.err)}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
