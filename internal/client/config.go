package client

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
)

// TokenAuthorization is the Authorization header of the token request (interface: Authentication). The header is
// documented as required, its format is not documented: our reading.
type TokenAuthorization string

// The readings of the token request's Authorization header.
const (
	TokenAuthorizationAuto      TokenAuthorization = "Auto"      // Basic if client id and secret are both set, else None
	TokenAuthorizationNone      TokenAuthorization = "None"      // no header
	TokenAuthorizationBasic     TokenAuthorization = "Basic"     // client id and secret as HTTP Basic
	TokenAuthorizationUserBasic TokenAuthorization = "UserBasic" // user name and password as HTTP Basic
)

// GrantType is the field grant_type of the token request (interface: Authentication, which names password).
type GrantType string

// The grant types.
const (
	GrantPassword GrantType = "password" // sends the credentials that are set
	// GrantClientCredentials sends client id and secret only. Not documented: our reading.
	GrantClientCredentials GrantType = "client_credentials"
)

// TransitionMethod is the HTTP method of complete and reject: PATCH, POST or PUT. Not documented: our reading.
type TransitionMethod string

// TransitionAuto sends PATCH. If the service refuses that, the next request has a method in Allow, or else POST or PUT.
const TransitionAuto TransitionMethod = "Auto"

// Credentials of the token request (interface: Authentication). The service documents all fields as optional. The
// client needs at least one pair: Username and Password, ClientID and ClientSecret, or both.
type Credentials struct {
	Username     string
	Password     Secret
	ClientID     string
	ClientSecret Secret
}

// Config configures a Client. The zero value of every field but BaseURL and Credentials is a sensible default.
type Config struct {
	// BaseURL is the service's address without /api/v1: https, or http on a loopback host (IsLoopback).
	BaseURL     string
	Credentials Credentials

	TokenAuthorization TokenAuthorization // the token request's Authorization header; "" is Auto
	GrantType          GrantType          // of the token request; "" is GrantPassword
	CABundle           []byte             // the PEM certificates to trust instead of the system's; empty: the system's
	// ProxyURL is the proxy of every request: http, https or socks5, with user and password if it needs them. "" takes
	// the proxy from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
	ProxyURL  Secret
	UserAgent string // of every request; "" is "idv-client"
	// RequestTimeout bounds one operation, retries and login included; 0 is 30 s. The response to a read must begin
	// within a third of it, which leaves time for another attempt. Operations that e-mail people and the download of a
	// report have deadlines of their own.
	RequestTimeout time.Duration
	// RequestsPerSecond is the client's rate limit, with a burst of the same size; 0 is 10, negative is no limit.
	RequestsPerSecond float64
	// MaxRateLimitWait is how long an operation waits for the rate limit and for a Retry-After. One that would wait longer
	// fails at once with NotSent and KindRateLimited. 0 is 15 s.
	MaxRateLimitWait time.Duration
	// Limits, if set, are those of an earlier client with the same BaseURL and Credentials: what that client has used of
	// the rate limit, a Retry-After and the hold-off after refused logins continue. RequestsPerSecond and MaxRateLimitWait
	// apply to both clients from then on.
	Limits *Limits
	// Wrap, if set, wraps the transport of every HTTP request. The body of a response is closed when it was decoded.
	Wrap func(http.RoundTripper) http.RoundTripper
	// DiscardRaw leaves Raw of applications, individuals, reviews and reference data empty, to save memory.
	DiscardRaw bool
	// CompleteMethod and RejectMethod are the HTTP methods of CompleteApplication and RejectApplication; "" is Auto.
	CompleteMethod, RejectMethod TransitionMethod
	// Observe, if set, is called after every HTTP request, logins included, possibly from several goroutines at once.
	Observe func(RequestResult)
	// ObserveOperation, if set, is called at the end of every operation, before it returns, possibly from several
	// goroutines at once. AccessToken is not reported.
	ObserveOperation func(OperationResult)
	// Inspect, if set, is called with every response that was read, logins included: a token or personal data. It is for
	// finding out what a service is like.
	Inspect func(Exchange)
	// MayRetry, if set, is asked before a request is sent again after a fault. false: the operation fails at once.
	MayRetry func() bool
}

// RequestResult describes one HTTP request for logs and metrics. It holds no secrets and no personal data.
type RequestResult struct {
	Operation Operation
	Method    string
	Status    int           // 0: no response
	Err       error         // nil, or an *Error
	Duration  time.Duration // until the response was read
}

// Exchange is a response as it came.
type Exchange struct {
	Operation Operation
	Status    int
	Header    http.Header
	Body      Sensitive[[]byte]
}

// OperationResult describes one operation, with its retries, for a circuit breaker.
type OperationResult struct {
	Operation Operation
	Started   time.Time
	// Slowest is how long the longest HTTP request of the operation took until its response was read, apart from logins.
	// It contains no wait for the rate limit.
	Slowest     time.Duration
	UntrustedID bool   // the id was that of WithUntrustedID
	Caller      string // that of WithCaller
	Err         error  // nil, or an *Error
}

func (c Config) withDefaults() Config {
	c.UserAgent = cmp.Or(c.UserAgent, "idv-client")
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.RequestsPerSecond = cmp.Or(c.RequestsPerSecond, 10)
	c.MaxRateLimitWait = cmp.Or(c.MaxRateLimitWait, 15*time.Second)
	c.TokenAuthorization = cmp.Or(c.TokenAuthorization, TokenAuthorizationAuto)
	c.GrantType = cmp.Or(c.GrantType, GrantPassword)
	c.CompleteMethod = cmp.Or(c.CompleteMethod, TransitionAuto)
	c.RejectMethod = cmp.Or(c.RejectMethod, TransitionAuto)
	return c
}

func (c *Config) validate() error {
	methods := []TransitionMethod{TransitionAuto, http.MethodPatch, http.MethodPost, http.MethodPut}
	user, id := c.Credentials.Username != "", c.Credentials.ClientID != ""
	return cmp.Or(
		ValidateBaseURL(c.BaseURL),
		oneOf("token authorization", c.TokenAuthorization, TokenAuthorizationAuto, TokenAuthorizationNone,
			TokenAuthorizationBasic, TokenAuthorizationUserBasic),
		oneOf("grant type", c.GrantType, GrantPassword, GrantClientCredentials),
		oneOf("complete method", c.CompleteMethod, methods...),
		oneOf("reject method", c.RejectMethod, methods...),
		unless(c.RequestTimeout >= 0, "request timeout: must not be negative"),
		unless(c.MaxRateLimitWait >= 0, "maximum wait: must not be negative"),
		unless(!math.IsNaN(c.RequestsPerSecond) && !math.IsInf(c.RequestsPerSecond, 0),
			"requests per second: must be a number; negative for no limit"),
		unless(user == (c.Credentials.Password.Reveal() != ""),
			"credentials: username and password go together; set the missing one"),
		unless(id == (c.Credentials.ClientSecret.Reveal() != ""),
			"credentials: client_id and client_secret go together; set the missing one"),
		unless(user || id,
			"credentials: missing; set username and password, client_id and client_secret, or both pairs"),
		unless(id || c.TokenAuthorization != TokenAuthorizationBasic,
			"credentials: token authorization Basic needs client_id and client_secret; set both"),
		unless(user || c.TokenAuthorization != TokenAuthorizationUserBasic,
			"credentials: token authorization UserBasic needs username and password; set both"),
		unless(id || c.GrantType != GrantClientCredentials,
			"credentials: grant type client_credentials needs client_id and client_secret; set both"),
	)
}

func unless(valid bool, problem string) error {
	if valid {
		return nil
	}
	return errors.New(problem)
}

func oneOf[T ~string](field string, value T, allowed ...T) error {
	return unless(slices.Contains(allowed, value), fmt.Sprintf("%s: must be one of %q", field, allowed))
}
