package client

import (
	"context"
	"encoding/base64"
	"maps"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// AccessToken is a bearer token for requests that are made outside of this client.
type AccessToken struct {
	Value   Secret
	RenewAt time.Time // when this client gets a new one: after 80 % of the lifetime that the service gave
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
	defaultLifetime = time.Hour   // of a token whose response names none
	minLifetime     = time.Second // keeps an expires_in of almost nothing from causing a login per request
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
	a, failure := c.send(ctx, c.bottom, c.config.tokenRequest())
	if failure != nil {
		return nil, failure
	}
	defer a.Body.Close()
	return parseToken(a, time.Now())
}

// tokenRequest is the token request, with the credentials that are set.
func (c *Config) tokenRequest() *request {
	own := c.Credentials
	form := url.Values{
		"grant_type": {string(c.GrantType)}, "client_id": {own.ClientID}, "client_secret": {own.ClientSecret.Reveal()},
	}
	if c.GrantType != GrantClientCredentials {
		form.Set("username", own.Username)
		form.Set("password", own.Password.Reveal())
	}
	maps.DeleteFunc(form, func(_ string, values []string) bool { return values[0] == "" })
	q := newRequest(OpToken, 0)
	q.body = []byte(form.Encode())
	q.headers.Set("Content-Type", "application/x-www-form-urlencoded")
	user, password := own.ClientID, own.ClientSecret
	if c.TokenAuthorization == TokenAuthorizationUserBasic {
		user, password = own.Username, own.Password
	}
	if user != "" && c.TokenAuthorization != TokenAuthorizationNone {
		q.headers.Set("Authorization", "Basic "+basic(user, password).Reveal())
	}
	return q
}

// basic is the value of HTTP Basic authentication; "" without a user.
func basic(user string, password Secret) Secret {
	if user == "" {
		return Secret{}
	}
	return Hide(base64.StdEncoding.EncodeToString([]byte(user + ":" + password.Reveal())))
}

// Secrets are those of the client's credentials, and the tokens that it used last. Nothing may show them.
func (c *Client) Secrets() []Secret {
	c.tokens.mu.Lock()
	defer c.tokens.mu.Unlock()
	own := c.config.Credentials
	secrets := []Secret{
		own.Password, own.ClientSecret, basic(own.ClientID, own.ClientSecret), basic(own.Username, own.Password),
	}
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
