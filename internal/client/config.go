package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// TokenAuthorization is the Authorization header of the token request (interface: Authentication). The header is
// documented as required, its format is not documented: our reading.
type TokenAuthorization string

// The readings of the token request's Authorization header.
const (
	TokenAuthorizationAuto  TokenAuthorization = "Auto"  // Basic if client id and secret are both set, else None
	TokenAuthorizationNone  TokenAuthorization = "None"  // no header
	TokenAuthorizationBasic TokenAuthorization = "Basic" // client id and secret as HTTP Basic
)

// TransitionMethod is the HTTP method of complete and reject. Not documented: our reading.
type TransitionMethod string

// The readings of the methods of complete and reject.
const (
	// TransitionAuto sends PATCH. On 405 it tries the methods in Allow, or else POST and PUT. It remembers what worked.
	TransitionAuto  TransitionMethod = "Auto"
	TransitionPATCH TransitionMethod = http.MethodPatch
	TransitionPOST  TransitionMethod = http.MethodPost
	TransitionPUT   TransitionMethod = http.MethodPut
)

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
	// TokenAuthorization is the token request's Authorization header; "" is Auto.
	TokenAuthorization TokenAuthorization
	// CABundle holds the PEM certificates to trust instead of the system's; empty: the system's.
	CABundle []byte
	// ProxyURL is the proxy of every request: http, https or socks5, with user and password if it needs them. "" takes
	// the proxy from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
	ProxyURL Secret
	// UserAgent of every request; "" is "idv-client".
	UserAgent string
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
	// Budget, if set, bounds what the clients that share it use for large responses. nil is no limit.
	Budget *Budget
	// DiscardRaw leaves Raw of applications, individuals, reviews and reference data empty, so that no response stays in
	// memory for its sake.
	DiscardRaw bool
	// CompleteMethod and RejectMethod are the HTTP methods of CompleteApplication and RejectApplication; "" is Auto.
	CompleteMethod, RejectMethod TransitionMethod
	// Observe, if set, is called after every HTTP request, logins included, possibly from several goroutines at once.
	Observe func(RequestResult)
	// ObserveOperation, if set, is called at the end of every operation, before it returns, possibly from several
	// goroutines at once. AccessToken is not reported.
	ObserveOperation func(OperationResult)
	// MayRetry, if set, is asked before an operation sends its request again after a fault. If it reports false, the
	// operation fails at once.
	MayRetry func() bool
}

// RequestResult describes one HTTP request for logs and metrics. It holds no secrets and no personal data.
type RequestResult struct {
	Operation Operation
	Method    string
	Status    int     // 0: no response
	Outcome   Outcome // meaningful only if Failed
	Kind      Kind    // "" unless Failed
	Failed    bool
	Duration  time.Duration // until the response was read
}

// OperationResult describes one operation, with its retries, for a circuit breaker.
type OperationResult struct {
	Operation Operation
	Started   time.Time
	// Slowest is how long the longest HTTP request of the operation took until its response was read, apart from logins.
	// It contains no wait for the rate limit.
	Slowest time.Duration
	// UntrustedID: the id was that of WithUntrustedID.
	UntrustedID bool
	Err         error // nil, or an *Error
}

const (
	defaultRequestTimeout = 30 * time.Second
	defaultMaxWait        = 15 * time.Second
	defaultRate           = 10
	apiPrefix             = "/api/v1"
)

// ValidateBaseURL checks a URL by the rule of Config.BaseURL. The error does not repeat the URL, which may hold a
// password.
func ValidateBaseURL(baseURL string) error {
	_, err := parseBaseURL(baseURL)
	return err
}

func parseBaseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return nil, errors.New("base URL: missing; set it to the service's address, such as https://idv.example.com")
	case err != nil || u.Host == "" || u.Hostname() == "":
		return nil, errors.New("base URL: not a URL with a host; set it to an address such as https://idv.example.com")
	case u.User != nil:
		return nil, errors.New("base URL: must not hold a user name or password; set the credentials instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("base URL: must have no query and no fragment; remove them")
	case u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())):
		return nil, errors.New("base URL: must begin with https://, or with http:// on a loopback host such as 127.0.0.1")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	if strings.HasSuffix(u.Path, apiPrefix) {
		return nil, fmt.Errorf("base URL: must not end in %s; remove it, the client adds it", apiPrefix)
	}
	return u, nil
}

// ValidateProxyURL checks a URL by the rule of Config.ProxyURL. The error does not repeat the URL, which may hold a
// password. An empty URL is invalid.
func ValidateProxyURL(proxyURL string) error {
	_, err := parseProxyURL(proxyURL)
	return err
}

func parseProxyURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return nil, errors.New("proxy URL: must be an http, https or socks5 URL with a host, " +
			"such as http://proxy.example.com:3128")
	}
	return u, nil
}

// proxy is for http.Transport.
func (c Config) proxy() (func(*http.Request) (*url.URL, error), error) {
	raw := c.ProxyURL.Reveal()
	if raw == "" {
		return http.ProxyFromEnvironment, nil
	}
	u, err := parseProxyURL(raw)
	if err != nil {
		return nil, err
	}
	return http.ProxyURL(u), nil
}

// IsLoopback reports whether a host name or an IP address without a port means this machine: localhost in any letter
// case, 127.0.0.0/8 and ::1. Only such a host may be reached over http.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (c Credentials) validate(auth TokenAuthorization) error {
	user, password := c.Username != "", c.Password.Reveal() != ""
	id, secret := c.ClientID != "", c.ClientSecret.Reveal() != ""
	switch {
	case user != password:
		return errors.New("credentials: username and password go together; set the missing one")
	case id != secret:
		return errors.New("credentials: client_id and client_secret go together; set the missing one")
	case !user && !id:
		return errors.New("credentials: missing; set username and password, client_id and client_secret, or both pairs")
	case auth == TokenAuthorizationBasic && !id:
		return errors.New("credentials: token authorization Basic needs client_id and client_secret; set both")
	}
	return nil
}

func (c Config) validate() error {
	switch c.TokenAuthorization {
	case "", TokenAuthorizationAuto, TokenAuthorizationNone, TokenAuthorizationBasic:
	default:
		return errors.New("token authorization: must be Auto, None or Basic")
	}
	methods := map[string]TransitionMethod{"complete method": c.CompleteMethod, "reject method": c.RejectMethod}
	for field, method := range methods {
		switch method {
		case "", TransitionAuto, TransitionPATCH, TransitionPOST, TransitionPUT:
		default:
			return errors.New(field + ": must be Auto, PATCH, POST or PUT")
		}
	}
	switch {
	case c.RequestTimeout < 0:
		return errors.New("request timeout: must not be negative")
	case c.MaxRateLimitWait < 0:
		return errors.New("maximum wait: must not be negative")
	case math.IsNaN(c.RequestsPerSecond) || math.IsInf(c.RequestsPerSecond, 0):
		return errors.New("requests per second: must be a number; negative for no limit")
	}
	return c.Credentials.validate(c.TokenAuthorization)
}

func tlsConfig(bundle []byte) (*tls.Config, error) {
	// The cache shortens the handshakes of dedicated connections.
	config := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	if len(bundle) == 0 {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(bundle) {
		return nil, errors.New("CA bundle: holds no PEM certificate; set certificates in PEM format")
	}
	return config, nil
}
