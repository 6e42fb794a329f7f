// Package client is the one client of the identity verification service, shared by the provider and the operator. It
// has one method for each documented operation. Every failure is an *Error that says what is known about its effect.
// The service e-mails real people, so the client never sends such a request twice. Where the interface is silent, one
// reading is the default and the others are settings or found out. docs/client.md lists them.
//
// Comments name the section of the interface that something follows. "Not documented: our reading" marks the rest.
package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Client sends requests to the service. It is safe for concurrent use. All callers share one token, one rate limit and
// the service's Retry-After. Close it when it is no longer needed.
type Client struct {
	config  Config
	baseURL string // with apiPrefix
	limits  *Limits
	tokens  *tokenSource
	close   context.CancelFunc

	chain  http.RoundTripper
	bottom *exchange // of the chain

	forms map[Operation]*forms // of operations whose request is not documented
}

// New makes a Client. It sends nothing, and changes nothing in the process. net/http prints unexpected bytes of a
// server to the standard logger; RedactStandardLog keeps personal data out of that.
// Errors name the field of Config and what to do. They hold no value.
func New(config Config) (*Client, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	service, _ := url.Parse(config.BaseURL) // validate has parsed it
	shared, err := config.transport()
	if err != nil {
		return nil, err
	}
	lifetime, cancel := context.WithCancel(context.Background())
	c := &Client{config: config, limits: config.limits(), close: cancel, forms: config.forms()}
	c.baseURL = service.JoinPath(apiPrefix).String()
	c.tokens = &tokenSource{
		requestToken: func() (*token, *Error) { return c.requestToken(lifetime) },
		holdOff:      c.limits.loginHoldOff(string(config.GrantType) + " " + string(config.TokenAuthorization)),
	}
	c.bottom = &exchange{c, shared, dedicated(shared, service), service}
	c.chain = &retrier{c, &limiter{c, &authenticator{c, c.bottom}}}
	return c, nil
}

// RateLimitDelay returns how long a request that is made now would wait for the rate limit and for the service's
// Retry-After; 0 or less is no wait. It reserves nothing.
func (c *Client) RateLimitDelay() time.Duration {
	delay, _ := c.limits.reserve(func(time.Duration) bool { return false })
	return delay
}

// Close cancels a login in progress and closes idle connections. Other requests continue, unless they need a login.
func (c *Client) Close() {
	c.close()
	c.bottom.shared.CloseIdleConnections()
}
