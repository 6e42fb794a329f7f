// Package client is the one client of the identity verification service, shared by the provider and the operator. It
// has one method for each documented operation. Every failure is an *Error that says what is known about its effect.
// The service e-mails real people, so the client never sends such a request twice. Where the interface is silent, one
// reading is the default and the others are settings or found out. docs/client.md lists them.
//
// Comments name the section of the interface that a type or method follows. "Not documented: our reading" marks what
// the interface leaves open.
package client

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"time"
)

// Client sends requests to the service. It is safe for concurrent use. All callers share one token, one rate limit and
// the service's Retry-After. Close it when it is no longer needed.
type Client struct {
	baseURL   *url.URL // with apiPrefix
	userAgent string
	timeout   time.Duration
	observer  func(RequestResult)

	operationObserver func(OperationResult) // may be nil
	retryAllowed      func() bool
	discardRaw        bool

	tls    *tls.Config
	proxy  func(*http.Request) (*url.URL, error)
	shared *http.Transport
	limits *Limits
	budget *budgetShare // nil: no limit
	tokens *tokenSource
	// credentials are for ContainsCredentials and HideUser.
	credentials Credentials
	close       context.CancelFunc

	complete, reject        transitionMethod
	resend, reset, deletion payload
}

// New makes a Client. It sends nothing, and changes nothing in the process. net/http prints unexpected bytes of a
// server to the standard logger; RedactStandardLog keeps personal data out of that.
// Errors name the field of Config and what to do. They hold no value.
func New(config Config) (*Client, error) {
	base, err := parseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	tlsConfig, err := tlsConfig(config.CABundle)
	if err != nil {
		return nil, err
	}
	proxy, err := config.proxy()
	if err != nil {
		return nil, err
	}
	lifetime, cancel := context.WithCancel(context.Background())
	c := &Client{
		baseURL:   base.JoinPath(apiPrefix),
		userAgent: orDefault(config.UserAgent, "idv-client"),
		timeout:   orDefault(config.RequestTimeout, defaultRequestTimeout),
		observer:  config.Observe,

		operationObserver: config.ObserveOperation,
		retryAllowed:      config.MayRetry,
		discardRaw:        config.DiscardRaw,

		tls:         tlsConfig,
		proxy:       proxy,
		shared:      newTransport(tlsConfig, proxy),
		limits:      config.limits(),
		budget:      config.Budget.newShare(),
		close:       cancel,
		credentials: config.Credentials,
		complete:    transitionMethod{configured: config.CompleteMethod, payload: payload{readings: undocumentedPayload}},
		reject:      transitionMethod{configured: config.RejectMethod, payload: payload{readings: undocumentedPayload}},
		resend:      payload{readings: undocumentedPayload},
		reset:       payload{readings: undocumentedPayload},
		deletion:    payload{readings: emptyPayload},
	}
	if c.retryAllowed == nil {
		c.retryAllowed = func() bool { return true }
	}
	// A server that does not respond must leave time for the other attempts.
	c.shared.ResponseHeaderTimeout = c.timeout / maxAttempts
	c.tokens = newTokenSource(
		c.tokenRequest(lifetime, config.Credentials, config.TokenAuthorization),
		c.limits.loginHoldOff(config.TokenAuthorization),
	)
	return c, nil
}

// RateLimitDelay returns how long a request that is made now would wait for the rate limit and for the service's
// Retry-After; 0 or less is no wait. It reserves nothing.
func (c *Client) RateLimitDelay() time.Duration { return c.limits.delay() }

// Close cancels a login in progress and closes idle connections. Requests in progress continue; those that still need a
// login fail.
func (c *Client) Close() {
	c.close()
	c.shared.CloseIdleConnections()
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
