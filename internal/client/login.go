package client

import (
	"context"
	"encoding/base64"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// AccessToken is a bearer token for requests that are made outside of this client.
type AccessToken struct {
	Value Secret
	// RenewAt is when this client gets a new one: after 80 % of the lifetime that the service gave.
	RenewAt time.Time
}

// AccessToken returns the client's token, and logs in if there is none: POST /ext/authentications/token (interface: Get
// access token).
// Errors: KindCredentials if the service refuses the login; then also, without a login, until the hold-off is over.
func (c *Client) AccessToken(ctx context.Context) (*AccessToken, error) {
	token, err := c.tokens.get(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &AccessToken{Value: token.value, RenewAt: token.renew}, nil
}

const (
	// defaultLifetime is that of a token whose response names none.
	defaultLifetime = time.Hour
	// minLifetime keeps an expires_in of almost nothing from causing a login per request.
	minLifetime = time.Second
	// maxLifetime caps expires_in. Its unit is not documented: a day in seconds is more than a month in milliseconds. A
	// token that expires early only costs one more login.
	maxLifetime = 24 * time.Hour
)

// requestToken gets a token (interface: Get access token). It sends one request. It is not subject to the rate limit,
// because the requests that wait for it have passed that already.
func (c *Client) requestToken(lifetime context.Context) (*token, *Error) {
	ctx, cancel := context.WithTimeoutCause(lifetime, loginDeadline, errDeadline)
	defer cancel()
	if wait := c.limits.holdOffRemaining(); wait > 0 {
		return nil, rateLimited(OpToken, wait)
	}
	q := newRequest(OpToken, 0)
	q.contentType = "application/x-www-form-urlencoded"
	q.body, q.authorization = c.config.tokenRequest()
	r, err := c.httpRequest(ctx, q)
	if err != nil {
		return nil, failureOf(err)
	}
	response, err := c.bottom.RoundTrip(r)
	if err != nil {
		return nil, failureOf(err)
	}
	defer response.Body.Close()
	return parseToken(q.answer, time.Now())
}

// tokenRequest is the form and the header Authorization of the token request.
func (c *Config) tokenRequest() (body []byte, authorization Secret) {
	form := url.Values{"grant_type": {string(c.GrantType)}}
	fields := map[string]string{"client_id": c.Credentials.ClientID, "client_secret": c.Credentials.ClientSecret.Reveal()}
	if c.GrantType != GrantClientCredentials {
		fields["username"], fields["password"] = c.Credentials.Username, c.Credentials.Password.Reveal()
	}
	for field, value := range fields {
		if value != "" {
			form.Set(field, value)
		}
	}
	switch c.TokenAuthorization {
	case TokenAuthorizationNone:
	case TokenAuthorizationUserBasic:
		authorization = c.Credentials.UserBasic()
	default:
		authorization = c.Credentials.Basic()
	}
	if authorization.Reveal() != "" {
		authorization = Hide("Basic " + authorization.Reveal())
	}
	return []byte(form.Encode()), authorization
}

// Basic is the value of HTTP Basic authentication with the client credentials; "" without a client ID.
func (c Credentials) Basic() Secret { return basic(c.ClientID, c.ClientSecret) }

// UserBasic is that with the user's; "" without a user name.
func (c Credentials) UserBasic() Secret { return basic(c.Username, c.Password) }

func basic(user string, password Secret) Secret {
	if user == "" {
		return Secret{}
	}
	return Hide(base64.StdEncoding.EncodeToString([]byte(user + ":" + password.Reveal())))
}

// Secrets are the passwords and secrets of the client's credentials and the tokens that it used last, which nothing may
// show.
func (c *Client) Secrets() []Secret {
	c.tokens.mu.Lock()
	defer c.tokens.mu.Unlock()
	credentials := c.config.Credentials
	secrets := []Secret{credentials.Password, credentials.ClientSecret, credentials.Basic(), credentials.UserBasic()}
	for _, t := range []*token{c.tokens.former, c.tokens.current} {
		if t != nil {
			secrets = append(secrets, t.value)
		}
	}
	return secrets
}

// Usernames are the user name and the client id of the credentials. They are no secrets, but may be personal.
func (c *Client) Usernames() []string {
	return []string{c.config.Credentials.Username, c.config.Credentials.ClientID}
}

// parseToken reads the token response (interface: Token response). It ignores token_type: whatever its letter case, the
// interface asks for the word Bearer in the header.
func parseToken(a *answer, now time.Time) (*token, *Error) {
	o := a.value.Object()
	if inner := a.value.Wrapped("token"); o.Get("access_token").IsNull() && len(inner) == 1 {
		o = inner[0].Object()
	}
	text := o.String("access_token")
	if scheme, rest, ok := strings.Cut(text, " "); ok && strings.EqualFold(scheme, "bearer") {
		text = rest
	}
	unfit := func(r rune) bool { return r <= ' ' || r == 0x7f } // for a header
	if text == "" || strings.ContainsFunc(text, unfit) {
		return nil, a.unreadable("the response holds no access_token; check the base URL")
	}
	return &token{value: Hide(text), renew: now.Add(parseLifetime(o.Text("expires_in")) / 5 * 4)}, nil
}

func parseLifetime(expiresIn string) time.Duration {
	seconds, err := strconv.ParseFloat(expiresIn, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return defaultLifetime
	}
	return max(time.Duration(min(seconds, maxLifetime.Seconds())*float64(time.Second)), minLifetime)
}
