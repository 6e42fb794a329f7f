package client

import (
	"context"
	"encoding/base64"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// token is a bearer token and when to replace it.
type token struct {
	value Secret
	renew time.Time
	// accepted is when the service last answered a request with this token otherwise than by refusing the token; nil:
	// never. If the service refuses a token that it has accepted, the token has expired or was revoked.
	accepted atomic.Pointer[time.Time]
	expired  atomic.Bool // a request that got 401 with it did not with another one
}

func (t *token) accept() { t.accepted.Store(new(time.Now())) }

// doubt has the client find out whether the service still accepts the token.
func (t *token) doubt() {
	if t.accepted.Load() != nil {
		t.accepted.Store(new(time.Time))
	}
}

func (t *token) acceptedWithin(d time.Duration) bool {
	last := t.accepted.Load()
	return last != nil && time.Since(*last) < d
}

// tokenSource shares one token among all callers.
//
// A login may revoke earlier tokens, and repeated wrong passwords may lock the user (not documented: our reading). So
// there is at most one login at a time, and none for a while after the service refused one.
type tokenSource struct {
	requestToken func() (*token, *Error)
	holdOff      *loginHoldOff
	logins       singleflight.Group

	mu              sync.Mutex
	current, former *token // former is the one before
}

// get returns a token other than rejected, which is the one that the service just refused, or nil. Callers share a
// login: one whose context ends leaves it running for the others.
func (s *tokenSource) get(ctx context.Context, rejected *token) (*token, *Error) {
	if current, err := s.lookup(rejected); current != nil || err != nil {
		return current, err
	}
	login := s.logins.DoChan("", func() (any, error) { return s.login(rejected) })
	select {
	case result := <-login:
		if result.Err != nil {
			return nil, new(*failureOf(result.Err)) // each caller changes its own
		}
		current, _ := result.Val.(*token)
		return current, nil
	case <-ctx.Done():
		return nil, contextEnded(ctx, OpToken, NotSent, "while it waited for a login")
	}
}

// lookup returns a token, or why there may be none now, or neither: then a login has to be made.
func (s *tokenSource) lookup(rejected *token) (*token, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current != rejected && time.Now().Before(s.current.renew) {
		return s.current, nil
	}
	return nil, s.holdOff.refusal()
}

// login gets a token, unless another login has begun and ended since the caller looked.
func (s *tokenSource) login(rejected *token) (*token, error) {
	current, err := s.lookup(rejected)
	if current == nil && err == nil {
		current, err = s.requestToken()
		err = s.holdOff.learn(err)
	}
	if err != nil { // a nil *Error is an error that is not nil
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current != s.current {
		s.former, s.current = s.current, current
	}
	return current, nil
}

const (
	firstHoldOff = 30 * time.Second
	maxHoldOff   = 15 * time.Minute
)

// loginHoldOff keeps a user from logins after one that was refused. It outlives the client.
type loginHoldOff struct {
	mu      sync.Mutex
	cause   *Error        // the last refusal, without what the service says about it
	until   time.Time     // no login before it
	length  time.Duration // of the last one, 0 after a login that succeeded
	renewal time.Time     // before it, no login because of a token that was never accepted
}

// refusal is the error of a login that may not be sent now, or nil.
func (h *loginHoldOff) refusal() *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := time.Until(h.until)
	if wait <= 0 {
		return nil
	}
	refusal := *h.cause
	refusal.RetryAfter = wait
	return &refusal
}

// learn takes over what came of a login. If the service may have refused the password, a hold-off begins.
func (h *loginHoldOff) learn(err *Error) *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.length = 0
		return nil
	}
	if !slices.Contains([]Kind{KindCredentials, KindForbidden, KindInvalid}, err.Kind) {
		return err
	}
	h.length = min(max(2*h.length, firstHoldOff), maxHoldOff)
	h.until = time.Now().Add(h.length)
	refused, cause := *err, *err
	refused.RetryAfter = h.length
	cause.Problem = nil // a hold-off is kept for long, and for many
	h.cause = &cause
	return &refused
}

// mayRenew reports whether a login may help after the service refused t. afterLogin: t came from such a login. If the
// service never accepted it, the credentials can log in but not use the API, and more logins would only add load.
func (h *loginHoldOff) mayRenew(t *token, afterLogin bool) bool {
	if t.accepted.Load() != nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if afterLogin {
		h.renewal = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(h.renewal)
}

// AccessToken is a bearer token for requests that are made outside of this client.
type AccessToken struct {
	Value   Secret
	RenewAt time.Time // when this client gets a new one: after 80 % of the lifetime that the service gave
}

// AccessToken returns the client's token, and logs in if there is none (interface: Get access token).
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
