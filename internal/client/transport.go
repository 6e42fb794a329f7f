package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/idna"
)

// dedicated makes the transport of connections that are for one request each.
func dedicated(shared *http.Transport, service *url.URL) *http.Transport {
	transport := shared.Clone()
	transport.ResponseHeaderTimeout = 0 // a response has the whole time of the request
	transport.DisableKeepAlives = true
	// net/http asks about an address without its port, which NO_PROXY may name.
	transport.Proxy = func(*http.Request) (*url.URL, error) { return shared.Proxy(&http.Request{URL: service}) }
	return transport
}

// connect makes a connection for one request. Unlike a Transport, it sends nothing a second time.
func (t *exchange) connect(ctx context.Context, op Operation) (*http.ClientConn, *Error) {
	host := t.service.Hostname()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	conn, err := t.dedicated.NewClientConn(ctx, t.service.Scheme, net.JoinHostPort(host, t.service.Port()))
	if err != nil {
		return nil, transportError(ctx, op, err, NotSent)
	}
	return conn, nil
}

// transport makes the transport of everything that may be repeated. It is used without an http.Client, which would
// follow redirects: they would take the token, and on 307 and 308 the body, to another place.
func (c *Config) transport() (*http.Transport, error) {
	// The cache shortens the handshakes of dedicated connections.
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	if len(c.CABundle) > 0 {
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(c.CABundle) {
			return nil, errors.New("CA bundle: holds no PEM certificate; set certificates in PEM format")
		}
	}
	proxy := http.ProxyFromEnvironment
	if text := c.ProxyURL.Reveal(); text != "" {
		if err := ValidateProxyURL(text); err != nil {
			return nil, err
		}
		proxyURL, _ := url.Parse(text)
		proxy = http.ProxyURL(proxyURL)
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 5 * time.Second,
		// A server that does not respond must leave time for the other attempts.
		ResponseHeaderTimeout:  c.RequestTimeout / maxAttempts,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		HTTP2: &http.HTTP2Config{
			// Without pings, a dead connection would get every request until the kernel closes it.
			SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second,
			// net/http itself takes four megabytes of each response before anybody reads them.
			MaxReceiveBufferPerStream: 128 << 10,
		},
	}, nil
}
