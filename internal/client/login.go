package client

import (
	"context"
	"encoding/base64"
	"math"
	"net/http"
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

// tokenRequest makes the function that gets a token (interface: Get access token). It sends one request; its callers
// may retry. It is not subject to the rate limit, because the requests that wait for it have passed that already.
func (c *Client) tokenRequest(
	lifetime context.Context, credentials Credentials, authorization TokenAuthorization,
) func() (*token, *Error) {
	form := url.Values{"grant_type": {"password"}}
	for field, value := range map[string]string{
		"username": credentials.Username, "password": credentials.Password.Reveal(),
		"client_id": credentials.ClientID, "client_secret": credentials.ClientSecret.Reveal(),
	} {
		if value != "" {
			form.Set(field, value)
		}
	}
	body := Hide([]byte(form.Encode()))
	var header Secret
	if authorization != TokenAuthorizationNone && credentials.ClientID != "" {
		header = Hide("Basic " + credentials.Basic().Reveal())
	}
	return func() (*token, *Error) {
		ctx, cancel := context.WithTimeoutCause(lifetime, operations[OpToken].deadline, errDeadline)
		defer cancel()
		if wait := c.limits.holdOffRemaining(); wait > 0 {
			return nil, rateLimited(OpToken, wait)
		}
		response, err := c.roundTrip(ctx, httpRequest{
			op: OpToken, method: http.MethodPost, url: c.url(request{op: OpToken}), body: body.Reveal(),
			contentType: "application/x-www-form-urlencoded", authorization: header.Reveal(),
		})
		if err != nil {
			return nil, err
		}
		return parseToken(response, time.Now())
	}
}

// Basic is the value of HTTP Basic authentication with the client credentials; "" without a client ID.
func (c Credentials) Basic() Secret {
	if c.ClientID == "" {
		return Secret{}
	}
	return Hide(base64.StdEncoding.EncodeToString([]byte(c.ClientID + ":" + c.ClientSecret.Reveal())))
}

// parseToken reads the token response (interface: Token response). It ignores token_type: whatever its letter case, the
// interface asks for the word Bearer in the header.
func parseToken(r *response, now time.Time) (*token, *Error) {
	o, err := r.object()
	if err == nil && o.get("access_token") == nil {
		o = o.unwrap("token")
	}
	value, ok := parseString(o.get("access_token"))
	if err != nil || !ok || value == "" || strings.ContainsFunc(value, unfitForHeader) {
		return nil, unreadable(r, "the response holds no access_token; check the base URL")
	}
	return &token{value: Hide(value), renew: now.Add(parseLifetime(o.text("expires_in")) / 5 * 4)}, nil
}

func unfitForHeader(r rune) bool { return r <= ' ' || r == 0x7f }

func parseLifetime(expiresIn string) time.Duration {
	seconds, err := strconv.ParseFloat(expiresIn, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return defaultLifetime
	}
	return max(time.Duration(min(seconds, maxLifetime.Seconds())*float64(time.Second)), minLifetime)
}
