package sandbox

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   any    `json:"expires_in,omitempty"`
	TokenType   string `json:"token_type"`
}

func (s *Service) authorised(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && s.tokens.Valid(token)
}

func (s *Service) token(c *call) (reply, error) {
	form, err := url.ParseQuery(string(c.body))
	if err != nil {
		return reply{}, malformed("the body must be a URL-encoded form")
	}
	if form.Get("grant_type") != "password" {
		return reply{}, invalidField("grant_type", "must be password")
	}
	if _, given := c.Header["Authorization"]; given && c.dialect.TokenBasic == dialect.TokenBasicRefused {
		return reply{}, malformed("a token request carries no Authorization header")
	}
	if !s.credentialsHold(form) || c.dialect.TokenBasic == dialect.TokenBasicRequired && !s.basicHolds(c.Request) {
		return reply{}, &statusError{status: http.StatusUnauthorized, title: "Unauthorised"}
	}
	s.stats.login()
	return reply{
		status: http.StatusOK, unwrapped: true,
		json: tokenAnswer{
			AccessToken: s.tokens.Issue(),
			ExpiresIn:   expiresIn(s.options.TokenLifetime, c.dialect),
			TokenType:   "Bearer",
		},
	}, nil
}

// credentialsHold is true if one pair is whole and nothing that was given is
// wrong: the interface lists all four fields as optional.
func (s *Service) credentialsHold(form url.Values) bool {
	right := map[string]string{
		"username": s.options.Username, "password": s.options.Password,
		"client_id": s.options.ClientID, "client_secret": s.options.ClientSecret,
	}
	for field, value := range right {
		if form.Has(field) && form.Get(field) != value {
			return false
		}
	}
	return form.Has("username") && form.Has("password") || form.Has("client_id") && form.Has("client_secret")
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
	case dialect.ExpiresInAbsent:
		return nil
	default:
		return seconds
	}
}
