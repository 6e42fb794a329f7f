package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   any    `json:"expires_in,omitempty"`
	TokenType   string `json:"token_type"`
}

// authorize refuses a request without a valid token, and one whose user may not use the API.
func (a *account) authorize(r *request) error {
	switch valid := a.tokens.Valid(bearerToken(r.Request)); {
	case !valid && r.dialect.TokenRefusal != "":
		return tokenRefusals[r.dialect.TokenRefusal]
	case !valid, r.dialect.APIPermission == dialect.APIPermission401:
		return &statusError{status: http.StatusUnauthorized, title: "Unauthorised", header: challenge}
	case r.dialect.APIPermission == dialect.APIPermission403:
		return &statusError{status: http.StatusForbidden, title: "The user has no API permission"}
	}
	return nil
}

// bearerToken is empty if there is none.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// challenge is the header of a 401 of the service itself (RFC 6750).
var challenge = map[string]string{"WWW-Authenticate": "Bearer"}

var tokenRefusals = map[string]*statusError{
	dialect.TokenRefusal403: {status: http.StatusForbidden, title: "The token is not valid"},
	dialect.TokenRefusalRedirect: {
		status: http.StatusFound, header: map[string]string{"Location": "/login"}, body: dialect.ErrorBodyEmpty,
	},
	dialect.TokenRefusalHTML: {status: http.StatusOK, body: dialect.ErrorBodyHTML},
}

// oauthError is the error of OAuth 2.0 (RFC 6749).
type oauthError struct {
	Error string `json:"error"`
}

var loginRefusals = map[string]*statusError{
	"":                           {status: http.StatusUnauthorized, title: "Unauthorised"},
	dialect.LoginRefusal400:      {status: http.StatusBadRequest, title: "The credentials are wrong"},
	dialect.LoginRefusal403:      {status: http.StatusForbidden, title: "The credentials are wrong"},
	dialect.LoginRefusal400OAuth: {status: http.StatusBadRequest, json: oauthError{"invalid_grant"}},
	dialect.LoginRefusal200Error: {status: http.StatusOK, json: oauthError{"invalid_grant"}},
}

// grantTypes are the valid values of grant_type; none is any.
var grantTypes = map[string][]string{
	"":                                 {"password"},
	dialect.GrantTypeClientCredentials: {"client_credentials"},
	dialect.GrantTypeEither:            {"password", "client_credentials"},
}

func (a *account) token(r *request) (response, error) {
	form, err := url.ParseQuery(string(r.body))
	if err != nil {
		return response{}, malformed("the body must be a URL-encoded form")
	}
	if valid := grantTypes[r.dialect.GrantType]; valid != nil && !slices.Contains(valid, form.Get("grant_type")) {
		return response{}, state.InvalidField("grant_type", "must be "+strings.Join(valid, " or "))
	}
	if err := a.checkLogin(r, form); err != nil {
		return response{}, err
	}
	lifetime := time.Duration(cmp.Or(int64(r.dialect.TokenLifetime), a.config.TokenLifetimeSeconds)) * time.Second
	token, issued := a.tokens.Issue(lifetime, r.dialect.OlderTokens == dialect.OlderTokensRevoked, r.dialect.TokensPerHour)
	if !issued {
		return response{}, &statusError{status: http.StatusTooManyRequests, title: "Too many tokens in an hour"}
	}
	if r.dialect.TokenForm == dialect.TokenFormBearer {
		token = "Bearer " + token
	}
	a.stats.login()
	return response{
		status: http.StatusOK, standard: true,
		json: tokenAnswer{
			AccessToken: token,
			ExpiresIn:   expiresIn(lifetime, r.dialect),
			TokenType:   tokenType(r.dialect),
		},
	}, nil
}

func (a *account) checkLogin(r *request, form url.Values) error {
	_, withHeader := r.Header["Authorization"]
	switch basic := r.dialect.TokenBasic; {
	case withHeader && basic == dialect.TokenBasicRefused:
		return malformed("a token request must not carry an Authorization header")
	case withHeader && basic == dialect.TokenBasicRefused401,
		basic == dialect.TokenBasicRequired && !basicAuthValid(r.Request, a.config.ClientID, a.config.ClientSecret),
		basic == dialect.TokenBasicUser && !basicAuthValid(r.Request, a.config.Username, a.config.Password),
		!a.credentialsValid(form, r.dialect):
		return loginRefusals[r.dialect.LoginRefusal]
	}
	refusal := map[string]int{
		dialect.APIPermissionLogin400: http.StatusBadRequest,
		dialect.APIPermissionLogin401: http.StatusUnauthorized,
		dialect.APIPermissionLogin403: http.StatusForbidden,
	}
	if status, refused := refusal[r.dialect.APIPermission]; refused {
		return &statusError{status: status, title: "The user has no API permission"}
	}
	return nil
}

// credentialsValid is true if the pairs that the dialect requires are present and no field is wrong. The interface
// lists all four fields as optional.
func (a *account) credentialsValid(form url.Values, d dialect.Dialect) bool {
	expected := map[string]string{
		"username": a.config.Username, "password": a.config.Password,
		"client_id": a.config.ClientID, "client_secret": a.config.ClientSecret,
	}
	for field, value := range expected {
		if form.Has(field) && (form.Get(field) != value || value == "") {
			return false
		}
	}
	user := form.Has("username") && form.Has("password")
	client := form.Has("client_id") && form.Has("client_secret")
	switch d.Credentials {
	case dialect.CredentialsUser:
		return user
	case dialect.CredentialsClient:
		return client
	case dialect.CredentialsBoth:
		return user && client
	default:
		return user || client
	}
}

// isOf reports whether a token request names a user or a client of the account.
func (a *account) isOf(r *request) bool {
	form, _ := url.ParseQuery(string(r.body))
	name, _, _ := r.BasicAuth()
	return slices.ContainsFunc([]string{form.Get("username"), form.Get("client_id"), name}, func(given string) bool {
		return given != "" && (given == a.config.Username || given == a.config.ClientID)
	})
}

func basicAuthValid(r *http.Request, name, secret string) bool {
	gotName, gotSecret, ok := r.BasicAuth()
	return ok && gotName == name && gotSecret == secret
}

func expiresIn(lifetime time.Duration, d dialect.Dialect) any {
	seconds := int64(lifetime / time.Second)
	switch d.ExpiresIn {
	case dialect.ExpiresInMilliseconds:
		return seconds * 1000
	case dialect.ExpiresInString:
		return strconv.FormatInt(seconds, 10)
	case dialect.ExpiresInFloat:
		return json.Number(strconv.FormatInt(seconds, 10) + ".0")
	case dialect.ExpiresInAbsent:
		return nil
	case dialect.ExpiresInZero:
		return 0
	case dialect.ExpiresInAbsurd:
		return json.Number("9e15")
	default:
		return seconds
	}
}

func tokenType(d dialect.Dialect) string {
	switch d.TokenType {
	case dialect.TokenTypeLower:
		return "bearer"
	case dialect.TokenTypeUpper:
		return "BEARER"
	default:
		return "Bearer"
	}
}
