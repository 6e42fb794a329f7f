package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
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

// admit refuses a call without a good token, and one whose user may not use the API.
func (s *Service) admit(c *call) error {
	scheme, token, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	valid := strings.EqualFold(scheme, "Bearer") && s.tokens.Valid(token)
	switch {
	case !valid, c.dialect.APIPermission == dialect.APIPermission401:
		return &statusError{
			status: http.StatusUnauthorized, title: "Unauthorised", header: map[string]string{"WWW-Authenticate": "Bearer"},
		}
	case c.dialect.APIPermission == dialect.APIPermission403:
		return &statusError{status: http.StatusForbidden, title: "The user has no API permission"}
	}
	return nil
}

func (s *Service) token(c *call) (reply, error) {
	form, err := url.ParseQuery(string(c.body))
	if err != nil {
		return reply{}, malformed("the body must be a URL-encoded form")
	}
	if form.Get("grant_type") != "password" {
		return reply{}, state.InvalidField("grant_type", "must be password")
	}
	if err := s.checkLogin(c, form); err != nil {
		return reply{}, err
	}
	lifetime := s.options.TokenLifetime
	if c.dialect.TokenLifetime > 0 {
		lifetime = time.Duration(c.dialect.TokenLifetime) * time.Second
	}
	s.stats.login()
	return reply{
		status: http.StatusOK, standard: true,
		json: tokenAnswer{
			AccessToken: s.tokens.Issue(lifetime, c.dialect.OlderTokens == dialect.OlderTokensRevoked),
			ExpiresIn:   expiresIn(lifetime, c.dialect),
			TokenType:   tokenType(c.dialect),
		},
	}, nil
}

func (s *Service) checkLogin(c *call, form url.Values) error {
	_, withHeader := c.Header["Authorization"]
	switch basic := c.dialect.TokenBasic; {
	case withHeader && basic == dialect.TokenBasicRefused:
		return malformed("a token request carries no Authorization header")
	case withHeader && basic == dialect.TokenBasicRefused401,
		basic == dialect.TokenBasicRequired && !s.basicHolds(c.Request),
		!s.credentialsHold(form, c.dialect):
		return &statusError{status: http.StatusUnauthorized, title: "Unauthorised"}
	}
	refusal := map[string]int{
		dialect.APIPermissionLogin400: http.StatusBadRequest,
		dialect.APIPermissionLogin401: http.StatusUnauthorized,
		dialect.APIPermissionLogin403: http.StatusForbidden,
	}
	if status, refused := refusal[c.dialect.APIPermission]; refused {
		return &statusError{status: status, title: "The user has no API permission"}
	}
	return nil
}

// credentialsHold is true if the pairs that the dialect needs are there and
// nothing that was given is wrong: the interface lists all four fields as optional.
func (s *Service) credentialsHold(form url.Values, spoken dialect.Dialect) bool {
	right := map[string]string{
		"username": s.options.Username, "password": s.options.Password,
		"client_id": s.options.ClientID, "client_secret": s.options.ClientSecret,
	}
	for field, value := range right {
		if form.Has(field) && form.Get(field) != value {
			return false
		}
	}
	user := form.Has("username") && form.Has("password")
	client := form.Has("client_id") && form.Has("client_secret")
	switch spoken.Credentials {
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

func (s *Service) basicHolds(r *http.Request) bool {
	id, secret, ok := r.BasicAuth()
	return ok && id == s.options.ClientID && secret == s.options.ClientSecret
}

func expiresIn(lifetime time.Duration, spoken dialect.Dialect) any {
	seconds := int64(lifetime / time.Second)
	switch spoken.ExpiresIn {
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

func tokenType(spoken dialect.Dialect) string {
	switch spoken.TokenType {
	case dialect.TokenTypeLower:
		return "bearer"
	case dialect.TokenTypeUpper:
		return "BEARER"
	default:
		return "Bearer"
	}
}
