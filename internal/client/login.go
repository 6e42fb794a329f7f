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

const (
	// unknownLifetime is taken for a token that does not say how long it lives.
	unknownLifetime = time.Hour
	// minLifetime keeps an expires_in of almost nothing from causing a login per call.
	minLifetime = time.Second
	// maxLifetime caps expires_in. Its unit is not documented: a day in seconds is more than a month in milliseconds,
	// and a token that dies early only costs one login more.
	maxLifetime = 24 * time.Hour
)

// tokenRequest makes the function that gets a token (interface: Get access token). It is one request; whoever waits may retry.
// It has no part in the rate limit, because those who wait for it have had their turn.
func (c *Client) tokenRequest(lifetime context.Context, credentials Credentials, auth TokenAuthorization) func() (*token, *Error) {
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
	if auth != TokenAuthorizationNone && credentials.ClientID != "" {
		pair := credentials.ClientID + ":" + credentials.ClientSecret.Reveal()
		header = Hide("Basic " + base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return func() (*token, *Error) {
		ctx, cancel := context.WithTimeoutCause(lifetime, operations[OpToken].deadline, errDeadline)
		defer cancel()
		if wait := c.limits.holdOffRemaining(); wait > 0 {
			return nil, rateLimited(OpToken, wait)
		}
		answer, e := c.roundTrip(ctx, httpRequest{op: OpToken, method: http.MethodPost, url: c.url(call{op: OpToken}),
			contentType: "application/x-www-form-urlencoded", authorization: header.Reveal(), body: body.Reveal()})
		if e != nil {
			return nil, e
		}
		return parseToken(answer, time.Now())
	}
}

// parseToken reads the token response. token_type is not looked at: whatever its letter case, the interface asks for
// the word Bearer in the header.
func parseToken(a *answer, now time.Time) (*token, *Error) {
	o, err := parseObject(a.body)
	if err == nil && o.get("access_token") == nil {
		o = o.unwrap("token")
	}
	value, ok := parseString(o.get("access_token"))
	if err != nil || !ok || value == "" || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, unreadable(a, "the answer holds no access_token; check the base URL")
	}
	return &token{value: Hide(value), renew: now.Add(lifetime(o.text("expires_in")) / 5 * 4)}, nil
}

func lifetime(expiresIn string) time.Duration {
	seconds, err := strconv.ParseFloat(expiresIn, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return unknownLifetime
	}
	return max(time.Duration(min(seconds, maxLifetime.Seconds())*float64(time.Second)), minLifetime)
}
