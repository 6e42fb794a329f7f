package client

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"time"
)

// Client calls the service. It is safe for concurrent use; all callers share one token, one rate limit and the
// service's Retry-After. Close it when it is no longer needed.
type Client struct {
	baseURL   *url.URL // with apiPrefix
	userAgent string
	timeout   time.Duration
	observer   func(RequestResult)

	tls    *tls.Config
	proxy  func(*http.Request) (*url.URL, error)
	shared *http.Transport
	limits *limits
	tokens *tokenSource
	close  context.CancelFunc

	complete, reject        transitionMethod
	resend, reset, deletion payload
}

// New makes a Client. It sends nothing. It also filters the standard logger, into which net/http may write parts of answers.
// Errors name the field of Config and say what to do; they hold no value.
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
	RedactStandardLog()
	c := &Client{
		baseURL:   base.JoinPath(apiPrefix),
		userAgent: orDefault(config.UserAgent, "idv-client"),
		timeout:   orDefault(config.RequestTimeout, defaultRequestTimeout),
		observer:   config.Observe,
		tls:       tlsConfig,
		proxy:     proxy,
		shared:    newTransport(tlsConfig, proxy),
		limits:    newLimits(config.RequestsPerSecond, orDefault(config.MaxRateLimitWait, defaultMaxWait)),
		complete:  transitionMethod{configured: config.CompleteMethod, payload: payload{readings: undocumentedPayload}},
		reject:    transitionMethod{configured: config.RejectMethod, payload: payload{readings: undocumentedPayload}},
		resend:    payload{readings: undocumentedPayload},
		reset:     payload{readings: undocumentedPayload},
		deletion:  payload{readings: emptyPayload},
	}
	// A server that never begins to answer must leave time for the other attempts.
	c.shared.ResponseHeaderTimeout = c.timeout / maxAttempts
	lifetime, end := context.WithCancel(context.Background())
	c.close = end
	c.tokens = newTokenSource(c.tokenRequest(lifetime, config.Credentials, config.TokenAuthorization))
	return c, nil
}

// RateLimitDelay returns how long a request that is made now would wait for the rate limit and for the
// service's Retry-After. It reserves nothing.
func (c *Client) RateLimitDelay() time.Duration { return c.limits.delay() }

// Close ends a login under way and drops idle connections. Requests under way go on; those that still need a login fail.
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
